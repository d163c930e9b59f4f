from foldline.ide import config as config
from foldline.ide import folder as folder
from foldline.ide import previews as previews
from foldline.ide import render as render
from foldline.ide import resolve as resolve
from foldline.ide import scoped_context as scoped_context
from foldline.ide import structuring as structuring
from foldline.ide.checks.run import diagnostics
from foldline.ide.features.completion import completions
from foldline.ide.features.field_references import rename
from foldline.ide.features.hover import hover
from foldline.ide.prompts.action import Change, Names, Query
from foldline.ide.prompts.actions import (
    Body,
    CallPromptTool,
    ClosePreview,
    CloseSections,
    CompareSets,
    Diff,
    History,
    OpenSections,
    PreviewPrompt,
    ReadSection,
    RenderPrompt,
    Reset,
    SetParams,
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
    "CallPromptTool",
    "Change",
    "ClosePreview",
    "CloseSections",
    "CompareSets",
    "Diff",
    "History",
    "Names",
    "OpenSections",
    "PreviewPrompt",
    "PromptRef",
    "Query",
    "ReadSection",
    "RenderPrompt",
    "Reset",
    "SetParams",
    "Settings",
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
