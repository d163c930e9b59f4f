from foldline.ide.checks.run import diagnostics
from foldline.ide.features.completion import completions
from foldline.ide.features.field_references import rename
from foldline.ide.features.hover import hover
from foldline.ide.prompts.actions import (
    Body,
    CallTool,
    Change,
    ChooseSet,
    Close,
    CloseChapter,
    CompareSets,
    Diff,
    End,
    History,
    Names,
    Open,
    OpenChapter,
    Query,
    Read,
    RenderPrompt,
    Reset,
    SetBudget,
    SetValues,
    Start,
    Summary,
    Text,
    Tokens,
    Undo,
)
from foldline.ide.prompts.perform import perform
from foldline.ide.prompts.request import PromptRef, View
from foldline.ide.settings import Settings
from foldline.ide.workspace import AccessOptions, Workspace

__all__ = [
    "AccessOptions",
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
    "PromptRef",
    "Query",
    "Read",
    "RenderPrompt",
    "Reset",
    "SetBudget",
    "SetValues",
    "Settings",
    "Start",
    "Summary",
    "Text",
    "Tokens",
    "Undo",
    "View",
    "Workspace",
    "completions",
    "diagnostics",
    "hover",
    "perform",
    "rename",
]
__version__: str
