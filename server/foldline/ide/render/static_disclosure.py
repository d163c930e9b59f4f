"""`open_sections` and `read_section` for prompts that may not be executed.

They answer where the source alone shows a section: code decides neither its text nor if it's there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide.errors import ToolRefused, Untrusted
from foldline.ide.render.static import query_prompt
from foldline.prompts import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from foldline.ide.analysis.module_analysis import PromptFacts
    from foldline.ide.analysis.static_render import SectionSource, StaticBlock
    from foldline.ide.prompts.request import View
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.workspace import Workspace
    from foldline.prompts.layout.layout import Place

    _Query = Callable[[PromptFacts], "StaticText"]

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaticText:
    """The text of sections as the source shows it.

    Attributes:
        unknown: The placeholders in it that stand for values.
        has_tools: It has sections whose tools only exist when the prompt is executed.
    """

    text: str
    unknown: tuple[str, ...]
    has_tools: bool


async def open_statically(
    workspace: Workspace,
    target: PromptTarget,
    view: View,
    section_keys: Sequence[str],
    reason: str,
) -> StaticText:
    """Return the text of the sections that `open_sections` opens.

    Raises:
        ToolRefused: Some of them can't be opened; the sentences are the library's.
        Untrusted: Only running the code shows them.
    """

    def query(prompt: PromptFacts) -> StaticText:
        from foldline.prompts.disclosure.disclosure import check_request

        disclosure = _Disclosure(prompt, view)
        check_request(section_keys, reason, disclosure.summarized())
        return disclosure.text(disclosure.expand(section_keys))

    return await _query(workspace, target, query)


async def read_statically(
    workspace: Workspace, target: PromptTarget, view: View, section_key: str | None
) -> StaticText:
    """Return the text that `read_section` reads.

    Raises:
        ToolRefused: It can't be read; the sentences are the library's.
        Untrusted: Only running the code shows it.
    """

    def query(prompt: PromptFacts) -> StaticText:
        disclosure = _Disclosure(prompt, view)
        key = next(iter(disclosure.summarized()), "") if section_key is None else section_key
        disclosure.check([key])
        return disclosure.text([disclosure.places[key].path])

    return await _query(workspace, target, query)


async def _query(workspace: Workspace, target: PromptTarget, query: _Query) -> StaticText:
    def run(_: Snapshot, prompt: PromptFacts) -> StaticText:
        try:
            return query(prompt)
        except errors.ToolValidationError as error:
            raise ToolRefused(str(error), near=list(error.near)) from error

    return await query_prompt(workspace, target, run)


class _Disclosure:
    """A prompt in the source, and the sections of it that are open."""

    def __init__(self, prompt: PromptFacts, view: View) -> None:
        from foldline.ide.analysis.static_render import places_of
        from foldline.ide.analysis.values import EMPTY_RECORD, PromptValue, with_chapters

        self._value = value = with_chapters(prompt.value, view.chapters)
        self._own = value.section_params if isinstance(value, PromptValue) else EMPTY_RECORD
        self._prompt = prompt
        self._params = view.params
        self.places = {place.dotted: place for place in places_of(value) if place.section.value}
        self._by_path = {place.path: place for place in self.places.values()}
        self._open: set[Path] = set()
        self.expand(view.opened)

    def expand(self, keys: Sequence[str]) -> list[Path]:
        """Open sections and the summaries around them; returns the outermost paths."""
        self.check(keys)
        wanted = {
            above.path
            for key in keys
            for above in self._ancestry(self.places[key])
            if above.dotted == key or self._is_summarized(above)
        }
        self._open |= wanted
        inner = {path for path in wanted if any(path[:end] in wanted for end in range(len(path)))}
        return [path for path in self._by_path if path in wanted - inner]

    def check(self, keys: Sequence[str]) -> None:
        """Return if these sections can be opened.

        Raises:
            ToolValidationError: They can't.
            Untrusted: Only running the code tells.
        """
        from foldline.prompts.disclosure.disclosure import Refusals, already_shown

        refusals = Refusals()
        for key in keys:
            place = self.places.get(key)
            if place is None:
                if not self._prompt.described.complete:
                    raise _only_executed(key)
                known = self.places.values()
                refusals.unknown(key, [one.dotted for one in known if self._is_openable(one)])
            elif not self._is_openable(place):
                if self._is_undecided(place):
                    raise _only_executed(key)
                refusals.sentences.append(already_shown(key))
        refusals.check(self.summarized())

    def summarized(self) -> list[str]:
        """Return the keys of the summarized sections."""
        return [
            place.dotted
            for place in self.places.values()
            if self._is_summarized(place)
            and not any(map(self._is_summarized, self._ancestry(place)[:-1]))
        ]

    def text(self, paths: Sequence[Path]) -> StaticText:
        """Return the text of sections in full, with the values that the request gives.

        Raises:
            Untrusted: Only running the code shows them.
        """
        from foldline.ide.analysis.model import Visibility
        from foldline.ide.analysis.static_render import render_section

        overrides = dict.fromkeys(self._open, Visibility.FULL)
        texts: list[str] = []
        unknown: dict[str, None] = {}
        has_tools = False
        for path in paths:
            shown = render_section(self._value, path, overrides)
            if not shown.certain:
                raise _only_executed(".".join(path))
            parts = [part for block in shown.blocks for part in self._filled(block)]
            texts.append("".join(text for text, _ in parts))
            unknown.update(dict.fromkeys(text for text, known in parts if not known))
            has_tools = has_tools or any(
                block.visibility is Visibility.FULL and self._by_path[block.path].section.tools
                for block in shown.blocks
            )
        return StaticText("\n\n".join(texts), tuple(unknown), has_tools)

    def _filled(self, block: StaticBlock) -> Iterator[tuple[str, bool]]:
        """Yield the texts of a block, and if each is known."""
        from foldline.ide.analysis.static_lists import text_of_given, value_segment
        from foldline.ide.analysis.values import Dataclass
        from foldline.prompts import SegmentKind

        kind, key = block.section.params, ".".join(block.path)
        given: Mapping[str, object] = {}
        if isinstance(kind, Dataclass):
            # What is bound for one section takes precedence over what is given for its type.
            has_own = key in self._own.arguments or not self._own.complete
            of_type = {} if has_own else self._params.get(kind.name, {})
            given = {**of_type, **self._params.get(key, {})}
        for segment in block.segments:
            of_field = segment.kind in (SegmentKind.PARAM, SegmentKind.DEFAULT)
            if not of_field or segment.field is None or segment.field not in given:
                yield segment.text, segment.known
                continue
            field = kind.field(segment.field) if isinstance(kind, Dataclass) else None
            value = None if field is None else text_of_given(field, given[segment.field])
            # The class may make something else of it.
            if value is None or getattr(kind, "computed", True):
                yield f"${{{segment.field}}}", False
            else:
                written = f"${{{segment.field}}}"
                filled = value_segment(segment.kind, value, segment.field, written, segment.indent)
                yield filled.text, filled.known

    def _ancestry(self, place: Place[SectionSource]) -> list[Place[SectionSource]]:
        """Return the sections from the root down to `place`."""
        return [self._by_path[place.path[:end]] for end in range(1, len(place.path) + 1)]

    def _is_openable(self, place: Place[SectionSource]) -> bool:
        return any(map(self._is_summarized, self._ancestry(place)))

    def _is_summarized(self, place: Place[SectionSource]) -> bool:
        from foldline.ide.analysis.model import Visibility

        section = place.section.value
        assert section is not None
        return place.path not in self._open and section.visibility is Visibility.SUMMARY

    def _is_undecided(self, place: Place[SectionSource]) -> bool:
        """Return True if code decides the visibility of a section or of those around it."""
        from foldline.ide.analysis.model import Visibility

        return any(
            above.path not in self._open
            and above.section.value is not None
            and above.section.value.visibility is Visibility.UNKNOWN
            for above in self._ancestry(place)
        )


def _only_executed(key: str) -> Untrusted:
    return Untrusted(f"Only running the prompt's code shows the section {key!r}", key=key)
