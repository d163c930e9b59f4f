"""Reads a prompt of any style into nodes."""

from __future__ import annotations

import ast
import textwrap
from string import Formatter, Template
from typing import TYPE_CHECKING

from foldline.ide.adopt import find
from foldline.ide.adopt.model import (
    MARK,
    AdoptError,
    JinjaOptions,
    Kind,
    Message,
    Original,
    Slot,
    Style,
    Text,
    joined,
)

if TYPE_CHECKING:
    from foldline.ide.adopt.find import Candidate, Module
    from foldline.ide.adopt.model import Guess, Node

LONGEST = 400_000
"""The longest source that is read, in characters."""

ORDER = ("system", "developer", "user")


def read_template(text: str, name: str, style: Style, options: JinjaOptions) -> Original:
    """Read a file that is one prompt.

    Raises:
        AdoptError: It can't be adopted in this style.
    """
    return _one(name, style, text.replace("\r\n", "\n"), {}, options)


def read_candidate(module: Module, candidate: Candidate, style: Style | None) -> Original:
    """Read a prompt of a module, in its own style or in the one that the user has named.

    Raises:
        AdoptError: It can't be adopted.
    """
    guesses = find.guesses(module, candidate)
    if candidate.style is Style.MESSAGES:
        return _messages(module, candidate, guesses)
    name = candidate.name
    text = find.text_of(module, candidate.node)
    style = style or candidate.style
    if style is not Style.FSTRING and text is not None:
        return _one(name, style, text, guesses, module.jinja)
    notes: list[str] = []
    nodes = _dedented(_f_string(module, candidate.node), notes)
    return Original(name, Style.FSTRING, (Message(None, nodes),), guesses, notes=tuple(notes))


def _one(
    name: str, style: Style, text: str, guesses: dict[str, Guess], options: JinjaOptions
) -> Original:
    if len(text) > LONGEST:
        raise AdoptError(f"the text is longer than {LONGEST:,} characters")
    notes: list[str] = []
    if style is Style.JINJA:
        from foldline.ide.adopt.jinja import read_jinja

        text = _dedented_source(text, notes)
        found = read_jinja(text, options)
        return Original(
            name,
            style,
            (Message(None, found.nodes),),
            guesses,
            options,
            found.preamble,
            (text,),
            tuple(notes),
            tuple(f"a comment:\n{text.strip()}" for text in found.comments),
        )
    nodes = _dedented(_nodes(text, style, notes), notes)
    return Original(name, style, (Message(None, nodes),), guesses, notes=tuple(notes))


def _nodes(text: str, style: Style, notes: list[str]) -> list[Node]:
    if style is Style.FORMAT:
        return _format(text)
    if style is Style.TEMPLATE:
        return _template(text, notes)
    return [Text(text)]


def _f_string(module: Module, node: ast.expr) -> list[Node]:
    nodes: list[Node] = []
    for piece in find.pieces_of(module, node) or ():
        if isinstance(piece, str):
            nodes.append(Text(piece))
        elif isinstance(piece, ast.FormattedValue):
            is_plain = piece.conversion == -1 and piece.format_spec is None
            if is_plain and isinstance(piece.value, ast.Name):
                nodes.append(Slot(piece.value.id))
            else:
                written = ast.unparse(ast.JoinedStr([piece]))
                source = ast.unparse(piece.value) if is_plain else written
                nodes.append(Slot(source, Kind.COMPUTED, hint=ast.unparse(piece.value)))
        else:
            is_name = isinstance(piece, ast.Name)
            nodes.append(Slot(ast.unparse(piece), Kind.VALUE if is_name else Kind.COMPUTED))
    return nodes


def _format(text: str) -> list[Node]:
    nodes: list[Node] = []
    count = 0
    try:
        for literal, name, spec, conversion in Formatter().parse(text):
            if literal:
                nodes.append(Text(literal))
            if name is None:
                continue
            if not name or name.isdecimal():
                count += 1
                place = name or str(count - 1)
                nodes.append(Slot(f"argument {place}", Kind.VALUE, hint=f"value_{place}"))
                continue
            extra = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
            is_plain = name.isidentifier() and not extra
            kind = Kind.VALUE if is_plain else Kind.COMPUTED
            source = name if is_plain else f"{{{name}{extra}}}"
            nodes.append(Slot(source, kind, hint="" if is_plain else name))
    except ValueError as error:
        raise AdoptError(
            f"`str.format` can't read the text: {error}; if it is shown as it is, name the style: "
            "--style text"
        ) from None
    return nodes


