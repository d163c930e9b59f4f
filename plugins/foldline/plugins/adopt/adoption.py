"""Turns a prompt that is a string, an f-string, a template or messages into a prompt module."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from foldline.backends.errors import PathError
from foldline.backends.files.base import FileBackend
from foldline.backends.files.limits import PROMPT_MODULE_BYTES
from foldline.backends.files.reader import read_bytes, read_text
from foldline.backends.formatting.parts import counted
from foldline.backends.formatting.visible import visible
from foldline.ide.analysis.modules import with_line_feeds
from foldline.plugins.adopt import data_files, find
from foldline.plugins.adopt.find import Candidate
from foldline.plugins.adopt.model import AdoptError, JinjaOptions, Kind, Original, Style, Text, Use
from foldline.plugins.adopt.plan import Plan
from foldline.plugins.adopt.plan import plan as plan_of
from foldline.plugins.adopt.proof import ESCAPED, UNTRUSTED, Proof, prove
from foldline.plugins.adopt.read import read_candidate
from foldline.plugins.adopt.rewrite import call_sites
from foldline.plugins.adopt.scopes import Calls, Module, callee_of
from foldline.plugins.adopt.sections import NotRepresentableError
from foldline.plugins.adopt.texts import TEMPLATES, is_plain_list, template_style
from foldline.plugins.adopt.uses import TOO_DEEP, in_workspace, parse
from foldline.plugins.adopt.write import module_text
from foldline.prompts import errors
from foldline.records import record

LONG = 1_500
"""A section of so many characters is offered to be summarized."""
MOST_LONG = 5
_IN_PLACE = (Style.TEXT, Style.FSTRING, Style.MESSAGES)
"""The styles of texts that are filled in where they stand."""
_PYTHON = (".py", ".pyi")
_ORDER_MARK = "\ufeff"
_DELIMITERS = {
    "block_start_string": "{%",
    "block_end_string": "%}",
    "variable_start_string": "{{",
    "variable_end_string": "}}",
    "comment_start_string": "{#",
    "comment_end_string": "#}",
    "line_statement_prefix": "None",
    "line_comment_prefix": "None",
}
"""The options of a Jinja environment that change how a template is read, and their defaults."""
_DELIMITER = re.compile(
    rf"\b({'|'.join(_DELIMITERS)})[\"']?\s*(?::\s*\w+\s*)?[=:]\s*([^=\s][^,)\n]*)"
)
_ESCAPES = re.compile(
    r"\bautoescape[\"']?\s*=\s*(?!=|False|select_autoescape\(.*default_for_string\s*=\s*False)\S"
    r"|[\"']autoescape[\"']\s*:\s*(?!False)\S"
)


@record
class Adoption:
    """A new module, and how it compares with its source."""

    plan: Plan
    text: str
    proof: Proof

    @property
    def is_whole(self) -> bool:
        """True if nothing of the source is a remainder, or left out."""
        return not self.plan.remainders and not self.plan.left_out

    @property
    def is_same(self) -> bool:
        """True if it was checked to send what the source does."""
        return self.proof.is_same and not self.plan.left_out


def output_path(file: Path, adoption: Adoption, taken: Container[Path] = ()) -> Path:
    """Return the module that is written beside a file, unless another one is named.

    It has the name of the prompt, with as many keys before it as it takes to be another one than
    those of `taken`, and at last the file's.
    """
    name, keys = adoption.plan.variable, re.findall(r"\w+", adoption.plan.original.name)
    for key in (*reversed(keys[:-1]), file.stem):
        if (path := _module_beside(file, name)) not in taken:
            return path
        name = f"{key.lower()}_{name}"
    return _module_beside(file, name)


def _module_beside(file: Path, name: str) -> Path:
    name = name if name[0].isalpha() else f"prompt_{name}"
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
        plan = plan_of(original)
    except NotRepresentableError:
        raise AdoptError(
            "the text can't be a section's: its first line is indented more than another one"
        ) from None
    return Adoption(plan, module_text(plan), UNTRUSTED)


async def compare(adoption: Adoption) -> Adoption:
    """Compare the texts, which runs the new module: only for a user who trusts the source."""
    return replace(adoption, proof=await prove(adoption.plan, adoption.text))


def read(
    file: Path,
    text: str | None = None,
    *,
    name: str | None = None,
    style: Style | None = None,
    options: JinjaOptions | None = None,
    files: FileBackend | None = None,
    line: int | None = None,
) -> Original:
    """Read a prompt of a file.

    Args:
        file: The file, whose name is that of a prompt that is a whole file.
        text: Its text; None for that on the disk.
        name: The variable, function or key of the prompt; None for the only one.
        style: The style of a text; None for the one that it seems to be in.
        options: Those of the Jinja environment, for a file that is a template.
        files: The workspace, in which calls that fill in the text are looked for.
        line: Without a name, the prompt of this line of a module is meant, if there is one.

    Raises:
        AdoptError: The file has no such prompt, or several, or its style has to be named.
        PathError: It can't be read.
    """
    if text is None:
        text = read_text(file, PROMPT_MODULE_BYTES, strict=True)
        text = order_mark(file) + text
    module = module_of(file, text, options)
    candidates = prompts_in(file, module, is_whole=style is not None and name is None)
    if name is not None and candidates and not candidates[0].name_is_key:
        raise AdoptError("the file is one prompt: only modules and data files have names")
    if name is None and line is not None and line >= 0:
        offset = module.lines.offset(line, 0)
        here = [one for one in candidates if one.start <= offset < one.end]
        here = [one for one in here if one.is_likely] or here
        # The innermost text: a function is one, and has some in it.
        least = min((one.end - one.start for one in here), default=0)
        candidates = [one for one in here if one.end - one.start == least] or candidates
        name = here[0].name if len(candidates) == len(here) == 1 else None
    candidate = _chosen(candidates, name, module)
    calls = None
    if files is not None and candidate.is_global:
        path = ""
        with suppress(PathError):
            path = files.resolve(str(file))
        (calls,) = in_workspace(files, [(path, candidate.name)]).values()
    return original_of(candidate, style, calls)


@contextmanager
def _deep() -> Iterator[None]:
    """Refuse what is nested deeper than Python follows it."""
    try:
        yield
    except RecursionError:
        raise AdoptError(TOO_DEEP) from None


def order_mark(file: Path) -> str:
    """Return the byte order mark with which a file begins, which reading it leaves out."""
    with suppress(PathError):
        head = read_bytes(file, PROMPT_MODULE_BYTES)[:3]
        return _ORDER_MARK if head == _ORDER_MARK.encode() else ""
    return ""


def module_of(file: Path, text: str, options: JinjaOptions | None = None) -> Module:
    """Return what a file has for adopting: a parsed module, or a text with an empty one.

    Raises:
        AdoptError: It should be Python, and isn't.
    """
    is_python = file.suffix in _PYTHON
    text = with_line_feeds(text.removeprefix(_ORDER_MARK)) if is_python else text
    with _deep():
        module = parse(text) if is_python else Module(text, ast.Module([], []))
    module.jinja = options or module.jinja
    return module


def prompts_in(file: Path, module: Module, *, is_whole: bool = False) -> list[Candidate]:
    """Return the texts of a file; with `is_whole`, a YAML, TOML or JSON file is one text.

    Raises:
        AdoptError: The file isn't of its format, or has no prompt.
    """
    if file.suffix in _PYTHON:
        with _deep():
            return find.candidates(module)
    return data_files.candidates(file, module, is_whole=is_whole)


def original_of(
    candidate: Candidate, style: Style | None = None, calls: Calls | None = None
) -> Original:
    """Read a prompt of a file, in a style or in the one that it seems to have.

    `calls` are those of other modules that fill it in.

    Raises:
        AdoptError: It can't be adopted, or its style has to be named.
    """
    if candidate.refusal:
        raise AdoptError(
            f"`{candidate.name}` is built step by step: {candidate.refusal}; make one text of it, "
            "or adopt its parts"
        )
    uses = list(candidate.calls.uses)
    if calls is not None and candidate.style is not Style.MESSAGES:
        uses += calls.uses
    if style in (Style.FSTRING, Style.MESSAGES) and not candidate.is_code:
        raise AdoptError(f"a text that isn't in a Python module can't have the style {style}")
    style = style or _style(candidate, calls)
    look = find.style_of_text(candidate.text) if style is Style.MESSAGES else style
    if look is Style.JINJA and candidate.is_code:
        _check_delimiters(candidate.module)
    with _deep():
        original = read_candidate(candidate, style, uses)
    is_jinja = candidate.is_code and any(one.source for one in original.messages)
    if is_jinja and _ESCAPES.search(candidate.module.text):
        original = replace(original, notes=(*original.notes, ESCAPED))
    node = candidate.node
    if not candidate.is_code or uses or original.style not in _IN_PLACE:
        return original
    is_other = original.style is Style.MESSAGES and not is_plain_list(node)
    if original.lost or is_other or any(one.source for one in original.messages):
        return original
    return replace(original, uses=(Use(original.style, ast.unparse(node), node.lineno),))


def _check_delimiters(module: Module) -> None:
    """Refuse Jinja texts of a module whose environment has other delimiters than Jinja's own."""
    for match in _DELIMITER.finditer(module.text):
        if (value := match[2].strip().strip("\"'")) != _DELIMITERS[match[1]]:
            line = module.text.count("\n", 0, match.start()) + 1
            raise AdoptError(
                f"the module has a Jinja environment with delimiters of its own (line {line}: "
                f"`{match[1]}`, {value}), and adopting reads Jinja's `{{{{ }}}}` and `{{% %}}` "
                "alone: write the text with these, or render it first"
            )


