"""Opens chapters: policies, the intent classifier, and the expanded template."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from foldline.prompts import refusals
from foldline.prompts.errors import PromptConfigurationError, PromptValidationError, near_names
from foldline.prompts.forms.segments import SegmentKind
from foldline.prompts.layout.binding import Bindings
from foldline.prompts.layout.rendering import RenderPass, without_arguments
from foldline.prompts.sections.chapter import Chapter
from foldline.prompts.sections.intent import IntentClassifier, IntentQuery, term_overlap
from foldline.prompts.sections.section import Section, with_role
from foldline.prompts.sections.task import EXPANSION
from foldline.prompts.specialise import type_name
from foldline.prompts.thread import Thread, ThreadSource

if TYPE_CHECKING:
    from foldline.prompts.layout.tree import Node
    from foldline.prompts.template import PromptTemplate

OutputT = TypeVar("OutputT")


class ChaptersExpansionPolicy(StrEnum):
    """The way an evaluation opens chapters."""

    ALL_INCLUDED = "all_included"
    """Opens every chapter, unless its `enabled` returns False."""
    INTENT_CLASSIFIER = "intent_classifier"
    """Opens the chapters that a classifier finds relevant to the goal section."""


@dataclass(frozen=True, slots=True)
class ChapterDecision:
    """The decision to open a chapter or not, with reasons."""

    key: str
    opened: bool
    reasons: tuple[str, ...]


@dataclass
class ChapterGate(Generic[OutputT]):
    """Decides about each chapter of a template, in declaration order."""

    template: PromptTemplate[OutputT]
    policy: ChaptersExpansionPolicy | str
    bindings: Bindings
    chapter_params: Mapping[str, object]
    classifier: IntentClassifier | None
    only: Collection[str] | None
    session: object | None
    said: tuple[str, ...]
    goal: str = ""
    decisions: list[ChapterDecision] = field(default_factory=list)

    def expanded(self, goal_section_key: str | None) -> PromptTemplate[OutputT]:
        """Return the template with open chapters replaced by their sections, and without others."""
        chapters = _chapters(self.template.sections)
        params = self.chapter_params
        asked = [("chapter_params", k) for k in params] + [("only", k) for k in self.only or ()]
        for what, key in asked:
            if key not in chapters:
                raise PromptValidationError.unknown(
                    f"{self.template.ns}/{self.template.key} has no chapter {key!r} for `{what}`",
                    key,
                    chapters,
                )
        for key in params:
            if chapters[key].params_type is None:
                raise PromptValidationError(
                    f"Chapter {key!r} has no parameters: leave it out of `chapter_params`.",
                    section_path=(key,),
                )
        self.classify = _policy(self.policy) is ChaptersExpansionPolicy.INTENT_CLASSIFIER
        self.goal = self._goal_text(goal_section_key)
        fresh = self.template.with_sections(self.dissolved(self.template.sections))
        fresh.chapter_decisions = tuple(self.decisions)
        return fresh

    def dissolved(self, sections: Sequence[Section[object]]) -> tuple[Section[object], ...]:
        result: list[Section[object]] = []
        for section in sections:
            if not isinstance(section, Chapter):
                result.append(self._inside(section))
                continue
            opens, reasons = self._decide(section)
            self.decisions.append(ChapterDecision(section.key, opens, reasons))
            if opens:
                inside = section.sections
                if section.role is not None:
                    inside = tuple(with_role(one, section.role) for one in inside)
                result.extend(self.dissolved(inside))
            else:
                around = f"the chapter {section.key!r} around it is closed"
                closed = _chapters(section.sections)
                self.decisions += [ChapterDecision(key, False, (around,)) for key in closed]
        return tuple(result)

    def _inside(self, section: Section[object]) -> Section[object]:
        children = self.dissolved(section.children)
        if children == section.children:
            return section
        twin = copy.copy(section)
        vars(twin)["children"] = children
        return twin

    def _decide(self, chapter: Chapter[object]) -> tuple[bool, tuple[str, ...]]:
        if self.only is not None and chapter.key not in self.only:
            return False, ("it isn't among the requested chapters",)
        # Without `enabled` and a classifier, the parameters aren't needed.
        params = self._params(chapter) if chapter.enabled is not None or self.classify else None
        if not chapter.is_enabled(params, session=self.session):
            return False, ("its `enabled` returned False",)
        if not self.classify:
            return True, ("all chapters are included",)
        if not self.goal and not self.said:
            return False, ("the goal section has no text",)
        thread = self.session.thread() if isinstance(self.session, ThreadSource) else Thread()
        query = IntentQuery(self.goal, chapter, params, self.session, thread, self.said)
        answer = (self.classifier or term_overlap)(query)
        if isinstance(answer, bool):
            return answer, ("the classifier said so",)
        return answer.opens, answer.reasons

    def _params(self, chapter: Chapter[object]) -> object:
        kind = chapter.params_type
        if kind is None:
            return None
        if kind in self.bindings.by_type:
            return self.bindings.by_type[kind]
        params = self.chapter_params.get(chapter.key, chapter.default_params)
        if params is None:
            params = self.template.plan.defaults.get(kind)
        if params is None:
            if chapter.enabled is None:
                return None
            return without_arguments(kind, f"Chapter {chapter.key!r}", (chapter.key,))
        if type(params) is not kind:
            raise PromptValidationError(
                f"Chapter {chapter.key!r} takes {type_name(kind)}, not {type_name(type(params))}.",
                section_path=(chapter.key,),
                dataclass_type=kind,
            )
        return params

    def _goal_text(self, key: str | None) -> str:
        """Return the body of the goal section without headings; empty if it isn't needed."""
        node = None if key is None else self._goal_node(key)
        if not self.classify or not _chapters(self.template.sections):
            return ""
        if node is None:
            raise PromptConfigurationError(
                "The policy INTENT_CLASSIFIER needs `goal_section_key`, the key of the section "
                + (
                    "that says what the user wants."
                    if key is None
                    else f"that says what the user wants; {key!r} is itself inside a chapter."
                ),
                section_path=() if key is None else (key,),
            )
        source = RenderPass(self.template.plan, self.bindings, session=self.session)
        skipped = (SegmentKind.HEADING, SegmentKind.SUFFIX)
        return "".join(
            segment.text
            for piece in source.pieces([node], opened=node)
            for segment in piece.segments
            # What the model asked for when it opened a section opens no chapter.
            if segment.kind not in skipped and segment.field != EXPANSION
        ).strip()

    def _goal_node(self, key: str) -> Node | None:
        """Return the section with that key; None if it is inside a chapter."""
        plan = self.template.plan
        paths = [p for p in (*plan.by_path, *sorted(plan.inert_paths)) if p[-1] == key]
        if not paths and key in plan.by_dotted:
            paths = [plan.by_dotted[key].path]
        if not paths:
            raise PromptConfigurationError.unknown(
                f"{self.template.ns}/{self.template.key} has no section {key!r} for "
                "`goal_section_key`",
                key,
                [*plan.by_dotted, *(p[-1] for p in plan.by_path)],
            )
        if len(paths) > 1:
            listed = ", ".join(repr(".".join(path)) for path in paths)
            raise PromptConfigurationError(
                f"`goal_section_key` {key!r} could mean {listed}; give the dotted key of a nested "
                "section, or rename one of them.",
                near=[".".join(path) for path in paths],
            )
        return plan.by_path.get(paths[0])


def _policy(policy: str) -> ChaptersExpansionPolicy:
    try:
        return ChaptersExpansionPolicy(policy)
    except ValueError:
        names = tuple(ChaptersExpansionPolicy)
        near = near_names(str(policy), names)
        raise PromptConfigurationError(
            refusals.no_policy(repr(policy), [name.value for name in names]), near=near
        ) from None


def _chapters(sections: Sequence[Section[object]]) -> dict[str, Chapter[object]]:
    """Return all chapters by key, in declaration order."""
    chapters: dict[str, Chapter[object]] = {}
    for section in sections:
        if isinstance(section, Chapter):
            chapters[section.key] = section
        chapters.update(_chapters(section.children))
    return chapters
