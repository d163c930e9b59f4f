"""The work of an update follows what an edit changed, not the size of the prompt."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from foldline.ide.render import answers, renderer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from foldline.ide.render.render import Block

    from .viewer import View

pytestmark = pytest.mark.real

# Each body that is made leaves a byte in the file `made`.
MODULE = """
from pathlib import Path
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

made = Path(__file__).with_name("made")

class Counting(MarkdownSection[None]):
    def render_body(self, params):
        with made.open("a") as file:
            file.write(".")
        return super().render_body(params)

prompt = PromptTemplate(ns="demo", key="grown", sections=[
"""
SECTION = '    Counting(title="T", key="s{n}", template="{size}: section {n} of many"),\n'
FOLDED = (
    '    Counting(title="F", key="f{n}", template="Folded.", summary="{size}: section {n} of '
    'many", visibility=SectionVisibility.SUMMARY, children=[\n'
    '        Counting(title="In", key="in", template="In {n}.")]),\n'
)
SIZES = (20, 40)


@dataclass(frozen=True)
class Work:
    """What one edit of one section cost.

    Attributes:
        rendered: The bodies of sections that the prompt's code made.
        structured: The blocks that were made of a worker's answer.
        overlays: The texts of open documents that its worker was sent.
        tokenized: The texts whose tokens were counted.
        sent: The blocks that the client was sent.
        size: The bytes that it was sent, without the ids of all blocks.
    """

    rendered: int
    structured: int
    overlays: int
    tokenized: int
    sent: int
    size: int


async def work(
    view: View, root: Path, section: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> Work:
    """What an edit of the section in the middle costs, among so many."""
    structured: list[bytes] = []
    structure = answers._block

    def counted(record: bytes) -> Block:
        structured.append(record)
        return structure(record)

    overlays: list[str] = []
    send = renderer._Worker._send

    async def counted_send(worker: renderer._Worker, message: Mapping[str, Any]) -> None:
        overlays.extend(message["overlays"])
        await send(worker, message)

    monkeypatch.setattr(answers, "_block", counted)
    monkeypatch.setattr(renderer._Worker, "_send", counted_send)
    body = "".join(section.format(n=number, size=count) for number in range(count))
    text = f"{MODULE}{body}])\n"
    editor = view(root, trusted=True)
    for number in range(count):
        editor.open(f"other{number}.py", f"OTHER = {number}\n")
    uri = editor.open(f"grown{count}.py", text)
    preview = await editor.command("prompt.preview", uri=uri)
    assert preview["fidelity"] == "executed", preview["stale"]
    assert len(structured) == count
    known = editor.core.folder(root / "grown.py").counter()._known
    tokenized = len(known)
    structured.clear()
    overlays.clear()
    made = root / "made"
    made.unlink()
    middle = f"section {count // 2} of"
    editor.change(uri, text.replace(middle, f"{middle} the"))
    update = await editor.update(1)
    (changed,) = update["blocks"]
    assert "of the many" in changed["text"]
    return Work(
        rendered=made.stat().st_size,
        structured=len(structured),
        overlays=len(overlays),
        tokenized=len(known) - tokenized,
        sent=len(update["blocks"]),
        size=len(json.dumps({**update, "order": []})),
    )


@pytest.mark.parametrize(("section", "bodies"), [(SECTION, 1), (FOLDED, 2)], ids=["full", "folded"])
async def test_a_key_costs_the_block_that_it_changes(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, section: str, bodies: int
) -> None:
    once, twice = [await work(view, tmp_path, section, n, monkeypatch) for n in SIZES]
    # The prompt's own code is run anew, and makes each body once: also those behind summaries,
    # whose cost is shown.
    assert [once.rendered, twice.rendered] == [bodies * size for size in SIZES]
    assert once.structured == twice.structured == 1
    assert once.overlays == twice.overlays == 1
    assert once.tokenized == twice.tokenized == 1
    assert once.sent == twice.sent == 1
    assert twice.size - once.size < 100
