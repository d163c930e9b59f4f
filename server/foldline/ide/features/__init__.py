"""Answers to editors' queries about prompts: one module for each, loaded with its first query."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "completion": ("CompletionKind",),
        "field_references": (
            "Role",
            "highlights",
            "key_to_rename",
            "references",
            "rename",
            "rename_key",
            "target_at",
        ),
        "hover": ("title",),
        "keys": ("definitions",),
        "prompt_symbols": ("symbols",),
        "structure": ("TokenKind", "links", "selection", "semantic_tokens"),
    },
)
