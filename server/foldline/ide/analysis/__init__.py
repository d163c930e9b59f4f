"""What can be known of prompts from their source text alone: nothing is imported or executed."""

from foldline.ide.analysis.model import (
    PromptModule,
    SourceSpan,
    Span,
    StaticPrompt,
    StaticSection,
    Visibility,
)
from foldline.ide.analysis.modules import parse_module

__all__ = [
    "PromptModule",
    "SourceSpan",
    "Span",
    "StaticPrompt",
    "StaticSection",
    "Visibility",
    "parse_module",
]
