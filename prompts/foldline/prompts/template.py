"""Templates of prompts."""

from __future__ import annotations

import copy
import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import InitVar
from typing import TYPE_CHECKING, Generic, Literal, Never

from foldline.prompts import refusals
from foldline.prompts.errors import ErrorHandler, PromptValidationError
from foldline.prompts.layout.binding import Bindings
from foldline.prompts.layout.layout import HeadingFormatter, dotted_heading
from foldline.prompts.layout.tree import Plan, build_plan
from foldline.prompts.output.structured_output import declared_output
from foldline.prompts.roles import Role
from foldline.prompts.sections.chapter import Chapter
from foldline.prompts.sections.section import Section, checked_sections, with_role
from foldline.prompts.specialise import Argument, Specialised, argument, with_constructor
from foldline.prompts.visibility import SectionPath, SectionVisibility
from foldline.prompts.wording import ENGLISH, Wording

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from foldline.prompts.deadline import Deadline
    from foldline.prompts.descriptor import PromptDescriptor
    from foldline.prompts.expansion import ChapterDecision, ChaptersExpansionPolicy
    from foldline.prompts.layout.fitting import Fit, Fitted
    from foldline.prompts.overrides.overrides import OverrideIssue, OverrideSource
    from foldline.prompts.prompt import Prompt
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.sections.intent import IntentClassifier

    # By default, a template has no structured output.
    OutputT_co = TypeVar("OutputT_co", covariant=True, default=None)
else:
    OutputT_co = typing.TypeVar("OutputT_co", covariant=True)


