"""Reads a prompt of any style into nodes."""

from __future__ import annotations

import ast
import re
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
from foldline.ide.adopt.uses import template_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.ide.adopt.find import Candidate
    from foldline.ide.adopt.model import Guess, Node, Use
    from foldline.ide.adopt.uses import Module

LONGEST = 400_000
"""The longest source that is read, in characters."""

SHARED = "the indentation that all lines share is left out"
"""The note on a text whose indentation sections don't have."""
ORDER = ("system", "developer", "user")
_PERCENT = re.compile(r"%(?:\((?P<name>[^)]*)\))?(?P<form>[-#0 +]*(?:\d+|\*)?(?:\.\d+)?[a-zA-Z%])")


def read_template(text: str, name: str, style: Style, options: JinjaOptions) -> Original:
    """Read a file, or a value of a data file, that is one prompt.

    Raises:
        AdoptError: It can't be adopted in this style.
    """
    return _one(name, style, text.replace("\r\n", "\n"), {}, options, ())


def read_messages(
    texts: Sequence[tuple[str, str]], name: str, style: Style, options: JinjaOptions
) -> Original:
    """Read messages, roles and texts, that aren't written in Python.

    Raises:
        AdoptError: None can be a section of a prompt.
    """
    reader = _Messages(options)
    for role, text in texts:
        if reader.takes(role, text):
            reader.add(role, text, style)
    return reader.original(name, {})


def read_candidate(
    module: Module, candidate: Candidate, style: Style, uses: Sequence[Use]
) -> Original:
    """Read a prompt of a module.

    Raises:
        AdoptError: It can't be adopted.
    """
    guesses = find.guesses(module, candidate, uses)
    node = candidate.node
    assert node is not None
    if candidate.style is Style.MESSAGES:
        return _messages(module, candidate, guesses)
    name = candidate.name
    text = find.text_of(module, node)
    if style is not Style.FSTRING and text is not None:
        return _one(name, style, text, guesses, module.jinja, uses)
    message, notes = _f_string(module, node, None, style, uses)
    original = Style.FSTRING
    return Original(name, original, (message,), guesses, notes=tuple(notes), uses=tuple(uses))


def _one(  # noqa: PLR0917 - What an `Original` is made of.
    name: str,
    style: Style,
    text: str,
    guesses: dict[str, Guess],
    options: JinjaOptions,
    uses: Sequence[Use],
) -> Original:
    _check_length(text)
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
            tuple(uses),
        )
    raw = _nodes(text, style, uses, notes)
    message = Message(None, _dedented(raw, notes), tuple(raw))
    return Original(name, style, (message,), guesses, notes=tuple(notes), uses=tuple(uses))


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise AdoptError(f"the text is longer than {LONGEST:,} characters")


def _nodes(text: str, style: Style, uses: Sequence[Use], notes: list[str]) -> list[Text | Slot]:
    if style is Style.FORMAT:
        return _format(text, uses)
    if style is Style.PERCENT:
        return _percent(text, uses)
    if style is Style.REPLACE:
        return _replaced(text, uses)
    if style is Style.TEMPLATE:
        return _template(text, notes)
    return [Text(text)]


def _f_string(
    module: Module, node: ast.expr, role: str | None, style: Style, uses: Sequence[Use]
) -> tuple[Message, list[str]]:
    """Return the message that an f-string makes; its texts may be filled in later."""
    notes: list[str] = []
    inner, after = find.calls_after(module, node)
    raw = _pieces(find.pieces_of(module, inner) or (), style, uses)
    nodes = _dedented(_pieces(find.pieces_of(module, node) or (), style, uses), notes)
    return Message(role, nodes, tuple(raw), after), notes


