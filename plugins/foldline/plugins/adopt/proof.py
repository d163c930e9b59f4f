"""Compares an adopted prompt with its source, for sample values.

A process with limits (`sandbox.py`) makes the values, renders Jinja templates with them, and runs
the module that was written: in foldline's own Python, because the module imports nothing else, and
the source's project may not have foldline yet. The source is never imported.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from foldline.backends.base.waiting import in_thread
from foldline.plugins.adopt import sandbox
from foldline.plugins.adopt.data_files import LONE_RETURNS, ORDER_MARK
from foldline.plugins.adopt.filling import REFUSED, filled
from foldline.plugins.adopt.model import AdoptError, Field, Kind, Message, Node, Slot, Text
from foldline.plugins.adopt.plan import Plan
from foldline.plugins.adopt.read import RETURNS, SHARED
from foldline.plugins.adopt.sections import indented
from foldline.plugins.adopt.texts import AFTER
from foldline.records import record

SECONDS = 30.0
"""The deadline of the process that renders."""

ENDS, LINE_ENDS, JOINTS = WHITE_SPACE = (
    "line breaks and blanks at its ends",
    "blanks at the ends of lines",
    "blank lines where sections meet",
)
ESCAPED = (
    "the module's Jinja environment has `autoescape`, which escapes HTML in values, and the new "
    "prompt doesn't"
)
"""The note on a template whose environment escapes HTML."""
_NOTED = {
    SHARED: "the indentation that all lines share",
    RETURNS: "line breaks, which are `\\r\\n` in the source",
    LONE_RETURNS: "line breaks, which are a lone `\\r` in the source",
    ORDER_MARK: "the byte order mark at the beginning of the source",
    ESCAPED: "`<`, `>`, `&` and quotes in values, which `autoescape` writes as `&lt;` …",
}
_LINES_SHOWN = 30


@record
class Proof:
    """The comparison of a source with its new prompt.

    Attributes:
        count: The sets of values with which they were compared.
        but: What differs in texts that are the same otherwise; empty if every byte is the same.
        difference: A diff of the first texts that differ; empty if none do.
        failure: Why they could not be compared; empty if they were.
    """

    count: int = 0
    but: tuple[str, ...] = ()
    difference: str = ""
    failure: str = ""

    @property
    def is_same(self) -> bool:
        """True if the texts are the same, but for what `but` names."""
        return not self.difference and not self.failure


UNTRUSTED = Proof(
    failure="to compare it, the new module has to run, and this workspace isn't trusted"
)


async def prove(plan: Plan, text: str) -> Proof:
    """Compare the source of a plan with the prompt of the module that was written."""
    try:
        return compare(plan, await in_thread(partial(run, job_of(plan, text))))
    except AdoptError as error:
        return Proof(failure=str(error))


def run(job: Mapping[str, Any]) -> list[sandbox.Case]:
    """Return the cases of a job, which a process with a deadline renders.

    Raises:
        AdoptError: One can't be rendered, or took too long, or too much memory.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-EP", str(Path(sandbox.__file__))],
            input=json.dumps(job),
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise AdoptError(f"with sample values, it took longer than {SECONDS:g} s") from None
    except OSError as error:
        raise AdoptError(f"the process that renders can't be started: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        if done.returncode == sandbox.REFUSED:
            raise AdoptError(last)
        raise AdoptError(f"with sample values, it took too long or too much memory ({last})")
    cases: list[sandbox.Case] = json.loads(done.stdout)
    return cases


def compare(plan: Plan, cases: Sequence[sandbox.Case]) -> Proof:
    """Compare the texts of the source with those of the new prompt, in each case.

    Raises:
        AdoptError: The source's own formatting refuses the text.
    """
    is_shared = SHARED in plan.original.notes
    white: set[str] = set()
    for count, (values, texts, messages) in enumerate(cases):
        rendered = iter(texts)
        sources = {field.source: str(values[field.name]) for field in plan.fields}
        shown = {role: (text, pieces) for role, text, pieces in messages}
        for message in plan.original.messages:
            if message.written and message.style in REFUSED:
                source_text = filled(message, sources, plan.original.uses)
                if source_text != (read := _shown_nodes(message.raw, sources)):
                    return Proof(count, difference=_diff(source_text, read))
            original = next(rendered) if message.source else _filled(message, sources, is_shared)
            if RETURNS in plan.original.notes:
                original = original.replace("\r\n", "\n")
            text, pieces = shown.pop(message.role or "user", ("", []))
            if (differs := differences(original, text, pieces)) is None:
                return Proof(count, difference=_diff(original, text))
            white |= differs
        if left := "".join(text for text, _ in shown.values()):
            return Proof(count, difference=_diff("", left))
    told = [words for note, words in _NOTED.items() if note in plan.original.notes]
    but = (*_not_compared(plan), *told, *(one for one in WHITE_SPACE if one in white))
    return Proof(len(cases), but)


def _not_compared(plan: Plan) -> Iterator[str]:
    """Yield what differs for values that the samples don't have."""
    names = [f"`{name}`" for section in plan.walk() for name in indented(section)]
    if names:
        shown = ", ".join(dict.fromkeys(names))
        yield f"the further lines of {shown}, which get the indentation of the first"
    if any({"dedent", "cleandoc"} & set(message.after) for message in plan.original.messages):
        yield "values of several lines, with which the source's `dedent` can leave its indentation"


def differences(original: str, text: str, pieces: Sequence[str]) -> set[str] | None:
    """Return in words what differs in two texts; None if it is more than white space.

    `pieces` are the headings and bodies of the new prompt: blank lines between them don't count.
    """
    old, new = _lines(original), _lines(text)
    if len(old) != len(new):
        return None
    begins = {0, *accumulate(len(_lines(piece)) - 1 for piece in pieces)}
    kinds: set[str] = set()
    for index, ((above, line), (other_above, other)) in enumerate(zip(old, new, strict=True)):
        if line.rstrip() != other.rstrip():
            if index or line.strip() != other.strip():
                return None
            kinds.add(ENDS)
        elif line != other:
            kinds.add(ENDS if index == len(new) - 2 else LINE_ENDS)
        if above != other_above:
            if index in (0, len(new) - 1):
                kinds.add(ENDS)
            elif index in begins:
                kinds.add(JOINTS)
            elif above.count("\n") == other_above.count("\n"):
                kinds.add(LINE_ENDS)
            else:
                return None
    return kinds


def _lines(text: str) -> list[tuple[str, str]]:
    """Return the lines that aren't blank, each below the blank ones above it; the last is empty."""
    lines, above = [], ""
    for line in text.split("\n"):
        if line.strip():
            lines.append((above, line))
            above = ""
        else:
            above += f"{line}\n"
    return [*lines, (above, "")]


def _diff(original: str, text: str) -> str:
    lines = list(
        difflib.unified_diff(
            original.split("\n"), text.split("\n"), "the source", "the new prompt", lineterm="", n=1
        )
    )
    rest = len(lines) - _LINES_SHOWN
    return "\n".join([*lines[:_LINES_SHOWN], *([f"… {rest} more lines"] if rest > 0 else [])])


def _filled(message: Message, shown: Mapping[str, str], is_shared: bool) -> str:
    """Return a message that Python makes; where it has shared indentation, without that."""
    text = _shown_nodes(message.nodes if is_shared else message.raw, shown)
    for callee in message.after:
        text = AFTER[callee](text)
    return text


def _shown_nodes(nodes: Sequence[Node], shown: Mapping[str, str]) -> str:
    return "".join(
        node.text if isinstance(node, Text) else shown[node.source]
        for node in nodes
        if isinstance(node, Text | Slot)
    )


def job_of(plan: Plan, text: str) -> dict[str, Any]:
    """Return what `sandbox.py` makes values of, and renders, as JSON."""
    constants: Mapping[str, Sequence[object]] = {}
    templates = [message.source for message in plan.original.messages if message.source]
    if templates:
        from foldline.plugins.adopt.jinja import constants_of

        constants = constants_of("".join(templates), plan.original.jinja)
    return {
        "templates": templates,
        "fields": [_field_job(field, plan.original.preamble) for field in plan.fields],
        "options": asdict(plan.original.jinja),
        # A section indents further lines of a value on an indented line, as the notes say.
        "lines": not any(_not_compared(plan)),
        "types": {one.source: one.type for one in plan.fields if one.type in ("int", "float")},
        "constants": constants,
        "module": text,
        "prompt": plan.variable,
        "params": plan.class_name,
    }


def _field_job(field: Field, preamble: str) -> dict[str, Any]:
    """Return a field with the template that gives its value, or those of its items, to `_row`."""
    items = field.items
    is_list = items is not None or field.type.startswith("Annotated[tuple")
    head = items.head if items else f"for item in {field.source}" if is_list else "if true"
    end = "endfor" if is_list else "endif"
    parts = [field] if items is None else items.fields.all
    shown = [_shown(part) if items or not is_list else "{{ item }}" for part in parts]
    sets = "".join(f"{{% set _{n} %}}{one}{{% endset %}}" for n, one in enumerate(shown))
    row = ", ".join(f"_{number}" for number in range(len(parts)))
    return {
        "name": field.name,
        "source": field.source,
        "type": field.type,
        "is_list": is_list,
        "item": items and items.class_name,
        "parts": [part.name for part in parts],
        "template": f"{preamble}{{% {head} %}}{sets}{{{{ _row({row}) }}}}{{% {end} %}}",
    }


def _shown(field: Field) -> str:
    if field.kind is Kind.REMAINDER:
        return field.source
    if field.type == "bool":
        return f"{{% if {field.source} %}}1{{% endif %}}"
    return f"{{{{ {field.source} }}}}"
