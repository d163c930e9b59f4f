"""Reads a prompt of any style into nodes."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from string import Formatter, Template

from foldline.backends.base.extras import needs
from foldline.plugins.adopt import model, texts
from foldline.plugins.adopt.find import HOLES, Candidate, guesses, style_of_text
from foldline.plugins.adopt.scopes import Scope

LONGEST = 400_000
"""The longest source that is read, in characters."""

SHARED = "the indentation that all lines share is left out"
"""The note on a text whose indentation sections don't have."""
RETURNS = "its line breaks are `\\r\\n`, and those of the new prompt `\\n`"
"""The note on a text whose lines end as Windows has them."""
_RUNNING = "message that only the running program knows, such as the chat so far"
ORDER = ("system", "developer", "user")
PERCENT = re.compile(
    r"%(?:\((?P<name>[^)]*)\))?(?P<form>[-#0 +]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[a-zA-Z%])"
)


def read_candidate(
    candidate: Candidate, style: model.Style, uses: Sequence[model.Use]
) -> model.Original:
    """Read a prompt of a file in a style, with the calls that fill it in.

    Raises:
        AdoptError: It can't be adopted in this style.
    """
    module, scope, node = candidate.module, candidate.scope, candidate.node
    reader = _Reader(module.jinja, uses)
    reader.notes += candidate.notes
    messages = texts.messages_in(node)
    if messages is None:
        reader.add(scope, None, node, style)
    for role, content, is_template in messages or ():
        if not reader.takes(role, candidate.source(content)):
            continue
        read_as = style
        if style is model.Style.MESSAGES:
            read_as = model.Style.TEXT
            if is_template and isinstance(node, ast.Call):
                read_as = texts.template_style(module, node)
                if texts.pieces_of(scope, content, 1) is None:
                    shown = ast.unparse(content)
                    reader.notes.append(f"`{shown}` is a template: give its text, filled in")
            text = texts.text_of(scope, content, 1) or ""
            if read_as is model.Style.TEXT and style_of_text(text) is model.Style.JINJA:
                read_as = model.Style.JINJA
        reader.add(scope, role, content, read_as, 1)
    kind = model.Style.FSTRING if texts.text_of(scope, node) is None else style
    if not reader.messages:
        raise model.AdoptError("none of these messages can be a section of a prompt")
    return model.Original(
        candidate.name,
        kind if messages is None else model.Style.MESSAGES,
        tuple(reader.messages),
        guesses(candidate, uses),
        module.jinja,
        reader.preamble,
        tuple(dict.fromkeys(reader.notes)),
        tuple(reader.lost),
        tuple(uses),
    )