def _pieces(
    pieces: Sequence[str | ast.expr], style: Style, uses: Sequence[Use]
) -> list[Text | Slot]:
    nodes: list[Text | Slot] = []
    for piece in pieces:
        if isinstance(piece, str):
            later = style in (Style.FORMAT, Style.PERCENT, Style.REPLACE)
            nodes += _nodes(piece, style, uses, []) if later else [Text(piece)]
        elif isinstance(piece, ast.FormattedValue):
            is_plain = piece.conversion == -1 and piece.format_spec is None
            if is_plain and isinstance(piece.value, ast.Name):
                nodes.append(Slot(piece.value.id))
            else:
                written = ast.unparse(ast.JoinedStr([piece]))
                source = ast.unparse(piece.value) if is_plain else written
                nodes.append(Slot(source, Kind.COMPUTED, hint=_hint(piece.value)))
        else:
            is_name = isinstance(piece, ast.Name)
            kind = Kind.VALUE if is_name else Kind.COMPUTED
            nodes.append(Slot(ast.unparse(piece), kind, hint=_hint(piece)))
    return nodes


def _hint(node: ast.expr) -> str:
    """Return words for the name of a field: `today` for `date.today().strftime("%Y")`."""
    while isinstance(node, ast.Call):
        func = node.func
        inner = func.value if isinstance(func, ast.Attribute) else None
        if isinstance(func, ast.Attribute) and func.attr in _CONVERSIONS and inner is not None:
            node = node.args[0] if func.attr == "join" and node.args else inner
        elif isinstance(func, ast.Name) and func.id in _CONVERSIONS and node.args:
            node = node.args[0]
        else:
            return func.attr if isinstance(func, ast.Attribute) else ast.unparse(func)
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return _hint(node.generators[0].iter)
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.IfExp | ast.Subscript):
        names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
        return "_".join(dict.fromkeys(names[:2])) if names else ast.unparse(node)
    return ast.unparse(node)


_CONVERSIONS = {
    *("str", "repr", "int", "len", "sorted", "list", "enumerate", "join", "strip", "lower"),
    *("upper", "title", "format", "strftime", "isoformat", "dumps", "replace", "splitlines"),
}


def _format(text: str, uses: Sequence[Use]) -> list[Text | Slot]:
    nodes: list[Text | Slot] = []
    count = 0
    given = next((use.arguments for use in uses if use.arguments), ())
    try:
        for literal, name, spec, conversion in Formatter().parse(text):
            if literal:
                nodes.append(Text(literal))
            if name is None:
                continue
            if not name or name.isdecimal():
                count += 1
                nodes.append(_positional(int(name or count - 1), given))
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


def _positional(place: int, given: Sequence[str]) -> Slot:
    source = given[place] if place < len(given) else f"argument {place}"
    is_known = place < len(given) and not source.startswith(("'", '"', "*"))
    return Slot(source, Kind.VALUE, hint="" if is_known else f"value_{place}")


def _percent(text: str, uses: Sequence[Use]) -> list[Text | Slot]:
    nodes: list[Text | Slot] = []
    given = next((use.arguments for use in uses if use.arguments), ())
    position = count = 0
    for match in _PERCENT.finditer(text):
        nodes.append(Text(text[position : match.start()]))
        position = match.end()
        if match["form"] == "%":
            nodes.append(Text("%"))
        elif match["name"] is not None:
            is_plain = match["form"] == "s"
            kind = Kind.VALUE if is_plain else Kind.COMPUTED
            nodes.append(Slot(match["name"] if is_plain else match[0], kind, hint=match["name"]))
        else:
            nodes.append(_positional(count, given))
            count += 1
    nodes.append(Text(text[position:]))
    if given and count != len(given):
        raise AdoptError(f"the text has {count} places for values, and gets {len(given)}")
    return nodes


def _replaced(text: str, uses: Sequence[Use]) -> list[Text | Slot]:
    holes = dict(hole for use in uses for hole in use.holes if hole[0] in text)
    if not holes:
        holes = {match[0]: match[1] for match in re.finditer(r"\{([A-Za-z_]\w*)\}", text)}
    nodes: list[Text | Slot] = []
    for part in re.split(f"({'|'.join(map(re.escape, holes))})", text) if holes else [text]:
        if part not in holes:
            nodes.append(Text(part))
            continue
        word = re.sub(r"\W+", " ", part).strip().lower().replace(" ", "_")
        nodes.append(Slot(word if word.isidentifier() else holes[part], hint=word))
    return nodes


