"""Outlines from syntax trees, one module a family of languages, and from sources without one."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "documents": ("DOCUMENT_PARSERS",),
        "indentation": ("outline_by_indentation",),
        "python_parser": ("outline_python",),
        "table_parser": ("parser_of",),
        "ts_parser": ("outline_typescript",),
    },
)
