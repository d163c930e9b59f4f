"""The core behind every shell; it knows neither LSP nor MCP nor the command line.

A `Workspace` holds folders, open documents and their prompts. `perform` does something to a prompt:

```python
workspace = Workspace.at("app", settings=Settings(trusted=True))
prompt = PromptRef(file=Path("app/triage.py"))
opening = OpenSections(section_keys=("policies",), reason="to check them")
opened = await perform(workspace, prompt, opening)
print(opened.render.text)
```
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "checks.run": ("diagnostics",),
        "config": (),
        "features.completion": ("completions",),
        "features.hover": ("hover",),
        "features.field_references": ("rename",),
        "folder": (),
        "previews": (),
        "prompts.action": ("Change", "Names", "Query"),
        "prompts.actions": (
            "Body",
            "CallPromptTool",
            "ClosePreview",
            "CloseSections",
            "CompareSets",
            "Diff",
            "History",
            "OpenSections",
            "PreviewPrompt",
            "ReadSection",
            "RenderPrompt",
            "Reset",
            "SetParams",
            "Summary",
            "Text",
            "Tokens",
            "Undo",
        ),
        "prompts.perform": ("perform",),
        "prompts.request": ("PromptRef", "View"),
        "render": (),
        "resolve": (),
        "scoped_context": (),
        "settings": ("Settings",),
        "structuring": (),
        "workspace": ("AccessOptions", "Workspace"),
    },
)
