"""The names of the checks, and how severe what they find is."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """Severity of a diagnostic; `OFF` is for the configuration only."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"
    OFF = "off"


class Code(StrEnum):
    """Stable names of the checks; each has a page (`foldline check --explain CODE`)."""

    SYNTAX_ERROR = "syntax-error"
    UNKNOWN_PLACEHOLDER = "unknown-placeholder"
    STRAY_DOLLAR = "stray-dollar"
    FOREIGN_TEMPLATE_SYNTAX = "foreign-template-syntax"
    MISSING_SUMMARY = "missing-summary"
    LONG_SUMMARY = "long-summary"
    FOLDING_COSTS_MORE = "folding-costs-more"
    UNCLEAR_SUMMARY = "unclear-summary"
    INVALID_KEY = "invalid-key"
    INVALID_TITLE = "invalid-title"
    DUPLICATE_KEY = "duplicate-key"
    DUPLICATE_PROMPT = "duplicate-prompt"
    UNSPECIALISED_SECTION = "unspecialised-section"
    UNSPECIALISED_TOOL = "unspecialised-tool"
    PARAMS_NOT_DATACLASS = "params-not-dataclass"
    TASK_PARAMS = "task-params"
    ITEMS_FIELD = "items-field"
    UNKNOWN_KEYWORD = "unknown-keyword"
    MISSING_ARGUMENT = "missing-argument"
    INVALID_ARGUMENT = "invalid-argument"
    BOUND_NOT_INSTANCE = "bound-not-instance"
    BOUND_TWICE = "bound-twice"
    UNKNOWN_PARAMS = "unknown-params"
    MISSING_PARAMS = "missing-params"
    UNREACHABLE_SECTION = "unreachable-section"
    CHAPTER_NEVER_OPENS = "chapter-never-opens"
    CHAPTER_WITHOUT_TEXT = "chapter-without-text"
    IMMUTABLE_SECTION = "immutable-section"
    UNKNOWN_SECTION = "unknown-section"
    INVALID_OVERRIDE = "invalid-override"
    GOAL_SECTION = "goal-section"
    OUTPUT_NOT_DATACLASS = "output-not-dataclass"
    OUTPUT_IS_PARAMETERS = "output-is-parameters"
    NO_JSON_FORM = "no-json-form"
    TOOL_NAME = "tool-name"
    TOOL_HANDLER = "tool-handler"
    UNUSED_FIELD = "unused-field"
    REPR_PLACEHOLDER = "repr-placeholder"
    INVALID_FORM = "invalid-form"
    UNTRUSTED_TEXT = "untrusted-text"
    TOKEN_BUDGET = "token-budget"
    UNPROVEN_BUDGET = "unproven-budget"
    CACHE_ORDER = "cache-order"
    SWITCHED_OFF_INSTRUCTIONS = "switched-off-instructions"
    DEAD_IMPORT = "dead-import"
    SECTION_DRIFT = "section-drift"
    NOT_EVALUATED = "not-evaluated"
    UNUSED_IGNORE = "unused-ignore"
    EMPTY_SECTION = "empty-section"
    STALE_REFERENCE = "stale-reference"
    REPEATED_SECTION = "repeated-section"
    FRONT_MATTER = "front-matter"
    UNKNOWN_FRONT_MATTER = "unknown-front-matter"


SEVERITIES = {
    Code.FOREIGN_TEMPLATE_SYNTAX: Severity.WARNING,
    Code.LONG_SUMMARY: Severity.WARNING,
    Code.FOLDING_COSTS_MORE: Severity.INFORMATION,
    Code.UNCLEAR_SUMMARY: Severity.INFORMATION,
    Code.OUTPUT_IS_PARAMETERS: Severity.INFORMATION,
    Code.DUPLICATE_PROMPT: Severity.WARNING,
    Code.UNREACHABLE_SECTION: Severity.WARNING,
    Code.CHAPTER_NEVER_OPENS: Severity.WARNING,
    Code.UNUSED_FIELD: Severity.HINT,
    Code.REPR_PLACEHOLDER: Severity.WARNING,
    Code.TOKEN_BUDGET: Severity.WARNING,
    Code.UNPROVEN_BUDGET: Severity.INFORMATION,
    Code.CACHE_ORDER: Severity.WARNING,
    Code.SWITCHED_OFF_INSTRUCTIONS: Severity.WARNING,
    Code.DEAD_IMPORT: Severity.WARNING,
    Code.SECTION_DRIFT: Severity.INFORMATION,
    Code.NOT_EVALUATED: Severity.WARNING,
    Code.UNUSED_IGNORE: Severity.WARNING,
    Code.EMPTY_SECTION: Severity.INFORMATION,
    Code.STALE_REFERENCE: Severity.WARNING,
    Code.REPEATED_SECTION: Severity.WARNING,
    Code.UNKNOWN_FRONT_MATTER: Severity.INFORMATION,
}
"""Severities other than `ERROR`: these prompts can be built, but probably not as intended."""


def default_severity(code: Code) -> Severity:
    """Return the severity of a code that the configuration doesn't set."""
    return SEVERITIES.get(code, Severity.ERROR)
