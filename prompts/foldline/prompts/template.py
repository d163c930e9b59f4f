"""Templates of prompts."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Generic, Literal, Never

from foldline.prompts.chapter import Chapter
from foldline.prompts.errors import PromptValidationError
from foldline.prompts.headings import HeadingFormatter, dotted_heading
from foldline.prompts.section import Section, checked_sections
from foldline.prompts.specialise import Specialised
from foldline.prompts.structured_output import declared_output
from foldline.prompts.tree import build_plan

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from typing_extensions import TypeVar

    from foldline.prompts.deadline import Deadline
    from foldline.prompts.descriptor import PromptDescriptor
    from foldline.prompts.errors import ErrorHandler
    from foldline.prompts.expansion import ChapterDecision, ChaptersExpansionPolicy
    from foldline.prompts.intent import IntentClassifier
    from foldline.prompts.prompt import Prompt
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.visibility import SectionPath, SectionVisibility

    # By default, a template has no structured output.
    OutputT_co = TypeVar("OutputT_co", covariant=True, default=None)
else:
    OutputT_co = typing.TypeVar("OutputT_co", covariant=True)

__all__ = ["PromptTemplate"]


class PromptTemplate(Specialised, Generic[OutputT_co]):
    """An ordered tree of sections under a stable name.

    Specialise it with a dataclass to declare a structured output, `PromptTemplate[Answer](…)`,
    or with `list[Answer]` for an array. Everything that can be is checked at construction.
    Templates are immutable, and many threads can render one at once.

    Args:
        ns: The namespace, such as `agents/reviewer`.
        key: The name within the namespace; overrides identify the prompt by both.
        name: A name for people.
        sections: The root sections, in order; chapters may be among them.
        chapters: Chapters after the sections.
        allow_extra_keys: Ignore unknown keys of a structured output.
        disclosure: With `auto`, the model can open summarized sections that have tools, and read
            the others; with `open`, it can open all.
        heading: Formats the headings; `undotted_heading` is the older format.

    Raises:
        PromptValidationError: The prompt can never work.
    """

    def __init__(
        self,
        *,
        ns: str,
        key: str,
        name: str | None = None,
        sections: Sequence[Section[object]] = (),
        chapters: Sequence[Chapter[object]] = (),
        allow_extra_keys: bool = False,
        disclosure: Literal["auto", "open"] = "auto",
        heading: HeadingFormatter = dotted_heading,
    ) -> None:
        self.ns = _named(ns, "ns")
        self.key = _named(key, "key")
        self.name = name
        self.sections: tuple[Section[object], ...] = (
            *checked_sections(sections, key),
            *checked_sections(chapters, key),
        )
        self.allow_extra_keys = allow_extra_keys
        self.disclosure = disclosure
        self.heading = heading
        for chapter in chapters:
            if not isinstance(chapter, Chapter):
                raise PromptValidationError(
                    f"{self.ns}/{self.key}: `chapters` takes chapters, not {chapter!r}; sections "
                    "belong in `sections`.",
                )
        if disclosure not in ("auto", "open"):
            raise PromptValidationError(
                f"{self.ns}/{self.key}: `disclosure` is 'auto' or 'open', not {disclosure!r}."
            )
        self.structured_output = declared_output(
            None if self.type_arguments is None else self.type_arguments[0],
            allow_extra_keys=allow_extra_keys,
        )
        self.chapter_decisions: tuple[ChapterDecision, ...] = ()
        self.tool_param_descriptions: Mapping[str, Mapping[str, str]] | None = None
        self._descriptor: PromptDescriptor | None = None
        self.plan = build_plan(self.sections, heading=heading, disclosure=disclosure)

    @property
    def descriptor(self) -> PromptDescriptor:
        """The prompt as declared; after an expansion, too, it has all chapters."""
        if self._descriptor is None:
            from foldline.prompts.descriptor import describe

            # At worst, two threads compute the same.
            self._descriptor = describe(self)
        return self._descriptor

    def expand_chapters(
        self,
        policy: ChaptersExpansionPolicy | str = "all_included",
        *,
        params: Sequence[object] = (),
        chapter_params: Mapping[str, object] | None = None,
        goal_section_key: str | None = None,
        classifier: IntentClassifier | None = None,
        only: Collection[str] | None = None,
        session: object | None = None,
    ) -> PromptTemplate[OutputT_co]:
        """Return a new template in which open chapters are replaced by their sections.

        It lacks the sections of closed chapters. Its `chapter_decisions` has the decisions with
        reasons. This template doesn't change.

        Args:
            policy: The policy that opens chapters.
            params: Bound parameters; a chapter uses the one of its type.
            chapter_params: Parameters by chapter key, for types that are not bound.
            goal_section_key: The section with the user's goal; required by the policy
                INTENT_CLASSIFIER.
            classifier: Replaces `term_overlap`.
            only: Keys of the chapters that may open; must include their enclosing chapters.
            session: Passed to `enabled` callables that ask for it.

        Raises:
            PromptConfigurationError: `goal_section_key` is missing, unknown or ambiguous, or the
                policy is unknown.
            PromptValidationError: `chapter_params` or `only` has an unknown chapter, or
                `chapter_params` one without parameters.
            PromptRenderError: A chapter's `enabled` raised or lacks its parameters.
        """
        from foldline.prompts.expansion import expand
        from foldline.prompts.intent import term_overlap

        # The descriptor describes the declaration, so compute it before chapters dissolve.
        _ = self.descriptor
        return expand(
            self,
            policy,
            bound={type(item): item for item in params},
            chapter_params=chapter_params,
            goal_section_key=goal_section_key,
            classifier=term_overlap if classifier is None else classifier,
            only=only,
            session=session,
        )

    def bind(self, *params: object) -> Prompt[OutputT_co]:
        """Return a new prompt of this template with these parameters bound."""
        from foldline.prompts.prompt import Prompt

        return Prompt(self).bind(*params)

    def render(
        self,
        *params: object,
        visibility_overrides: Mapping[SectionPath, SectionVisibility] | None = None,
        session: object | None = None,
        deadline: Deadline | None = None,
        on_error: ErrorHandler | None = None,
        **unknown: Never,
    ) -> RenderedPrompt[OutputT_co]:
        """Render the template with these parameters: `bind` and `Prompt.render` in one."""
        return self.bind(*params).render(
            visibility_overrides=visibility_overrides,
            session=session,
            deadline=deadline,
            on_error=on_error,
            **unknown,
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ns}/{self.key}>"


def _named(value: str, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise PromptValidationError(f"A prompt template needs a non-empty `{what}`.")
    return value.strip()
