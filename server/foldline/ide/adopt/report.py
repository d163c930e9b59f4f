"""The report of an adoption: what was made, what is left to do, and how the texts compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.formatting.visible import visible
from foldline.ide.adopt.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.adopt.adoption import Adoption


def report(adoption: Adoption) -> Iterator[str]:
    """Yield what was made, what is left to do, and how the texts compare."""
    plan = adoption.plan
    sections = list(plan.walk())
    fields = [field.name for field in plan.fields]
    yield f"  {_count(len(sections), 'section')}, {_count(len(fields), 'field')}"
    for section in sections:
        if section.summary is not None:
            yield f"  proposed  a summary of `{section.key}`: its first sentence"
    for field in plan.of_kind(Kind.COMPUTED):
        yield f"  compute   {field.name} = {_short(field.source)}"
    for field in plan.of_kind(Kind.REMAINDER):
        yield f"  remainder {field.name}: {field.reason}: {_short(field.source)}"
    for lost in plan.original.lost:
        head, _, rest = lost.strip().partition("\n")
        yield f"  left out  {_short(f'{head} {rest}')}"
    for note in dict.fromkeys((*plan.original.notes, *plan.notes)):
        yield f"  changed   {visible(note)}"
    yield from verdict(adoption)


def as_data(adoption: Adoption) -> dict[str, object]:
    """Return the module, what is left to do, and the proof, for programs."""
    plan, proof = adoption.plan, adoption.proof
    return {
        "name": plan.variable,
        "style": plan.original.style,
        "text": adoption.text,
        "sections": [section.key for section in plan.walk()],
        "fields": [
            {
                "name": field.name,
                "type": field.type,
                "kind": field.kind,
                "source": field.source,
                "reason": field.reason,
            }
            for field in plan.all_fields()
        ],
        "left_out": list(plan.original.lost),
        "notes": [*plan.original.notes, *plan.notes],
        "whole": adoption.is_whole,
        "same": proof.is_same,
        "exact": proof.is_same and proof.is_exact,
        "samples": proof.count,
        "difference": proof.difference,
        "failure": proof.failure,
    }


def verdict(adoption: Adoption) -> Iterator[str]:
    """Yield how the texts compare, and how much is left to do by hand."""
    proof = adoption.proof
    if proof.failure:
        yield f"NOT PROVED to show the same text: {visible(proof.failure)}"
    elif proof.difference:
        yield "DIFFERENT: for sample values, it doesn't show the text of the source"
        yield from (f"  {visible(line)}" for line in proof.difference.split("\n"))
    else:
        values = f"with {proof.count} sets of sample values" if proof.count > 1 else "as it is"
        but = "" if proof.is_exact else ", but for blank lines where sections meet"
        yield f"same text {values}, byte for byte{but}"
    if count := adoption.plan.remainders:
        yield f"{_count(count, 'remainder')} marked: see the comments of the module"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return visible(line if len(line) <= 72 else f"{line[:71]}…")
