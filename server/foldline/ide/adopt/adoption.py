"""Turns a prompt that is a string, an f-string, a template or messages into a prompt module."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from foldline.backends.files.limits import PROMPT_MODULE_BYTES
from foldline.backends.files.reader import read_text
from foldline.backends.formatting.visible import visible
from foldline.ide.adopt import find
from foldline.ide.adopt.model import AdoptError, JinjaOptions, Kind, Style, Text
from foldline.ide.adopt.plan import plan as plan_of
from foldline.ide.adopt.proof import UNTRUSTED, prove
from foldline.ide.adopt.read import read_candidate, read_template
from foldline.ide.adopt.sections import NotRepresentableError
from foldline.ide.adopt.write import module_text
from foldline.ide.analysis.module_analysis import with_line_feeds
from foldline.prompts import errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foldline.ide.adopt.find import Candidate
    from foldline.ide.adopt.model import Original
    from foldline.ide.adopt.plan import Plan
    from foldline.ide.adopt.proof import Proof

_JINJA_SUFFIXES = (".j2", ".jinja", ".jinja2")


@dataclass(frozen=True, slots=True)
class Adoption:
    """A new module, and how it compares with its source.

    Attributes:
        text: The module.
    """

    plan: Plan
    text: str
    proof: Proof

    @property
    def is_whole(self) -> bool:
        """True if nothing of the source is a remainder."""
        return not self.plan.remainders


def read_file(
    file: Path, *, name: str | None, style: Style | None, options: JinjaOptions | None
) -> Original:
    """Read a prompt of a file on the disk; see `read`.

    Raises:
        AdoptError: The file has no such prompt, or several.
        PathError: It can't be read.
    """
    text = read_text(file, PROMPT_MODULE_BYTES, strict=True)
    return read(file, text, name=name, style=style, options=options)


def output_path(file: Path, adoption: Adoption) -> Path:
    """Return the module that is written beside a file, unless another one is named."""
    name = adoption.plan.variable
    return file.with_name(f"{name}.py" if name.endswith("prompt") else f"{name}_prompt.py")


def adopt(original: Original) -> Adoption:
    """Return the prompt module for what was read, before it is compared.

    Raises:
        AdoptError: No module can be made of it.
    """
    nodes = (node for message in original.messages for node in message.nodes)
    if not any(node.text.strip() if isinstance(node, Text) else True for node in nodes):
        raise AdoptError("the text is empty")
    try:
        made = plan_of(original)
    except NotRepresentableError:
        raise AdoptError(
            "the text can't be a section's: its first line is indented more than another one"
        ) from None
    return Adoption(made, module_text(made), UNTRUSTED)


async def compare(adoption: Adoption) -> Adoption:
    """Compare the texts, which runs the new module: only for a user who trusts the source."""
    return replace(adoption, proof=await prove(adoption.plan, adoption.text))


def read(
    file: Path,
    text: str,
    *,
    name: str | None = None,
    style: Style | None = None,
    options: JinjaOptions | None = None,
) -> Original:
    """Read a prompt of a file whose text is known.

    Args:
        file: The file, whose name is that of a prompt that is a whole file.
        text: Its text.
        name: The variable or function of the prompt; None for the only one.
        style: The style of a text; None for the one that it seems to be in.
        options: Those of the Jinja environment, for a file that is a template.

    Raises:
        AdoptError: The file has no such prompt, or several.
    """
    text = with_line_feeds(text)
    if style is None and file.suffix in _JINJA_SUFFIXES:
        style = Style.JINJA
    if file.suffix not in (".py", ".pyi"):
        if name is not None:
            raise AdoptError("only a Python module has names: the file is one prompt")
        chosen = style or find.style_of_text(text)
        if chosen in (Style.FSTRING, Style.MESSAGES):
            raise AdoptError(f"a file that is one text can't have the style {chosen}")
        return read_template(text, file.name.partition(".")[0], chosen, options or JinjaOptions())
    module = find.parse(text)
    if options is not None:
        module.jinja = options
    return read_candidate(module, _chosen(find.candidates(module), name), style)


def _chosen(found: list[Candidate], name: str | None) -> Candidate:
    likely = [candidate for candidate in found if candidate.is_likely]
    if name is None and not likely:
        raise AdoptError(
            "the module has no string that looks like a prompt; name the variable or function as "
            "FILE:NAME, or begin with `foldline new PATH`"
        )
    if name is None:
        if len(likely) == 1:
            return likely[0]
        raise AdoptError("the module has several prompts; name one", tuple(likely))
    for candidate in found:
        if candidate.name == name:
            return candidate
    within = [candidate for candidate in likely if candidate.name.startswith(f"{name}.")]
    if len(within) == 1:
        # A function that makes it in a variable.
        return within[0]
    tails = [candidate for candidate in found if candidate.name.rpartition(".")[2] == name]
    if len(tails) == 1:
        return tails[0]
    near = errors.near_names(name, [candidate.name for candidate in found])
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise AdoptError(f"the module has no text {name!r}{meant}", tuple(likely))


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