def _template(text: str, notes: list[str]) -> list[Node]:
    nodes: list[Node] = []
    position = 0
    for match in Template.pattern.finditer(text):
        literal = text[position : match.start()]
        position = match.end()
        if name := match["named"] or match["braced"]:
            nodes += [Text(literal), Slot(name)]
        elif match["escaped"] is not None:
            nodes.append(Text(literal + "$"))
        else:
            nodes.append(Text(literal + match[0]))
            notes.append(
                "a `$` that begins no placeholder is kept as it is, as `safe_substitute` does; "
                "`substitute` refuses it"
            )
    nodes.append(Text(text[position:]))
    return nodes


def _messages(module: Module, candidate: Candidate, guesses: dict[str, Guess]) -> Original:
    found = find.messages_in(candidate.node) or []
    messages: list[Message] = []
    sources: list[str] = []
    notes: list[str] = []
    lost: list[str] = []
    is_format = isinstance(candidate.node, ast.Call)
    preamble = ""
    for role, content in found:
        last = messages[-1].role if messages else None
        reason = ""
        if role not in ORDER:
            reason = f"a prompt has no sections of the role {role!r}"
        elif last is not None and ORDER.index(role) < ORDER.index(last):
            reason = f"a prompt sends {', '.join(ORDER)} in this order"
        elif lost:
            reason = "it follows a message that can't be adopted"
        elif last == role:
            reason = f"a prompt has one message of the role {role!r}"
        if reason:
            segment = ast.get_source_segment(module.text, content) or ast.unparse(content)
            lost.append(f"message of the role {role!r}: {reason}\n{segment}")
            continue
        text = find.text_of(module, content)
        source = ""
        if text is None:
            pieces = _f_string(module, content)
            if not pieces:
                written = ast.unparse(content)
                is_name = isinstance(content, ast.Name)
                pieces = [Slot(written, Kind.VALUE if is_name else Kind.COMPUTED)]
            nodes = _dedented(pieces, notes)
        elif is_format:
            nodes = _dedented(_format(text), notes)
        elif find.style_of_text(text) is Style.JINJA:
            from foldline.ide.adopt.jinja import read_jinja

            source = _dedented_source(text, notes)
            read = read_jinja(source, module.jinja)
            nodes, preamble = read.nodes, preamble + read.preamble
            lost += [f"a comment:\n{text.strip()}" for text in read.comments]
        else:
            nodes = _dedented([Text(text)], notes)
        messages.append(Message(role, nodes))
        sources.append(source)
    if not messages:
        raise AdoptError("none of these messages can be a section of a prompt")
    return Original(
        candidate.name,
        Style.MESSAGES,
        tuple(messages),
        guesses,
        module.jinja,
        preamble,
        tuple(sources),
        tuple(dict.fromkeys(notes)),
        tuple(lost),
    )


def _dedented_source(text: str, notes: list[str]) -> str:
    plain = textwrap.dedent(text)
    _note_changes(text, plain, notes)
    return _without_first_blanks(plain, notes)


def _without_first_blanks(text: str, notes: list[str]) -> str:
    """Return a text without blanks in front of its first line, which can't be in a section."""
    stripped = text.lstrip("\n")
    plain = stripped.lstrip(" \t")
    if plain == stripped:
        return text
    notes.append("the blanks at the beginning of the text are left out")
    return plain


def _dedented(nodes: list[Node], notes: list[str]) -> tuple[Node, ...]:
    """Return the nodes as sections show them: without the indentation that all lines share."""
    slots = [node for node in nodes if isinstance(node, Slot)]
    text = joined(nodes)
    plain = textwrap.dedent(text)
    _note_changes(text, plain, notes)
    plain = _without_first_blanks(plain, notes)
    found: list[Node] = []
    for place, literal in enumerate(plain.split(MARK)):
        if place:
            found.append(slots[place - 1])
        if literal:
            found.append(Text(literal))
    return tuple(found)


def _note_changes(text: str, plain: str, notes: list[str]) -> None:
    if [line.strip() and line for line in text.split("\n")] != [
        line.strip() and line for line in plain.split("\n")
    ]:
        notes.append("the indentation that all lines share is left out")
