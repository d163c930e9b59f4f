"""Proves that an adopted prompt shows the same text as its source, for sample values.

The source is interpreted here, or by Jinja in a sandboxed process; the new module is read from the
text that was written. Neither is imported.
"""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from foldline.ide.adopt import samples, sandbox
from foldline.ide.adopt.load import LoadError, load
from foldline.ide.adopt.model import AdoptError, Slot, Text
from foldline.ide.adopt.sections import indented
from foldline.prompts import SegmentKind
from foldline.prompts.errors import PromptRenderError, PromptValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from foldline.ide.adopt.fields import Field
    from foldline.ide.adopt.load import Loaded
    from foldline.ide.adopt.model import JinjaOptions
    from foldline.ide.adopt.plan import Plan
    from foldline.prompts.layout.blocks import Block

SECONDS = 30.0
"""The deadline of the process that renders Jinja templates."""

_BEGIN, _END = "\x02", "\x03"  # No blanks, which `lstrip_blocks` would leave out.
_JOINT = re.compile(r"(?:[ \t]*\n)+")
_LINES_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Proof:
    """The comparison of a source with its new prompt.

    Attributes:
        count: The sets of values with which they were compared.
        is_exact: The texts are the same byte for byte.
        difference: A diff of the first texts that differ; empty if none do.
        failure: Why they could not be compared; empty if they were.
        with_lines: Values of several lines were among them.
    """

    count: int = 0
    is_exact: bool = False
    difference: str = ""
    failure: str = ""
    with_lines: bool = True

    @property
    def is_same(self) -> bool:
        """True if the texts are the same, but for blank lines where sections meet."""
        return not self.difference and not self.failure


def prove(plan: Plan, text: str) -> Proof:
    """Compare the source of a plan with the prompt of the module that was written."""
    try:
        loaded = load(text)
    except (LoadError, PromptValidationError, SyntaxError) as error:
        return Proof(failure=f"the new module can't be read: {error}")
    # A section indents further lines of a value on an indented line, as the notes say.
    lines = not any(indented(section) for section in plan.walk())
    try:
        cases = list(_cases(plan, lines=lines))
    except (AdoptError, ValueError) as error:
        return Proof(failure=str(error))
    exact = True
    for count, (values, originals) in enumerate(cases):
        try:
            rendered = _bound(plan, loaded, values)
        except (PromptRenderError, PromptValidationError, ValueError, TypeError) as error:
            return Proof(count, failure=f"the new prompt can't be rendered: {error}")
        problem, is_exact = _compared(plan, originals, rendered)
        exact = exact and is_exact
        if problem:
            return Proof(count, difference=problem, with_lines=lines)
    return Proof(len(cases), exact, with_lines=lines)


def matches(original: str, pieces: Sequence[str]) -> bool:
    """Return True if a text is these headings and bodies, one after another.

    Blank lines between them, and spaces at the ends of their last lines, don't count.
    """
    text = _plain(original)
    position = _after_joint(text, 0)
    is_first = True
    for piece in pieces:
        body = _plain(piece).rstrip()
        body = body[_after_joint(body, 0) :]
        if not body:
            continue
        if not is_first:
            after = _after_joint(text, position)
            if after == position:
                return False
            position = after
        if not text.startswith(body, position):
            return False
        position += len(body)
        is_first = False
    return not text[position:].strip()


def _plain(text: str) -> str:
    return re.sub(r"^[ \t]+$", "", text, flags=re.M)


def _after_joint(text: str, position: int) -> int:
    joint = _JOINT.match(text, position)
    return position if joint is None else joint.end()


def _compared(plan: Plan, originals: Sequence[str], rendered: Any) -> tuple[str, bool]:
    """Return a diff if the texts differ, and True if they are exactly the same."""
    roles = [message.role for message in plan.original.messages]
    shown = {message.role.value: message for message in rendered.messages}
    exact = True
    for role, original in zip(roles, originals, strict=True):
        message = shown.pop(role or "user", None)
        text = "" if message is None else message.text
        blocks = () if message is None else [rendered.blocks[place] for place in message.blocks]
        exact = exact and text == original
        if not matches(original, [piece for block in blocks for piece in _pieces(block)]):
            return _diff(original, text), False
    left = [message.text for message in shown.values() if message.text]
    return (_diff("", "\n".join(left)), False) if left else ("", exact)


def _pieces(block: Block) -> Iterator[str]:
    heading, body = [], list(block.segments)
    if body and body[-1].kind is SegmentKind.SEPARATOR:
        del body[-1]
    if body and body[0].kind is SegmentKind.HEADING:
        # The separator after it is between two pieces.
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


def _bound(plan: Plan, loaded: Loaded, values: Mapping[str, Any]) -> Any:
    if not plan.fields:
        return loaded.template.render()
    given: dict[str, Any] = {}
    for known in plan.fields:
        value = values[known.name]
        if known.items is not None:
            item = loaded.classes[known.items.class_name]
            value = tuple(item(**part) for part in value)
        given[known.name] = value
    return loaded.template.render(loaded.classes[plan.class_name](**given))


