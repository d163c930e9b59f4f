"""What a client puts together of updates is what a preview shows that was made from scratch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.previews.session import Preview
from foldline.ide.prompts.request import View as PromptView
from foldline.ide.render.answers import RECORD, AnswerReader
from foldline.ide.render.render import Block, Location, Position, Range, Render
from foldline.ide.render.token_costs import with_costs
from foldline.ide.token_counter import token_counter

FILE = Path("/w/prompt.py")
COUNTER = token_counter(exact=False)
# Few values, so that one section is often as the last one in all but one thing.
KEYS = st.sampled_from(("a", "b", "a/c"))
TEXTS = st.sampled_from(("One.", "One. Two."))


@dataclass(frozen=True)
class Section:
    """A section as a worker renders it, and the line of its source."""

    id: str
    text: str
    folded: bool
    opened: str | None
    failed: bool
    line: int

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.id.split("/"))

    def record(self, number: int) -> bytes:
        error = {"message": "no", "file": None, "line": None, "type": "E", "traceback": ""}
        block = {
            "id": self.id,
            "path": self.path,
            "key": ".".join(self.path),
            "number": str(number),
            "title": self.id.upper(),
            "depth": len(self.path) - 1,
            "visibility": "SUMMARY" if self.folded else "FULL",
            "enabled": True,
            "text": self.text,
            "segments": [{"kind": "literal", "text": self.text, "field": None}],
            "error": error if self.failed else None,
        }
        segment = {"kind": "literal", "text": self.opened, "field": None}
        shown = block | {"visibility": "FULL", "text": self.opened, "segments": [segment]}
        part = {"start": number - 1, "end": number, "blocks": [shown]}
        block["opening"] = self.opened and {"parts": [part]}
        return json.dumps(block).encode()

    @property
    def location(self) -> Location:
        return Location(
            "file:///w/prompt.py", Range(Position(self.line, 0), Position(self.line, 1))
        )


SECTIONS = st.builds(
    Section,
    KEYS,
    TEXTS,
    st.booleans(),
    st.sampled_from((None, "Whole.")),
    st.booleans(),
    st.integers(min_value=0, max_value=1),
)
RENDERS = st.lists(SECTIONS, max_size=3, unique_by=lambda section: section.id)
OPENED = st.sampled_from(((), ("a",)))
STEPS = st.lists(st.tuples(RENDERS, OPENED), min_size=2, max_size=30)


def answered(reader: AnswerReader, sections: list[Section]) -> Render:
    head = {"name": "p", "text": "", "interpreter": {"python": "3.11", "foldline": "1"}}
    records = [section.record(number) for number, section in enumerate(sections, 1)]
    _, render = reader.read(FILE, RECORD.join([json.dumps(head).encode(), *records]), Render)
    return render


def shown(
    preview: Preview, reader: AnswerReader, sections: list[Section], opened: tuple[str, ...]
) -> tuple[Block, ...]:
    """Show a render in a preview, and return the blocks that its client is sent."""
    preview.steps = [PromptView(opened=opened)]
    locations = {section.path: section.location for section in sections}
    render = answered(reader, sections)
    known = preview.render.blocks
    return preview.show(with_costs(render, COUNTER, locations, known), preview.ticket())


@given(STEPS)
def test_updates_put_together_are_the_preview_from_scratch(
    steps: list[tuple[list[Section], tuple[str, ...]]],
) -> None:
    preview, reader = Preview("preview-1", "file:///w/prompt.py", "p"), AnswerReader()
    client: dict[str, Block] = {}
    for sections, opened in steps:
        sent = shown(preview, reader, sections, opened)
        assert all(client.get(block.id) != block for block in sent)
        client |= {block.id: block for block in sent}
        client = {block.id: client[block.id] for block in preview.render.blocks}
        scratch = Preview("preview-2", "file:///w/prompt.py", "p")
        whole = shown(scratch, AnswerReader(), sections, opened)
        assert tuple(client.values()) == preview.render.blocks == whole
        assert preview.render.tokens == scratch.render.tokens