class _Reader:
    """Reads the messages that a prompt can have, and says why it can't have the others."""

    def __init__(self, options: model.JinjaOptions, uses: Sequence[model.Use]) -> None:
        self.options = options
        self.uses = tuple(uses)
        self.messages: list[model.Message] = []
        self.notes: list[str] = []
        self.lost: list[str] = []
        self.preamble = ""

    def takes(self, role: str, written: str) -> bool:
        """Return True for a message that can be in the prompt; the others are lost."""
        last = self.messages[-1].role if self.messages else None
        if not role:
            reason = "it isn't a part of the prompt, and your code sends it beside it"
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
        what = f"message of the role {role!r}" if role else _RUNNING
        self.lost.append(f"{what}: {reason}\n{written}")
        return False

    def add(
        self, scope: Scope, role: str | None, node: ast.expr, style: model.Style, depth: int = 0
    ) -> None:
        """Add the message that an expression of a module makes."""
        inner, after = texts.calls_after(scope, node)
        pieces, before = (texts.pieces_of(scope, one, depth) or [one] for one in (node, inner))
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        if len(text) > LONGEST:
            raise model.AdoptError(f"the text is longer than {LONGEST:,} characters")
        is_plain = all(isinstance(piece, str) for piece in pieces)
        if style is model.Style.JINJA and (is_plain or style_of_text(text) is model.Style.JINJA):
            if not is_plain:
                raise model.AdoptError(
                    "Python fills in parts of the text before Jinja reads it: adopt what Jinja "
                    "makes of it, or name the style: --style f-string",
                    styles=(model.Style.FSTRING,),
                )
            try:
                from foldline.plugins.adopt.jinja import read_jinja
            except ModuleNotFoundError:
                raise model.AdoptError(needs("reading Jinja templates", "jinja2")) from None
            source = self._dedented(text)
            template = read_jinja(source, self.options)
            self.preamble += template.preamble
            self.lost += [f"a comment:\n{text.strip()}" for text in template.comments]
            self.messages.append(model.Message(role, template.nodes, source=source))
            return
        nodes = self._nodes(pieces, style)
        raw = self._nodes(before, style) if after else nodes
        shown = model.changed(nodes, self._dedented)
        literals = [piece for piece in before if isinstance(piece, str)]
        written = "".join(literals) if len(literals) == len(before) else ""
        self.messages.append(
            model.Message(role, tuple(shown), tuple(raw), after, style=style, written=written)
        )

    def _dedented(self, text: str) -> str:
        """Return a text as sections show it: without the indentation that all lines share."""
        if "\r\n" in text:
            self.notes.append(RETURNS)
            text = text.replace("\r\n", "\n")
        plain = textwrap.dedent(text)
        lines = zip(text.split("\n"), plain.split("\n"), strict=True)
        if any(line.strip() and line != other for line, other in lines):
            self.notes.append(SHARED)
        else:
            plain = text  # `dedent` empties lines of blanks.
        first = plain.lstrip("\n")
        if first.startswith((" ", "\t")):
            self.notes.append("the blanks at the beginning of the text are left out")
            plain = first.lstrip(" \t")
        return plain

    def _nodes(
        self, pieces: Sequence[str | ast.expr], style: model.Style
    ) -> list[model.Text | model.Slot]:
        nodes: list[model.Text | model.Slot] = []
        for piece in pieces:
            if isinstance(piece, str):
                read = _READERS.get(style)
                nodes += [model.Text(piece)] if read is None else read(self, piece)
                continue
            value, written = piece, _unparsed(piece)
            if isinstance(piece, ast.FormattedValue):
                value, written = piece.value, ast.unparse(ast.JoinedStr([piece]))
                if piece.conversion == -1 and piece.format_spec is None:
                    written = ast.unparse(value)
            is_name = written.isidentifier()
            kind = model.Kind.VALUE if is_name else model.Kind.COMPUTED
            nodes.append(model.Slot(written, kind, hint="" if is_name else _hint(value)))
        return nodes

    def formatted(self, text: str) -> Iterator[model.Text | model.Slot]:
        count = 0
        try:
            for literal, name, spec, conversion in Formatter().parse(text):
                if literal:
                    yield model.Text(literal)
                if name is None:
                    continue
                form = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
                if not name or name.isdecimal():
                    formatted = f"'{{{form}}}'.format(@)" if form else ""
                    yield self._positional(int(name or count), formatted)
                    count += 1
                elif name.isidentifier() and not form:
                    yield model.Slot(name)
                else:
                    yield model.Slot(f"{{{name}{form}}}", model.Kind.COMPUTED, hint=name)
        except ValueError as error:
            raise model.AdoptError(
                f"`str.format` can't read the text: {error}; if it is shown as it is, name the "
                "style: --style text"
            ) from None

    def percent(self, text: str) -> Iterator[model.Text | model.Slot]:
        position = count = 0
        for match in PERCENT.finditer(text):
            yield model.Text(text[position : match.start()])
            position = match.end()
            if match["form"] == "%":
                yield model.Text("%")
            elif (name := match["name"]) is None:
                form = match["form"]
                if "*" in form:
                    raise model.AdoptError(
                        f"`{match[0]}` gets its width from a value: write it out"
                    )
                yield self._positional(count, "" if form == "s" else f"'%{form}' % (@,)")
                count += 1
            elif match["form"] == "s":
                yield model.Slot(name)
            else:
                yield model.Slot(match[0], model.Kind.COMPUTED, hint=name)
        yield model.Text(text[position:])
        is_mapping = not count and len(self._given) == 1 and "%(" in text
        if is_mapping and f"%({self._given[0]})" in text:
            raise model.AdoptError(
                f"`{self._given[0]}` is the mapping and one of its keys: rename it"
            )
        if self._given and count != len(self._given) and not is_mapping:
            raise model.AdoptError(
                f"the text has {count} places for values, and gets {len(self._given)}"
            )

    @property
    def _given(self) -> tuple[str, ...]:
        """The arguments of the first call that has some."""
        return next((use.arguments for use in self.uses if use.arguments), ())

    def _positional(self, place: int, formatted: str = "") -> model.Slot:
        """Return the value at a place; `@` in the expression that formats it stands for it."""
        source = self._given[place] if place < len(self._given) else ""
        is_known = bool(source) and not source.startswith(("'", '"', "*"))
        if formatted and source:
            hint = source if is_known else f"value_{place}"
            return model.Slot(formatted.replace("@", source), model.Kind.COMPUTED, hint=hint)
        return model.Slot(source or f"argument {place}", hint="" if is_known else f"value_{place}")

    def replaced(self, text: str) -> Iterator[model.Text | model.Slot]:
        replaces = [use for use in self.uses if use.style is model.Style.REPLACE]
        holes = {hole: value for use in replaces for hole, value in use.keywords.items() if hole}
        for hole in (hole for use in replaces for hole in use.once if text.count(hole) > 1):
            raise model.AdoptError(
                f"{hole!r} is {text.count(hole)} times in the text, and `replace` fills in some "
                "of them only: make one text of it"
            )
        if not holes:
            holes = {match[0]: match[1] or match[0] for match in HOLES.finditer(text)}
        for part in re.split(f"({'|'.join(map(re.escape, holes))})", text) if holes else [text]:
            if part in holes:
                word = re.sub(r"\W+", " ", part).strip().lower().replace(" ", "_")
                yield model.Slot(word if word.isidentifier() else holes[part], hint=word)
            else:
                yield model.Text(part)

    def template(self, text: str) -> Iterator[model.Text | model.Slot]:
        position = 0
        for match in Template.pattern.finditer(text):
            yield model.Text(text[position : match.start()])
            position = match.end()
            if name := match["named"] or match["braced"]:
                yield model.Slot(name)
                continue
            yield model.Text("$" if match["escaped"] is not None else match[0])
            if match["escaped"] is None:
                self.notes.append(
                    "a `$` that begins no placeholder is kept as it is, as `safe_substitute` does; "
                    "`substitute` refuses it"
                )
        yield model.Text(text[position:])


_READERS: dict[model.Style, Callable[[_Reader, str], Iterator[model.Text | model.Slot]]] = {
    model.Style.FORMAT: _Reader.formatted,
    model.Style.PERCENT: _Reader.percent,
    model.Style.REPLACE: _Reader.replaced,
    model.Style.TEMPLATE: _Reader.template,
}
"""How a text of a style is read; those of the other styles are shown as they are."""


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


def _unparsed(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except ValueError:
        fault = "Python 3.11 can't write an expression of its f-string: give it a name first"
        raise model.AdoptError(f"line {node.lineno}: {fault}") from None
