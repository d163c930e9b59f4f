"""Compares an adopted prompt with its source, for sample values.

Python texts are formatted with the values; Jinja renders its templates in a sandboxed process. A
render worker runs the module that was written: in foldline's own Python, because the module imports
nothing else, and the source's project may not have foldline yet. The source is never imported.
"""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from foldline.backends.base.waiting import in_thread
from foldline.ide.adopt import sandbox
from foldline.ide.adopt.find import AFTER
from foldline.ide.adopt.model import AdoptError, Kind, Slot, Text
from foldline.ide.adopt.read import SHARED
from foldline.ide.adopt.sections import indented
from foldline.ide.errors import RenderError
from foldline.ide.prompts.request import View
from foldline.ide.render.interpreter import Interpreter
from foldline.ide.render.render import Render
from foldline.ide.render.renderer import Job, Renderer
from foldline.ide.settings import Network
from foldline.prompts import SegmentKind
from foldline.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from foldline.ide.adopt.model import Field, Message
    from foldline.ide.adopt.plan import Plan
    from foldline.ide.render.render import Block

SECONDS = 30.0
"""The deadline of each process: the one that renders Jinja templates, and the render worker."""

# Marks that aren't blanks, which `lstrip_blocks` would strip.
_BEGIN, _ITEM = "\x02", "\x03"
_JOINT = re.compile(r"(?:[ \t]*\n)+")
_LINES_SHOWN = 30


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Case:
    """Values of the fields, as JSON, and the texts of the source's messages with these values."""

    values: Mapping[str, Any]
    texts: Sequence[str]


async def prove(plan: Plan, text: str) -> Proof:
    """Compare the source of a plan with the prompt of the module that was written."""
    try:
        cases = await in_thread(partial(make_cases, plan))
        params = [{plan.class_name: case.values} if plan.fields else {} for case in cases]
        renders = await render_module(text, params)
    except RenderError as error:
        return Proof(failure=f"the new prompt can't be rendered: {error}")
    except ValueError as error:
        return Proof(failure=str(error))
    return compare(plan, cases, renders)


async def render_module(
    text: str, params: Sequence[Mapping[str, Mapping[str, Any]]]
) -> list[Sequence[Block]]:
    """Return the blocks of a module's prompt with each of these values.

    Raises:
        RenderError: It can't be rendered.
    """
    interpreter = Interpreter(Path(sys.executable), "foldline's own")
    renderer = Renderer()
    with TemporaryDirectory(prefix="foldline-adopt-") as folder:
        # The folder stays empty: nothing beside the module is imported.
        file = Path(folder).resolve() / "adopted_prompt.py"
        fixed = {"action": "render", "version": VERSION, "name": None, "values": None}
        renders: list[Sequence[Block]] = []
        try:
            for values in params:
                job = Job(
                    file=file,
                    root=file.parent,
                    overlays={str(file): text},
                    deadline=SECONDS,
                    action={**fixed, "network": Network.DENY, **View(params=values).request()},
                )
                renders.append((await renderer.run(interpreter, job, Render)).blocks)
        finally:
            await renderer.stop()
    return renders


def compare(plan: Plan, cases: Sequence[Case], renders: Sequence[Sequence[Block]]) -> Proof:
    """Compare the texts of each case with the blocks that the new prompt shows for it."""
    but = dict.fromkeys(_not_compared(plan))
    if SHARED in plan.original.notes:
        but["the indentation that all lines share"] = None
    for count, (case, blocks) in enumerate(zip(cases, renders, strict=True)):
        difference, differs = _compared(plan, case, blocks)
        but |= dict.fromkeys(differs)
        if difference:
            return Proof(count, difference=difference)
    return Proof(len(cases), tuple(but))


def _not_compared(plan: Plan) -> Iterator[str]:
    """Yield what differs for values that the samples don't have."""
    names = [f"`{name}`" for section in plan.walk() for name in indented(section)]
    if names:
        shown = ", ".join(dict.fromkeys(names))
        yield f"the further lines of {shown}, which get the indentation of the first"
    if any({"dedent", "cleandoc"} & set(message.after) for message in plan.original.messages):
        yield "values of several lines, with which the source's `dedent` can leave its indentation"