def _cases(plan: Plan, *, lines: bool) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield values of the fields, and the texts of the source's messages with these values."""
    original = plan.original
    contexts: list[dict[str, Any]] = [{} for _ in range(samples.COUNT)]
    rendered: dict[int, list[str]] = {}
    made: dict[str, list[Any]] = {}
    sources = [source for source in original.sources if source]
    if sources:
        from foldline.ide.adopt.jinja import environment

        known = environment(original.jinja)
        all_text = "".join(sources)
        contexts = samples.contexts(known, all_text, original.guesses, lines=lines)
        rendered, made = _by_jinja(plan, contexts)
    if not plan.fields:
        contexts = contexts[:1]
    for place, context in enumerate(contexts):
        random = Random(place)
        values: dict[str, Any] = {}
        texts: dict[str, str] = {}
        for field in plan.fields:
            if field.name in made:
                value = made[field.name][place]
            else:
                kind = field.type if field.type in ("int", "float", "bool") else "str"
                raw = context.get(field.source)
                fresh = samples.text_value(place, kind, random, lines=lines)
                value = raw if isinstance(raw, str | int | float) else fresh
            values[field.name] = value
            texts[field.source] = str(value)
        found = []
        for number, message in enumerate(original.messages):
            if number in rendered:
                found.append(rendered[number][place])
            else:
                found.append(
                    "".join(
                        node.text if isinstance(node, Text) else texts[node.source]
                        for node in message.nodes
                        if isinstance(node, Text | Slot)
                    )
                )
        yield values, found


def _by_jinja(
    plan: Plan, contexts: Sequence[Mapping[str, Any]]
) -> tuple[dict[int, list[str]], dict[str, list[Any]]]:
    """Return the texts of the messages that are Jinja templates, and the values of fields."""
    original = plan.original
    jobs: list[str] = []
    numbers = [number for number, source in enumerate(original.sources) if source]
    jobs += [original.sources[number] for number in numbers]
    wanted: list[tuple[Field, Field | None]] = []
    for field in plan.fields:
        if field.items is not None:
            # The number of items.
            wanted.append((field, None))
            jobs.append(_looped(original.preamble, field.items.head, ""))
            for part in field.items.fields.all:
                wanted.append((field, part))
                jobs.append(_looped(original.preamble, field.items.head, _shown(part)))
        else:
            wanted.append((field, None))
            jobs.append(f"{original.preamble}{_BEGIN}{_shown(field)}{_END}")
    answers = render_all(jobs, contexts, original.jinja)
    rendered = {number: _texts(answers[place]) for place, number in enumerate(numbers)}
    made: dict[str, list[Any]] = {}
    for (field, inner), answer in zip(wanted, answers[len(numbers) :], strict=True):
        if field.items is None:
            made[field.name] = [
                _value(field, context, _between(text)[0])
                for context, text in zip(contexts, _texts(answer), strict=True)
            ]
            continue
        rows = [_between(text) for text in _texts(answer)]
        if inner is None:
            made[field.name] = [[{} for _ in row] for row in rows]
        else:
            for items, row in zip(made[field.name], rows, strict=True):
                for item, text in zip(items, row, strict=True):
                    item[inner.name] = text
    return rendered, made


def _shown(field: Field) -> str:
    if field.is_whole:
        return field.source
    if field.type == "bool":
        return f"{{% if {field.source} %}}1{{% endif %}}"
    return f"{{{{ {field.source} }}}}"


def _looped(preamble: str, head: str, text: str) -> str:
    return f"{preamble}{{% {head} %}}{_BEGIN}{text}{_END}{{% endfor %}}"


def _between(text: str) -> list[str]:
    return re.findall(rf"{_BEGIN}([^{_END}]*){_END}", text)


def _value(field: Field, context: Mapping[str, Any], text: str) -> Any:
    if field.type == "bool":
        return text == "1"
    if field.type == "int":
        return int(text)
    if field.type == "float":
        return float(text)
    if field.type.startswith("Annotated["):
        raw = sandbox.made(context.get(field.source))
        if raw is None or field.type.startswith("Annotated[str"):
            return raw if raw is None else str(raw)
        return tuple(map(str, raw))
    return text


def _texts(answer: Sequence[Sequence[Any]]) -> list[str]:
    for done, text in answer:
        if not done:
            raise AdoptError(f"Jinja can't render it with sample values: {text}")
    return [text for _, text in answer]


def render_all(
    sources: Sequence[str], contexts: Sequence[Mapping[str, Any]], options: JinjaOptions
) -> list[list[list[Any]]]:
    """Render each template with each context, in a process with a deadline.

    Raises:
        AdoptError: It took too long, or too much memory.
    """
    jobs = [
        {
            "source": source,
            "trim_blocks": options.trim_blocks,
            "lstrip_blocks": options.lstrip_blocks,
            "contexts": contexts,
        }
        for source in sources
    ]
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(Path(sandbox.__file__))],
            input=json.dumps(jobs),
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
        raise AdoptError(f"Jinja took too long or too much memory with sample values ({last})")
    answers: list[list[list[Any]]] = json.loads(done.stdout)
    return answers
