"""The differences of two versions of a prompt, section by section and as one text."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from operator import attrgetter

from foldline.ide import cost_texts
from foldline.ide.render.render import Block, Kept, Render
from foldline.ide.render.token_costs import kept
from foldline.records import record

CONTEXT_LINES = 3
MAX_NAMED = 5


NOTHING = Render(name="", text="")


@record
class Side:
    """One of the versions; `label` is what people call it."""

    label: str
    render: Render = NOTHING
    as_now: tuple[str, ...] = ()
    """The files that a revision has otherwise, and that were read as they are now."""

    @property
    def blocks(self) -> Sequence[Block]:
        return self.render.blocks

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks)

    @property
    def total(self) -> int:
        return 0 if self.render.tokens is None else self.render.tokens.total


@record
class Visibilities:
    """A section's visibility on both sides; None where it isn't."""

    before: str | None
    after: str | None


@record
class SectionChange:
    """A section that was `added`, `removed` or `changed`; `tokens` are what `after` has more."""

    id: str
    key: str
    title: str
    change: str
    visibility: Visibilities
    tokens: int
    unified: str


@record
class ToolChange:
    """A tool that was `added`, `removed` or `changed`."""

    name: str
    change: str
    tokens: int


@record
class Totals:
    """The tokens of both sides, tools and the output's schema included; `words` for people."""

    before: int
    after: int
    delta: int
    words: str


@record
class Comparison:
    """The differences of two versions.

    Attributes:
        kept: What a provider's prompt cache keeps.
        unified: The texts as a unified diff.
        output: Whether the schema of the answer was `added`, `removed` or `changed`.
        caveat: What of a revision couldn't be read from it, what changed that isn't sent, and
            which parameter sets weren't compared, in words.
    """

    before: str
    after: str
    changes: tuple[SectionChange, ...]
    tools: tuple[ToolChange, ...]
    tokens: Totals
    kept: Kept
    unified: str
    output: str = ""
    caveat: str = ""

    @property
    def is_empty(self) -> bool:
        """True if text, tools and schema are the same."""
        return not (self.unified or self.changes or self.tools or self.output)


def compare(before: Side, after: Side) -> Comparison:
    """Compare two versions."""
    totals = before.total, after.total
    delta, words = totals[1] - totals[0], cost_texts.changed(*totals)
    same_output = before.render.output == after.render.output
    return Comparison(
        before.label,
        after.label,
        tuple(_sections(before, after)),
        tuple(_tools(before, after)),
        Totals(*totals, delta, words),
        kept(before.render, after.render),
        _unified(before.text, after.text, before.label, after.label),
        "" if same_output else _change(before.render.output, after.render.output),
        " ".join(
            filter(
                None, (*map(_caveat, (before, after)), _unsent(before, after), _sets(before, after))
            )
        ),
    )


def _caveat(side: Side) -> str:
    return f"Not as in {side.label}, but as now: {_listed(side.as_now)}." if side.as_now else ""


def _unsent(before: Side, after: Side) -> str:
    """Name the sections with another text or other tools that a side has, and doesn't show."""
    descriptors = (before.render.descriptor, after.render.descriptor)
    was, now = (one.texts if one else {} for one in descriptors)
    keys = [key for key in {**now, **was} if was.get(key) != now.get(key)]
    hidden: list[str] = []
    for side, texts in ((before, was), (after, now)):
        sent = {block.key for block in side.blocks if block.enabled and block.visibility == "FULL"}
        hidden += [key for key in keys if key in texts and key not in sent]
    named = _listed(list(dict.fromkeys(hidden)))
    return f"Changed, and not sent until it is opened: {named}." if hidden else ""


def _sets(before: Side, after: Side) -> str:
    """Name the parameter sets that are compared, and those that aren't."""
    renders = (before.render, after.render)
    used = list(dict.fromkeys(one.parameter_set or "none" for one in renders))
    every = dict.fromkeys(one.name for render in renders for one in render.parameter_sets)
    others = [name for name in every if name not in used]
    shown = " and ".join(f"`{name}`" for name in used)
    return f"With the set {shown}; not compared: {_listed(others)}." if others else ""


def _listed(names: Sequence[str]) -> str:
    named, more = ", ".join(names[:MAX_NAMED]), len(names) - MAX_NAMED
    return f"{named} and {more} more" if more > 0 else named


_look = attrgetter("text", "visibility", "enabled")


def _sections(before: Side, after: Side) -> Iterator[SectionChange]:
    old = {block.id: block for block in before.blocks}
    new = {block.id: block for block in after.blocks}
    for id_ in dict.fromkeys((*new, *old)):
        was, now = old.get(id_), new.get(id_)
        if was is not None and now is not None and _look(was) == _look(now):
            continue
        shown = now or was
        assert shown is not None
        yield SectionChange(
            id_,
            shown.key,
            shown.title,
            _change(was, now),
            Visibilities(was.visibility if was else None, now.visibility if now else None),
            (now.own_tokens if now else 0) - (was.own_tokens if was else 0),
            _unified(was.text if was else "", now.text if now else "", before.label, after.label),
        )


def _change(was: object, now: object) -> str:
    return "added" if was is None else "removed" if now is None else "changed"


def _tools(before: Side, after: Side) -> Iterator[ToolChange]:
    old = {tool.name: tool for tool in before.render.tools}
    new = {tool.name: tool for tool in after.render.tools}
    for name in dict.fromkeys((*new, *old)):
        was, now = old.get(name), new.get(name)
        if was != now:
            tokens = ((now.tokens or 0) if now else 0) - ((was.tokens or 0) if was else 0)
            yield ToolChange(name, _change(was, now), tokens)


def _unified(before: str, after: str, old_label: str, new_label: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), old_label, new_label, "", "", CONTEXT_LINES, ""
    )
    return "".join(f"{line}\n" for line in lines)