def _template(text: str, notes: list[str]) -> list[Text | Slot]:
    nodes: list[Text | Slot] = []
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


class _Messages:
    """Gathers the messages that a prompt can have, and says why it can't have the others."""

    def __init__(self, options: JinjaOptions) -> None:
        self.options = options
        self.messages: list[Message] = []
        self.sources: list[str] = []
        self.notes: list[str] = []
        self.lost: list[str] = []
        self.preamble = ""

    def takes(self, role: str, written: str) -> bool:
        """Return True for a message that can be in the prompt; the others are lost."""
        last = self.messages[-1].role if self.messages else None
        if not role:
            reason = "its role is known only when the program runs"
        elif role not in ORDER:
            reason = f"a prompt has no sections of the role {role!r}"
        elif last is not None and ORDER.index(role) < ORDER.index(last):
            reason = f"a prompt sends {', '.join(ORDER)} in this order"
        elif any(lost.startswith("message") for lost in self.lost):
            reason = "it follows a message that can't be adopted"
        elif last == role:
            reason = f"a prompt has one message of the role {role!r}"
        else:
            return True
        self.lost.append(f"message of the role {role!r}: {reason}\n{written}")
        return False

    def add(self, role: str, text: str, style: Style) -> None:
        """Add a message that is a text of a style."""
        _check_length(text)
        source = ""
        raw: list[Text | Slot] = []
        nodes: tuple[Node, ...]
        if style is Style.JINJA:
            from foldline.ide.adopt.jinja import read_jinja

            source = _dedented_source(text, self.notes)
            found = read_jinja(source, self.options)
            nodes, self.preamble = found.nodes, self.preamble + found.preamble
            self.lost += [f"a comment:\n{text.strip()}" for text in found.comments]
        else:
            raw = _nodes(text, style, (), self.notes)
            nodes = _dedented(raw, self.notes)
        self.put(Message(role, nodes, tuple(raw)), source)

    def put(self, message: Message, source: str = "") -> None:
        self.messages.append(message)
        self.sources.append(source)

    def original(self, name: str, guesses: dict[str, Guess]) -> Original:
        """Return the prompt.

        Raises:
            AdoptError: It has no message.
        """
        if not self.messages:
            raise AdoptError("none of these messages can be a section of a prompt")
        return Original(
            name,
            Style.MESSAGES,
            tuple(self.messages),
            guesses,
            self.options,
            self.preamble,
            tuple(self.sources),
            tuple(dict.fromkeys(self.notes)),
            tuple(self.lost),
        )


def _messages(module: Module, candidate: Candidate, guesses: dict[str, Guess]) -> Original:
    assert candidate.node is not None
    reader = _Messages(module.jinja)
    form = Style.TEXT
    if isinstance(candidate.node, ast.Call):
        form = template_style(module, candidate.node)
    for message in find.messages_in(candidate.node) or ():
        role, content = message.role, message.content
        segment = ast.get_source_segment(module.text, content) or ast.unparse(content)
        if not reader.takes(role, segment):
            continue
        text = find.text_of(module, content, 1)
        if text is not None:
            style = form if message.is_template else Style.TEXT
            if style is Style.TEXT and find.style_of_text(text) is Style.JINJA:
                style = Style.JINJA
            reader.add(role, text, style)
            continue
        if find.pieces_of(module, content, 1):
            made, notes = _f_string(module, content, role, Style.FSTRING, ())
            reader.notes += notes
        else:
            is_name = isinstance(content, ast.Name)
            kind = Kind.VALUE if is_name else Kind.COMPUTED
            slot = Slot(ast.unparse(content), kind, hint=_hint(content))
            made = Message(role, (slot,), (slot,))
        reader.put(made)
    return reader.original(candidate.name, guesses)


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


def _dedented(nodes: Sequence[Text | Slot], notes: list[str]) -> tuple[Node, ...]:
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
        notes.append(SHARED)