def _style(candidate: Candidate, calls: Calls | None) -> Style:
    """Return the style of a text, as calls or its look say; `AdoptError` if placeholders alone."""
    module, node, seems = candidate.module, candidate.node, candidate.style
    if seems is Style.MESSAGES:
        if candidate.is_code:
            return seems
        seems = find.style_of_text(candidate.text)
    told = candidate.calls.styles
    if isinstance(node, ast.Call) and callee_of(node) in TEMPLATES:
        told = {template_style(module, node)}
    if candidate.is_certain:
        told = {seems}
    if calls is not None:
        told = told | calls.styles
    uses = [*candidate.calls.uses, *(calls.uses if calls is not None else ())]
    if doubt := next((use.doubt for use in uses if "" in use.keywords), ""):
        styles = [style for style in Style if style in {*told, Style.REPLACE, Style.TEXT}]
        raise AdoptError(f"{doubt}: say how the text is read", styles=tuple(styles))
    styles = [style for style in Style if style in told]
    if len(styles) > 1:
        shown = " and ".join(style.label for style in styles)
        raise AdoptError(f"calls fill it in as {shown}: name one style", styles=tuple(styles))
    if styles:
        return styles[0]
    return find.settled(candidate.text, seems, is_code=candidate.is_code)


def _chosen(candidates: list[Candidate], name: str | None, module: Module) -> Candidate:
    likely = [candidate for candidate in candidates if candidate.is_likely]
    if name is None and not likely:
        raise AdoptError(
            "no text of the file looks like a prompt; name a variable, function or key as "
            "FILE:NAME, or begin with `foldline new PATH`"
        )
    if name is None:
        if len(likely) == 1:
            return likely[0]
        others = len(candidates) - len(likely)
        more = f"; {counted(others, 'other text')} can be named, too" if others else ""
        raise AdoptError(f"the file has {len(likely)} prompts; name one{more}", tuple(likely))
    exact = [candidate for candidate in candidates if candidate.name == name]
    # A function makes it in a variable.
    within = [candidate for candidate in candidates if candidate.name.startswith(f"{name}.")]
    within = [candidate for candidate in within if candidate.is_likely] or within
    tails = [candidate for candidate in candidates if candidate.name.rpartition(".")[2] == name]
    for meant in (exact, within, tails):
        if len(meant) == 1:
            return meant[0]
        if meant is exact and meant:
            raise AdoptError(f"the file has {len(meant)} texts of the name `{name}`: rename a key")
        if meant:
            raise AdoptError(f"`{name}` has {len(meant)} texts; name one", tuple(meant))
    if origin := find.made_by(module, name):
        raise AdoptError(f"`{name}` has no text that adopting can read: it {origin}")
    near = errors.near_names(name, [candidate.name for candidate in candidates])
    question = f"; did you mean {' or '.join(near)}?" if near else ""
    raise AdoptError(f"the file has no text {name!r}{question}", tuple(likely))


