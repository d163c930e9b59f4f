"""Typed prompts: sections with parameters, summaries that unfold, tools, structured output."""

from foldline.prompts.blocks import Block, Segment, SegmentKind, Span
from foldline.prompts.chapter import Chapter
from foldline.prompts.deadline import Deadline
from foldline.prompts.disclosure import (
    OpenSectionsParams,
    ReadSectionParams,
    build_expansion_instructions,
)
from foldline.prompts.headings import Heading, HeadingFormatter, dotted_heading, undotted_heading
from foldline.prompts.markdown import MarkdownSection
from foldline.prompts.prompt import Prompt
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.section import Section
from foldline.prompts.structured_output import StructuredOutputConfig
from foldline.prompts.task import Task, TaskSection
from foldline.prompts.template import PromptTemplate
from foldline.prompts.tool import Tool, ToolContext, ToolExample, ToolResult, ToolTelemetry
from foldline.prompts.visibility import SectionPath, SectionVisibility

__all__ = [
    "Block",
    "Chapter",
    "Deadline",
    "Heading",
    "HeadingFormatter",
    "MarkdownSection",
    "OpenSectionsParams",
    "Prompt",
    "PromptTemplate",
    "ReadSectionParams",
    "RenderedPrompt",
    "Section",
    "SectionPath",
    "SectionVisibility",
    "Segment",
    "SegmentKind",
    "Span",
    "StructuredOutputConfig",
    "Task",
    "TaskSection",
    "Tool",
    "ToolContext",
    "ToolExample",
    "ToolResult",
    "ToolTelemetry",
    "build_expansion_instructions",
    "dotted_heading",
    "undotted_heading",
]
