from foldline.prompts.cache.cache_plan import CachePlan, CacheRules
from foldline.prompts.cache.prices import CachePrices
from foldline.prompts.cache.stability import PerRequest, PerSession, Stability, Stable
from foldline.prompts.context import ContextPolicy, Priority
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.deadline import Deadline
from foldline.prompts.descriptor import (
    ChapterDescriptor,
    PromptDescriptor,
    SectionDescriptor,
    ToolDescriptor,
)
from foldline.prompts.disclosure.disclosure import (
    OpenSectionsParams,
    ReadSectionParams,
    build_expansion_instructions,
)
from foldline.prompts.disclosure.retry import (
    ExpansionBudget,
    apply_expansion,
    evaluate_with_expansions,
    rebind_tasks,
)
from foldline.prompts.errors import (
    EvaluationFailure,
    EvaluationTimeoutError,
    ExpansionLimitError,
    OutputParseError,
    OverrideConflictError,
    PromptConfigurationError,
    PromptError,
    PromptEvaluationError,
    PromptRenderError,
    PromptValidationError,
    StoreUnavailableError,
    ToolValidationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.expansion import ChapterDecision, ChaptersExpansionPolicy
from foldline.prompts.files import from_file, verbatim
from foldline.prompts.forms.forms import (
    ForeignSyntaxWarning,
    Form,
    ReprPlaceholderWarning,
    Untrusted,
    as_json,
    bullets,
    fenced,
    joined,
    limit,
    numbered,
    or_else,
    xml,
)
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.forms.tags import fallback_tags
from foldline.prompts.layout.blocks import Block, PromptMessage, Span
from foldline.prompts.layout.fitting import Fit, Fitted
from foldline.prompts.layout.layout import (
    Heading,
    HeadingFormatter,
    dotted_heading,
    undotted_heading,
)
from foldline.prompts.output.parsing import ParsedOutput, parse_output, parse_structured_output
from foldline.prompts.output.partial import PartialOutput, parse_partial_output
from foldline.prompts.output.structured_output import StructuredOutputConfig
from foldline.prompts.overrides.overrides import (
    OverrideIssue,
    OverrideSource,
    OverrideStore,
    PromptOverride,
    SectionOverride,
    ToolOverride,
    apply_overrides,
    load_overrides,
    seed_override,
)
from foldline.prompts.overrides.overrides_store import OverridesStore
from foldline.prompts.prompt import Prompt
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.roles import Role
from foldline.prompts.sections.chapter import Chapter
from foldline.prompts.sections.each import EachSection
from foldline.prompts.sections.examples import Example, ExamplesSection
from foldline.prompts.sections.intent import (
    ChapterVerdict,
    IntentClassifier,
    IntentQuery,
    term_overlap,
)
from foldline.prompts.sections.markdown import MarkdownSection
from foldline.prompts.sections.section import Section
from foldline.prompts.sections.task import Task, TaskSection
from foldline.prompts.template import PromptTemplate
from foldline.prompts.tool import Tool, ToolContext, ToolExample, ToolResult, ToolTelemetry
from foldline.prompts.visibility import SectionPath, SectionVisibility
from foldline.prompts.wording import ENGLISH, Wording

__all__ = [
    "ENGLISH",
    "Block",
    "CachePlan",
    "CachePrices",
    "CacheRules",
    "Chapter",
    "ChapterDecision",
    "ChapterDescriptor",
    "ChapterVerdict",
    "ChaptersExpansionPolicy",
    "ContextPolicy",
    "Deadline",
    "EachSection",
    "EvaluationFailure",
    "EvaluationTimeoutError",
    "Example",
    "ExamplesSection",
    "ExpansionBudget",
    "ExpansionLimitError",
    "Fit",
    "Fitted",
    "ForeignSyntaxWarning",
    "Form",
    "FrozenDataclass",
    "Heading",
    "HeadingFormatter",
    "IntentClassifier",
    "IntentQuery",
    "MarkdownSection",
    "OpenSectionsParams",
    "OutputParseError",
    "OverrideConflictError",
    "OverrideIssue",
    "OverrideSource",
    "OverrideStore",
    "OverridesStore",
    "ParsedOutput",
    "PartialOutput",
    "PerRequest",
    "PerSession",
    "Priority",
    "Prompt",
    "PromptConfigurationError",
    "PromptDescriptor",
    "PromptError",
    "PromptEvaluationError",
    "PromptMessage",
    "PromptOverride",
    "PromptRenderError",
    "PromptTemplate",
    "PromptValidationError",
    "ReadSectionParams",
    "RenderedPrompt",
    "ReprPlaceholderWarning",
    "Role",
    "Section",
    "SectionDescriptor",
    "SectionOverride",
    "SectionPath",
    "SectionVisibility",
    "Segment",
    "SegmentKind",
    "Span",
    "Stability",
    "Stable",
    "StoreUnavailableError",
    "StructuredOutputConfig",
    "Task",
    "TaskSection",
    "Tool",
    "ToolContext",
    "ToolDescriptor",
    "ToolExample",
    "ToolOverride",
    "ToolResult",
    "ToolTelemetry",
    "ToolValidationError",
    "Untrusted",
    "VisibilityExpansionRequired",
    "Wording",
    "apply_expansion",
    "apply_overrides",
    "as_json",
    "build_expansion_instructions",
    "bullets",
    "dotted_heading",
    "evaluate_with_expansions",
    "fallback_tags",
    "fenced",
    "from_file",
    "joined",
    "limit",
    "load_overrides",
    "numbered",
    "or_else",
    "parse_output",
    "parse_partial_output",
    "parse_structured_output",
    "rebind_tasks",
    "seed_override",
    "term_overlap",
    "undotted_heading",
    "verbatim",
    "xml",
]
__version__: str
