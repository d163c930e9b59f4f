"""The core behind every shell; it knows neither LSP nor MCP nor the command line.

A `Workspace` holds folders, open documents and their prompts. `perform` does something to a prompt:

```python
workspace = Workspace.at("app", settings=Settings(trusted=True))
prompt = PromptRef(file=Path("app/triage.py"))
opened = await perform(workspace, prompt, Open(section_keys=("policies",), reason="to check them"))
print(opened.render.text)
```
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "checks.run": ("diagnostics",),
        "features.completion": ("completions",),
        "features.hover": ("hover",),
        "features.field_references": ("rename",),
        "prompts.actions": (
            "Body",
            "CallTool",
            "Change",
            "ChooseSet",
            "Close",
            "CloseChapter",
            "CompareSets",
            "Diff",
            "End",
            "History",
            "Names",
            "Open",
            "OpenChapter",
            "Query",
            "Read",
            "RenderPrompt",
            "Reset",
            "SetBudget",
            "SetValues",
            "Start",
            "Summary",
            "Text",
            "Tokens",
            "Undo",
        ),
        "prompts.perform": ("perform",),
        "prompts.request": ("PromptRef", "View"),
        "settings": ("Settings",),
        "workspace": ("AccessOptions", "Workspace"),
    },
)