@with_constructor
class PromptTemplate(Specialised, Generic[OutputT_co]):
    """An ordered tree of sections under a stable name.

    Specialise it with a dataclass to declare a structured output, `PromptTemplate[Answer](…)`,
    or with `list[Answer]` for an array. Everything that can be is checked at construction.
    Templates are immutable, and many threads can render one at once.

    Args:
        ns: The namespace, such as `agents/reviewer`.
        key: The name within the namespace; overrides identify the prompt by both.
        name: A name for people.
        system: Sections of the system message: the same as `role="system"` on each.
        sections: The root sections, in order; chapters may be among them. Sections with the role
            `system` are shown first, then those with `developer`, then the user's.
        chapters: Chapters after the sections.
        allow_extra_keys: Ignore unknown keys of a structured output.
        disclosure: With `auto`, the model can open summarized sections that have tools, and read
            the others; with `open`, it can open all.
        heading: Formats the headings; `undotted_heading` is the older format.
        wording: The library's own sentences in the prompt.

    Raises:
        PromptValidationError: The prompt can never work.
    """

    ns: str
    key: str
    name: str | None = None
    system: InitVar[Sequence[Section[object]]] = ()
    sections: Argument[Sequence[Section[object]], tuple[Section[object], ...]] = argument(
        default=()
    )
    chapters: InitVar[Sequence[Chapter[object]]] = ()
    allow_extra_keys: bool = False
    disclosure: Literal["auto", "open"] = "auto"
    heading: HeadingFormatter = dotted_heading
    wording: Wording = ENGLISH

    def __post_init__(
        self, system: Sequence[Section[object]], chapters: Sequence[Chapter[object]]
    ) -> None:
        self.ns = _named(self.ns, "ns")
        self.key = _named(self.key, "key")
        _check_wording(self.wording)
        self.sections = (
            *(with_role(section, Role.SYSTEM) for section in checked_sections(system, self.key)),
            *checked_sections(self.sections, self.key),
            *checked_sections(chapters, self.key),
        )
        for chapter in chapters:
            if not isinstance(chapter, Chapter):
                raise PromptValidationError(
                    f"{self.ns}/{self.key}: {refusals.not_a_chapter(repr(chapter))}"
                )
        if self.disclosure not in refusals.DISCLOSURES:
            raise PromptValidationError(
                f"{self.ns}/{self.key}: {refusals.not_a_disclosure(repr(self.disclosure))}"
            )
        self.structured_output = declared_output(
            None if self.type_arguments is None else self.type_arguments[0],
            allow_extra_keys=self.allow_extra_keys,
        )
        self.chapter_decisions: tuple[ChapterDecision, ...] = ()
        self.tool_param_descriptions: Mapping[str, Mapping[str, str]] | None = None
        self.override_issues: tuple[OverrideIssue, ...] = ()
        """Stored overrides that weren't applied as they are, with reasons."""
        self._descriptor: PromptDescriptor | None = None
        self.sections = _worded(self.sections, self.wording)
        self.plan = _plan_of(self)

    @property
    def descriptor(self) -> PromptDescriptor:
        """The prompt as declared; after an expansion, too, it has all chapters."""
        if self._descriptor is None:
            from foldline.prompts.descriptor import describe

            # At worst, two threads compute the same.
            self._descriptor = describe(self)
        return self._descriptor

    def with_sections(self, sections: tuple[Section[object], ...]) -> PromptTemplate[OutputT_co]:
        """Return a copy with changed sections, and the descriptor of this template."""
        _ = self.descriptor
        fresh = copy.copy(self)
        fresh.sections = sections
        fresh.plan = _plan_of(fresh, self.plan)
        return fresh

    def with_wording(self, wording: Wording) -> PromptTemplate[OutputT_co]:
        """Return a copy in which the library's own sentences are these."""
        _check_wording(wording)
        if wording == self.wording:
            return self
        _ = self.descriptor
        fresh = copy.copy(self)
        fresh.wording = wording
        return fresh.with_sections(_worded(self.sections, wording))

    def expand_chapters(
        self,
        policy: ChaptersExpansionPolicy | str = "all_included",
        *,
        params: Sequence[object] = (),
        section_params: Mapping[str, object] | None = None,
        chapter_params: Mapping[str, object] | None = None,
        goal_section_key: str | None = None,
        classifier: IntentClassifier | None = None,
        only: Collection[str] | None = None,
        session: object | None = None,
        said: Sequence[str] = (),
    ) -> PromptTemplate[OutputT_co]:
        """Return a new template in which open chapters are replaced by their sections.

        It lacks the sections of closed chapters. Its `chapter_decisions` has the decisions with
        reasons. This template doesn't change.

        Args:
            policy: The policy that opens chapters.
            params: Bound parameters; a chapter uses the one of its type.
            section_params: Parameters bound to single sections, by dotted key; the goal section may
                need them.
            chapter_params: Parameters by chapter key, for types that are not bound.
            goal_section_key: The section with the user's goal; required by the policy
                INTENT_CLASSIFIER.
            classifier: Replaces `term_overlap`.
            only: Keys of the chapters that may open; must include their enclosing chapters.
            session: Passed to `enabled` callables that ask for it.
            said: The user's messages of a conversation, the oldest first, for the classifier.

        Raises:
            PromptConfigurationError: `goal_section_key` is missing, unknown or ambiguous, or the
                policy is unknown.
            PromptValidationError: `chapter_params` or `only` has an unknown chapter, or
                `chapter_params` one without parameters.
            PromptRenderError: A chapter's `enabled` raised or lacks its parameters.
        """
        from foldline.prompts.expansion import ChapterGate

        bindings = Bindings().with_params(tuple(params))
        return ChapterGate(
            self,
            policy,
            bindings.with_section_params(section_params or {}, self.plan),
            dict(chapter_params or {}),
            classifier,
            only,
            session,
            tuple(said),
        ).expanded(goal_section_key)

    def bind(
        self,
        *params: object,
        section_params: Mapping[str, object] | None = None,
        overrides: OverrideSource | None = None,
        tag: str | None = None,
        wording: Wording | None = None,
        **unknown: Never,
    ) -> Prompt[OutputT_co]:
        """Return a new prompt of this template with these parameters bound; see `Prompt.bind`."""
        from foldline.prompts.prompt import Prompt

        return Prompt(self).bind(
            *params,
            section_params=section_params,
            overrides=overrides,
            tag=tag,
            wording=wording,
            **unknown,
        )

    def render(
        self,
        *params: object,
        section_params: Mapping[str, object] | None = None,
        visibility_overrides: Mapping[SectionPath, SectionVisibility] | None = None,
        session: object | None = None,
        deadline: Deadline | None = None,
        on_error: ErrorHandler | None = None,
        fit: Fit | Fitted | None = None,
        **unknown: Never,
    ) -> RenderedPrompt[OutputT_co]:
        """Render the template with these parameters: `bind` and `Prompt.render` in one."""
        return self.bind(*params, section_params=section_params).render(
            visibility_overrides=visibility_overrides,
            session=session,
            deadline=deadline,
            on_error=on_error,
            fit=fit,
            **unknown,
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ns}/{self.key}>"


# The constructor's alone: their sections are among those of the template.
del PromptTemplate.system, PromptTemplate.chapters  # type: ignore[attr-defined]


def _plan_of(template: PromptTemplate[object], before: Plan | None = None) -> Plan:
    return build_plan(
        template.sections,
        heading=template.heading,
        disclosure=template.disclosure,
        wording=template.wording,
        prompt=f"{template.ns}/{template.key}",
        before=before,
    )


def _worded(sections: tuple[Section[object], ...], wording: Wording) -> tuple[Section[object], ...]:
    """Return the sections, copied where they or those inside have sentences of the library."""
    result: list[Section[object]] = []
    for section in sections:
        children = _worded(section.children, wording)
        if (section.has_wording and section.wording != wording) or children != section.children:
            twin = copy.copy(section)
            vars(twin).update(children=children, wording=wording)
            result.append(twin)
        else:
            result.append(section)
    return tuple(result)


def _check_wording(wording: object) -> None:
    if not isinstance(wording, Wording):
        raise PromptValidationError(f"`wording` is a Wording, not {wording!r}.")


def _named(value: str, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise PromptValidationError(f"A prompt template needs a non-empty `{what}`.")
    return value.strip()