def report(adoption: Adoption) -> Iterator[str]:
    """Yield what was made, what is left to do, and how the texts compare."""
    plan = adoption.plan
    sections = list(plan.walk())
    fields = [field.name for field in plan.fields]
    yield f"  {counted(len(sections), 'section')}, {counted(len(fields), 'field')}"
    for section in [section for section in sections if len(section.text) >= LONG][:MOST_LONG]:
        size = f"`{section.key}`, {len(section.text):,} characters"
        yield f"  long      {size}: with a summary of yours, the model can open it when it needs it"
    for field in plan.of_kind(Kind.COMPUTED):
        once = ", once for all its places" if field.is_called_once else ""
        yield f"  compute   {field.name} = {_short(field.source)}{once}"
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
            {part: getattr(field, part) for part in ("name", "type", "kind", "source", "reason")}
            for field in plan.all_fields()
        ],
        "calls": [
            {"path": use.file, "line": use.line, "source": use.source, "replacement": new}
            for use, new in call_sites(plan)
        ],
        "left_out": list(plan.original.lost),
        "notes": [*plan.original.notes, *plan.notes],
        "whole": adoption.is_whole,
        "same": proof.is_same,
        "exact": proof.is_same and not proof.but,
        "but": list(proof.but),
        "samples": proof.count,
        "difference": proof.difference,
        "failure": proof.failure,
    }


def verdict(adoption: Adoption) -> Iterator[str]:
    """Yield how the texts compare, and how much is left to do by hand."""
    proof, plan = adoption.proof, adoption.plan
    values = f" for {proof.count} sets of sample values" if plan.fields else ""
    if proof.failure:
        yield f"NOT CHECKED: {visible(proof.failure)}"
    elif proof.difference:
        yield "DIFFERENT: the new prompt doesn't show the text of the source for sample values"
        yield from (f"  {visible(line)}" for line in proof.difference.split("\n"))
    else:
        but = f", but for {'; '.join(proof.but)}" if proof.but else ", byte for byte"
        yield f"checked: the new prompt shows the same text{values}{but}"
    if left_out := plan.left_out:
        yield f"LEFT OUT: {counted(left_out, 'message')}: see the comment at the top of the module"
    if remainders := plan.remainders:
        yield f"your code makes {counted(remainders, 'text')}: see REMAINDER in the module"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return visible(line if len(line) <= 72 else f"{line[:71]}…")