_NORMAL: dict[str, Callable[[str], str]] = {
    "line breaks and blanks at its ends": str.strip,
    "blanks at the ends of lines": lambda text: re.sub(r"[ \t]+$", "", text, flags=re.M),
    "blank lines where sections meet": lambda text: re.sub(r"\n(?:[ \t]*\n)+", "\n", text),
}


def _differences(original: str, text: str) -> tuple[str, ...] | None:
    """Return what differs in two texts, in words; None if it is more than white space."""
    if original == text:
        return ()

    def same(names: Sequence[str]) -> bool:
        one, other = original, text
        for _ in range(2):  # What one leaves, another may remove.
            for name in names:
                one, other = _NORMAL[name](one), _NORMAL[name](other)
        return one == other

    names = list(_NORMAL)[::-1]
    if not same(names):
        return None
    for name in list(names):
        rest = [other for other in names if other != name]
        if same(rest):
            names = rest
    return tuple(names[::-1])


def matches(original: str, pieces: Sequence[str]) -> bool:
    """Return True if a text is these headings and bodies, one after another.

    Blank lines between them, and spaces at the ends of their last lines, don't count.
    """
    text, position = _plain(original).lstrip(), 0
    bodies = [body for piece in pieces if (body := _plain(piece).rstrip().lstrip("\n"))]
    for place, body in enumerate(bodies):
        if place:
            joint = _JOINT.match(text, position)
            if joint is None:
                return False
            position = joint.end()
        shown = body if place else body.lstrip()
        if not text.startswith(shown, position):
            return False
        position += len(shown)
    return not text[position:].strip()


def _plain(text: str) -> str:
    return re.sub(r"^[ \t]+$", "", text, flags=re.M)


def _compared(plan: Plan, case: Case, blocks: Sequence[Block]) -> tuple[str, Sequence[str]]:
    """Return a diff if the texts differ, and in words what differs in white space."""
    shown: dict[str, list[Block]] = {}
    for block in blocks:
        if block.segments:
            shown.setdefault(block.role, []).append(block)
    differs: list[str] = []
    for message, original in zip(plan.original.messages, case.texts, strict=True):
        own = shown.pop(message.role or "user", [])
        text = _text(own)
        white = _differences(original, text)
        if white is None or not matches(
            original, [one for block in own for one in pieces_of(block)]
        ):
            return _diff(original, text), ()
        differs += white
    left = "\n".join(map(_text, shown.values()))
    return (_diff("", left), ()) if left else ("", differs)


def _text(blocks: Sequence[Block]) -> str:
    """Return the text of a message, which lacks the blank line below its last block."""
    text = "".join(block.text for block in blocks)
    last = blocks[-1].segments[-1] if blocks else None
    is_separator = last is not None and last.kind == SegmentKind.SEPARATOR
    return text.removesuffix(last.text) if last is not None and is_separator else text


def pieces_of(block: Block) -> Iterator[str]:
    """Yield the heading of a block, and its body."""
    heading, body = [], list(block.segments)
    if body and body[-1].kind == SegmentKind.SEPARATOR:
        del body[-1]
    if body and body[0].kind == SegmentKind.HEADING:
        # Skip the separator between the two pieces.
        heading, body = body[:1], body[2:]
    for segments in (heading, body):
        yield "".join(segment.text for segment in segments)


def _diff(original: str, text: str) -> str:
    lines = list(
        difflib.unified_diff(
            original.split("\n"), text.split("\n"), "the source", "the new prompt", lineterm="", n=1
        )
    )
    rest = len(lines) - _LINES_SHOWN
    return "\n".join([*lines[:_LINES_SHOWN], *([f"… {rest} more lines"] if rest > 0 else [])])


