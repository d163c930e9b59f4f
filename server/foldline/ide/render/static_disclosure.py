"""`open_sections` and `read_section` for prompts that may not be executed.

They answer where the source alone shows a section: code decides neither its text nor if it's there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from foldline.ide.analysis.model import Visibility
from foldline.ide.analysis.module_analysis import PromptFacts
from foldline.ide.analysis.static_lists import text_of_given, value_segment
from foldline.ide.analysis.static_render import (
    SectionSource,
    StaticBlock,
    places_of,
    render_section,
)
from foldline.ide.analysis.values import Dataclass, with_chapters
from foldline.ide.errors import ToolRefused, Untrusted
from foldline.ide.prompts.request import View
from foldline.ide.render.static import query_prompt
from foldline.ide.snapshot import Snapshot
from foldline.ide.sources.source import PromptSource
from foldline.prompts import SegmentKind, errors
from foldline.prompts.disclosure.disclosure import Refusals, already_shown, check_request
from foldline.prompts.layout.layout import Place
from foldline.records import record

Path = tuple[str, ...]


@record
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
    source: PromptSource, view: View, section_keys: Sequence[str], reason: str
) -> StaticText:
    """Return the text of the sections that `open_sections` opens.

    Raises:
        ToolRefused: Some of them can't be opened; the sentences are the library's.
        Untrusted: Only running the code shows them.
    """

    def opened(disclosure: _Disclosure) -> Sequence[Path]:
        check_request(section_keys, reason, disclosure.summarized())
        return disclosure.expand(section_keys)

    return await _text(source, view, opened)


async def read_statically(source: PromptSource, view: View, section_key: str | None) -> StaticText:
    """Return the text that `read_section` reads; it raises what `open_statically` does."""

    def read(disclosure: _Disclosure) -> Sequence[Path]:
        key = next(iter(disclosure.summarized()), "") if section_key is None else section_key
        disclosure.check([key])
        return [disclosure.places[key].path]

    return await _text(source, view, read)


async def _text(
    source: PromptSource, view: View, chosen: Callable[[_Disclosure], Sequence[Path]]
) -> StaticText:
    def run(_: Snapshot, prompt: PromptFacts) -> StaticText:
        try:
            disclosure = _Disclosure(prompt, view)
            return disclosure.text(chosen(disclosure))
        except errors.ToolValidationError as error:
            raise ToolRefused(str(error), near=list(error.near)) from error

    return await query_prompt(source, run)


class _Disclosure:
    """A prompt in the source, and the sections of it that are open."""

    def __init__(self, prompt: PromptFacts, view: View) -> None:
        self._value = value = with_chapters(prompt.value, view.chapters)
        self._own = value.section_params
        self._prompt = prompt
        self._params = view.params
        self.places = {placed.dotted: placed for placed in places_of(value) if placed.section.value}
        self._by_path = {placed.path: placed for placed in self.places.values()}
        self._open: set[Path] = set()
        self.expand(view.opened)

    def expand(self, keys: Sequence[str]) -> list[Path]:
        """Open sections and the summaries around them; returns the outermost paths."""
        self.check(keys)
        wanted = {
            path
            for key in keys
            for path, visibility in self._down_to(self.places[key])
            if path == self.places[key].path or visibility is Visibility.SUMMARY
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
        refusals = Refusals()
        for key in keys:
            placed = self.places.get(key)
            shown = [what for _, what in self._down_to(placed)] if placed is not None else []
            if Visibility.SUMMARY in shown:
                continue
            if Visibility.UNKNOWN in shown or (
                placed is None and not self._prompt.described.complete
            ):
                raise _only_executed(key)
            if placed is not None:
                refusals.sentences.append(already_shown(key))
                continue
            every = self.places.values()
            openable = [
                one for one in every if any(v is Visibility.SUMMARY for _, v in self._down_to(one))
            ]
            refusals.unknown(key, [one.dotted for one in openable])
        refusals.check(self.summarized())

    def summarized(self) -> list[str]:
        """Return the keys of the summarized sections."""
        keys = []
        for placed in self.places.values():
            *around, visibility_here = (visibility for _, visibility in self._down_to(placed))
            if visibility_here is Visibility.SUMMARY and Visibility.SUMMARY not in around:
                keys.append(placed.dotted)
        return keys

    def _down_to(self, place: Place[SectionSource]) -> Iterator[tuple[Path, Visibility]]:
        """Yield the paths of the sections from the root down to a place, with what they show."""
        for end in range(1, len(place.path) + 1):
            path = place.path[:end]
            section = self._by_path[path].section.value
            assert section is not None
            yield path, Visibility.FULL if path in self._open else section.visibility

    def text(self, paths: Sequence[Path]) -> StaticText:
        """Return the text of sections in full, with the values that the request gives.

        Raises:
            Untrusted: Only running the code shows them.
        """
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
            unknown.update(dict.fromkeys(text for text, is_known in parts if not is_known))
            has_tools = has_tools or any(
                block.visibility is Visibility.FULL and self._by_path[block.path].section.tools
                for block in shown.blocks
            )
        return StaticText("\n\n".join(texts), tuple(unknown), has_tools)

    def _filled(self, block: StaticBlock) -> Iterator[tuple[str, bool]]:
        """Yield the texts of a block, and if each is known."""
        kind, key = block.section.params, ".".join(block.path)
        params: Mapping[str, object] = {}
        if isinstance(kind, Dataclass):
            # What is bound for one section takes precedence over what is given for its type.
            has_own = key in self._own.arguments or not self._own.complete
            of_type = {} if has_own else self._params.get(kind.name, {})
            params = {**of_type, **self._params.get(key, {})}
        for segment in block.segments:
            of_field = segment.kind in (SegmentKind.PARAM, SegmentKind.DEFAULT)
            if not of_field or segment.field is None or segment.field not in params:
                yield segment.text, segment.known
                continue
            field = kind.field(segment.field) if isinstance(kind, Dataclass) else None
            value = None if field is None else text_of_given(field, params[segment.field])
            written = f"${{{segment.field}}}"
            # The class may make something else of it.
            if value is None or getattr(kind, "computed", True):
                yield written, False
            else:
                filled = value_segment(segment.kind, value, segment.field, written, segment.indent)
                yield filled.text, filled.known


def _only_executed(key: str) -> Untrusted:
    return Untrusted(f"Only running the prompt's code shows the section {key!r}", key=key)