def make_cases(plan: Plan) -> list[Case]:
    """Return values of the fields, and the source's texts with them.

    Raises:
        AdoptError: Jinja can't render the source.
    """
    messages = plan.original.messages
    templates = [message.source for message in messages if message.source]
    job = _job(plan, templates)
    # Jinja makes all values of a prompt that has a template.
    rendered = render_templates(job) if templates else []
    cases = []
    for place in range(sandbox.COUNT if plan.fields else 1):
        column = iter([texts[place] for texts in rendered])
        made = [next(column) if message.source else "" for message in messages]
        values = {
            field.name: _value(field, next(column)) if templates else _sample(job, place, field)
            for field in plan.fields
        }
        shown = {field.source: str(values[field.name]) for field in plan.fields}
        texts = [
            text if message.source else _filled(message, shown, SHARED in plan.original.notes)
            for message, text in zip(messages, made, strict=True)
        ]
        cases.append(Case(values, texts))
    return cases


def _filled(message: Message, shown: Mapping[str, str], is_shared: bool) -> str:
    """Return a message that Python makes; where it has shared indentation, without that."""
    nodes = message.nodes if is_shared else message.raw
    text = "".join(
        node.text if isinstance(node, Text) else shown[node.source]
        for node in nodes
        if isinstance(node, Text | Slot)
    )
    for callee in message.after:
        text = AFTER[callee](text)
    return text


def _sample(job: Mapping[str, Any], place: int, field: Field) -> Any:
    kinds: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "bool": bool}
    return kinds.get(field.type, str)(sandbox.Sample(job, place, field.source))


def _job(plan: Plan, templates: Sequence[str]) -> dict[str, Any]:
    """Return what `sandbox.py` makes values of and renders, as JSON."""
    constants: Mapping[str, Sequence[object]] = {}
    if templates:
        from foldline.ide.adopt.jinja import constants_of

        constants = constants_of("".join(templates), plan.original.jinja)
    fields = [_field_template(plan.original.preamble, field) for field in plan.fields]
    return {
        "sources": [*templates, *fields],
        "options": asdict(plan.original.jinja),
        # A section indents further lines of a value on an indented line, as the notes say.
        "lines": not any(_not_compared(plan)),
        "types": {one.source: one.type for one in plan.fields if one.type in ("int", "float")},
        "constants": constants,
    }


def _field_template(preamble: str, field: Field) -> str:
    """Return a template that shows the value of a field, or those of its items."""
    if _is_list(field):
        loop = f"{{% for item in {field.source} %}}{_ITEM}{_BEGIN}{{{{ item }}}}{{% endfor %}}"
        return f"{preamble}{loop}"
    if field.items is None:
        return f"{preamble}{_BEGIN}{_shown(field)}"
    parts = "".join(f"{_BEGIN}{_shown(part)}" for part in field.items.fields.all)
    return f"{preamble}{{% {field.items.head} %}}{_ITEM}{parts}{{% endfor %}}"


def _is_list(field: Field) -> bool:
    return field.items is None and field.type.startswith("Annotated[tuple")


def _shown(field: Field) -> str:
    if field.kind is Kind.REMAINDER:
        return field.source
    if field.type == "bool":
        return f"{{% if {field.source} %}}1{{% endif %}}"
    return f"{{{{ {field.source} }}}}"


def _value(field: Field, text: str) -> Any:
    """Return the value that a field's template has shown."""
    rows = [row.split(_BEGIN)[1:] for row in text.split(_ITEM)[1:]]
    if _is_list(field):
        return [row[0] for row in rows]
    if field.items is not None:
        names = [part.name for part in field.items.fields.all]
        return [dict(zip(names, row, strict=True)) for row in rows]
    text = text.partition(_BEGIN)[2]
    if field.type == "bool":
        return text == "1"
    return {"int": int, "float": float}.get(field.type, str)(text)


def render_templates(job: Mapping[str, Any]) -> list[list[str]]:
    """Return the texts of each template of a job, rendered in a process with a deadline.

    Raises:
        AdoptError: One can't be rendered, or took too long, or too much memory.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(Path(sandbox.__file__))],
            input=json.dumps(job),
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise AdoptError(f"Jinja took longer than {SECONDS:g} s with sample values") from None
    except OSError as error:
        raise AdoptError(f"the process that renders can't be started: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        if done.returncode == sandbox.REFUSED:
            raise AdoptError(f"Jinja can't render it with sample values: {last}")
        raise AdoptError(f"Jinja took too long or too much memory with sample values ({last})")
    texts: list[list[str]] = json.loads(done.stdout)
    return texts
