"""Reads Jinja templates into nodes, by Jinja's own lexer and parser; nothing is rendered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foldline.backends.base.extras import needs
from foldline.ide.adopt.model import AdoptError, For, If, JinjaOptions, Kind, Node, Slot, Test, Text
from foldline.ide.adopt.write import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jinja2 import Environment, nodes

MISSING = needs("reading Jinja templates", "jinja2")
DEEPEST = 20

_ENDED = {"macro", "filter", "call", "with", "autoescape", "trans", "block", "if", "for"}
_COMPARISONS = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<="}


@dataclass(frozen=True, slots=True)
class JinjaText:
    """A template as nodes.

    Attributes:
        preamble: The statements that show nothing: macros, assignments, imports.
        comments: The comments, which stay comments.
    """

    nodes: tuple[Node, ...]
    preamble: str
    comments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    """Text, a value, or a statement; `raw` is the source of it, delimiters included."""

    kind: str
    text: str
    raw: str
    name: str = ""


@dataclass(slots=True)
class _Reader:
    environment: Environment
    tokens: Sequence[_Token]
    position: int = 0
    preamble: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    made: dict[str, list[str]] = field(default_factory=dict)
    """The variables and macros that the template itself makes, with the statements that do."""


def environment(options: JinjaOptions) -> Environment:
    """Return an environment for parsing; it renders nothing.

    Raises:
        AdoptError: Jinja isn't installed.
    """
    try:
        from jinja2 import Environment
    except ModuleNotFoundError:
        raise AdoptError(MISSING) from None
    return Environment(
        trim_blocks=options.trim_blocks,
        lstrip_blocks=options.lstrip_blocks,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        cache_size=0,
    )


def read_jinja(source: str, options: JinjaOptions) -> JinjaText:
    """Read a template.

    Raises:
        AdoptError: It isn't a template, or is a part of another one.
    """
    known = environment(options)
    from jinja2 import TemplateSyntaxError

    try:
        known.parse(source)
        reader = _Reader(known, list(_tokens(known, source)))
        nodes, _ = _read(reader, (), ())
    except TemplateSyntaxError as error:
        raise AdoptError(
            f"line {error.lineno}: this isn't a Jinja template: {error.message}"
        ) from None
    except RecursionError:
        raise AdoptError("the template is nested too deeply") from None
    return JinjaText(tuple(nodes), "".join(reader.preamble), tuple(reader.comments))


def _tokens(known: Environment, source: str) -> Iterator[_Token]:
    begun: list[str] = []
    words: list[str] = []
    kind = ""
    for _, token, value in known.lex(source):
        if token == "data":
            if kind == "raw":
                words.append(value)
            else:
                yield _Token("text", value, value)
        elif token.endswith("_begin"):
            kind, begun, words = token[: -len("_begin")], [value], []
            if kind == "raw":
                continue
        elif token.endswith("_end"):
            raw, inner = "".join([*begun, *words, value]), "".join(words)
            if kind == "raw":
                yield _Token("text", inner, raw)
            else:
                name, _, rest = inner.strip().partition(" ")
                name = "".join(next(iter(name.split()), ""))
                yield _Token(kind, rest.strip() if kind == "block" else inner.strip(), raw, name)
            kind = ""
        else:
            words.append(value)


def _read(
    reader: _Reader, ends: Sequence[str], hidden: tuple[str, ...]
) -> tuple[list[Node], _Token | None]:
    """Return the nodes before one of the statements `ends`, and that statement."""
    found: list[Node] = []
    while reader.position < len(reader.tokens):
        token = reader.tokens[reader.position]
        reader.position += 1
        if token.kind == "text":
            before = found[-1] if found else None
            if isinstance(before, Text):
                # Only a part that shows nothing is between them, such as a comment.
                found[-1] = Text(before.text + token.text)
            elif token.text:
                found.append(Text(token.text))
        elif token.kind == "variable":
            found.append(_value(reader, token.text, hidden))
        elif token.kind == "comment":
            reader.comments.append(token.text)
        elif token.name in ends:
            return found, token
        else:
            found += _statement(reader, token, hidden)
    return found, None


def _statement(reader: _Reader, token: _Token, hidden: tuple[str, ...]) -> Iterator[Node]:
    start = reader.position - 1
    if token.name == "extends":
        raise AdoptError(
            f"the template extends another one ({token.text}): adopt the text that they make "
            "together"
        )
    if token.name == "if":
        yield _if(reader, token, start, hidden)
    elif token.name == "for":
        yield _for(reader, token, start, hidden)
    elif token.name == "block":
        nodes, _ = _read(reader, ("endblock",), hidden)
        yield from nodes
    elif token.name in ("macro", "import", "from") or (token.name == "set" and not hidden):
        _skip(reader, token)
        raw = _raw(reader, start)
        for name in _made_by(reader, raw):
            reader.made.setdefault(name, []).append(raw)
        reader.preamble.append(raw)
    else:
        _skip(reader, token)
        raw = _raw(reader, start)
        yield Slot(
            raw,
            Kind.REMAINDER,
            f"sections have nothing like `{{% {token.name} %}}`",
            f"{token.name} {token.text}",
            is_whole=True,
        )


def _skip(reader: _Reader, token: _Token) -> None:
    is_block_set = token.name == "set" and "=" not in token.text
    if token.name in _ENDED or is_block_set:
        end, depth = f"end{token.name}", 1
        while depth and reader.position < len(reader.tokens):
            inner = reader.tokens[reader.position]
            reader.position += 1
            if inner.kind == "block":
                depth += (inner.name == token.name) - (inner.name == end)


def _raw(reader: _Reader, start: int) -> str:
    return "".join(token.raw for token in reader.tokens[start : reader.position])


def _made_by(reader: _Reader, raw: str) -> set[str]:
    from jinja2 import nodes

    made: set[str] = set()
    for node in reader.environment.parse(raw).find_all(
        (nodes.Macro, nodes.Import, nodes.FromImport, nodes.Name)
    ):
        if isinstance(node, nodes.Macro):
            made.add(node.name)
        elif isinstance(node, nodes.Import):
            made.add(node.target)
        elif isinstance(node, nodes.FromImport):
            made |= {name if isinstance(name, str) else name[1] for name in node.names}
        elif isinstance(node, nodes.Name) and node.ctx == "store":
            made.add(node.name)
    return made


def _if(reader: _Reader, token: _Token, start: int, hidden: tuple[str, ...]) -> Node:
    branches: list[tuple[Test | None, tuple[Node, ...]]] = []
    test: Test | None = _test(reader, token.text, hidden)
    inner = (*hidden, "")
    while True:
        nodes, end = _read(reader, ("elif", "else", "endif"), inner)
        branches.append((test, tuple(nodes)))
        if end is None or end.name == "endif":
            break
        test = _test(reader, end.text, hidden) if end.name == "elif" else None
    raw = _raw(reader, start)
    if _sets(branches):
        return Slot(raw, Kind.REMAINDER, _SETS, token.text, is_whole=True)
    return If(raw, tuple(branches))


def _for(reader: _Reader, token: _Token, start: int, hidden: tuple[str, ...]) -> Node:
    from jinja2 import nodes

    loop = reader.environment.parse(f"{{% for {token.text} %}}{{% endfor %}}").body[0]
    assert isinstance(loop, nodes.For)
    names = tuple(
        name.name
        for name in [loop.target, *loop.target.find_all(nodes.Name)]
        if isinstance(name, nodes.Name)
    )
    names = tuple(dict.fromkeys(names))
    body, end = _read(reader, ("else", "endfor"), (*hidden, *names, "loop"))
    otherwise: list[Node] = []
    if end is not None and end.name == "else":
        otherwise, _ = _read(reader, ("endfor",), hidden)
    raw = _raw(reader, start)
    if _sets([(None, tuple(body)), (None, tuple(otherwise))]):
        return Slot(raw, Kind.REMAINDER, _SETS, token.text, is_whole=True)
    if loop.recursive:
        reason = "sections have no recursive loops"
        return Slot(raw, Kind.REMAINDER, reason, token.text, is_whole=True)
    # The `xs` of `x in xs`, a filter included.
    items = token.text.split(" in ", 1)[1].strip()
    is_plain = isinstance(loop.iter, nodes.Name) and loop.test is None
    is_plain = is_plain and not _names(loop.iter) & {*hidden, *reader.made}
    return For(
        raw, f"for {token.text}", names, items, tuple(body), tuple(otherwise), is_plain=is_plain
    )


_SETS = "it assigns variables, which sections can't"


def _sets(branches: Sequence[tuple[Test | None, tuple[Node, ...]]]) -> bool:
    return any(
        isinstance(node, Slot) and node.is_whole and node.hint.startswith(("set ", "do "))
        for _, nodes in branches
        for node in nodes
    )


def _value(reader: _Reader, text: str, hidden: tuple[str, ...]) -> Slot:
    from jinja2 import nodes

    node = _expression(reader, text)
    names = _names(node)
    if names & reader.made.keys():
        return _defined(reader, names, f"{{{{ {text} }}}}", text)
    if names & set(hidden):
        return Slot(text, Kind.COMPUTED)
    if isinstance(node, nodes.Name):
        return Slot(node.name)
    if "loop" in hidden:
        # The field of an item is a text.
        return Slot(text, Kind.COMPUTED)
    if isinstance(node, nodes.Filter) and isinstance(node.node, nodes.Name):
        name, arguments = node.node.name, node.args
        constants = [part.value for part in arguments if isinstance(part, nodes.Const)]
        if len(constants) == len(arguments) and not node.kwargs:
            if node.name == "join" and len(constants) == 1 and isinstance(constants[0], str):
                return Slot(name, form=f"joined({one_line(constants[0])})")
            if node.name in ("default", "d") and len(constants) == 2 and constants[1] is True:
                return _or_else(name, constants[0], text)
    if (
        isinstance(node, nodes.Or)
        and isinstance(node.left, nodes.Name)
        and isinstance(node.right, nodes.Const)
    ):
        return _or_else(node.left.name, node.right.value, text)
    return Slot(text, Kind.COMPUTED)


def _defined(reader: _Reader, names: set[str], shown: str, hint: str) -> Slot:
    """Return a value that needs what the template defines, as a remainder with the definitions."""
    needed = dict.fromkeys(raw for name in names for raw in reader.made.get(name, ()))
    order = [raw for raw in reader.preamble if raw in needed]
    reason = "it needs what the template defines"
    return Slot("".join([*order, shown]), Kind.REMAINDER, reason, hint, is_whole=True)


def _or_else(name: str, value: object, text: str) -> Slot:
    if isinstance(value, str) and value:
        return Slot(name, form=f"or_else({one_line(value)})")
    return Slot(text, Kind.COMPUTED)


def _test(reader: _Reader, text: str, hidden: tuple[str, ...]) -> Test:
    fields: list[tuple[str, str]] = []
    whole = Test(text, "{0}", ((text, "bool"),))
    node = _expression(reader, text)
    if _names(node) & {*hidden, *reader.made}:
        return whole
    written = _condition(reader, node, fields, DEEPEST) if len(text) < 2_000 else None
    return whole if written is None else Test(text, written, tuple(fields))


def _condition(
    reader: _Reader, node: nodes.Node, fields: list[tuple[str, str]], depth: int
) -> str | None:
    """Return a condition in Python, with `{0}` for the first of the fields that it needs."""
    from jinja2 import nodes

    if depth == 0:
        return None
    if isinstance(node, nodes.And | nodes.Or):
        left = _condition(reader, node.left, fields, depth - 1)
        right = _condition(reader, node.right, fields, depth - 1)
        word = "and" if isinstance(node, nodes.And) else "or"
        return None if left is None or right is None else f"({left} {word} {right})"
    if isinstance(node, nodes.Not):
        inner = _condition(reader, node.node, fields, depth - 1)
        return None if inner is None else f"(not {inner})"
    if isinstance(node, nodes.Const):
        return repr(bool(node.value))
    if isinstance(node, nodes.Compare) and len(node.ops) == 1:
        return _comparison(node, fields)
    path = path_of(node)
    return None if path is None else _placed(path, "truth", fields)


def _comparison(node: nodes.Compare, fields: list[tuple[str, str]]) -> str | None:
    from jinja2 import nodes

    operand = node.ops[0]
    path, other = path_of(node.expr), operand.expr
    if path is None:
        return None
    if operand.op in _COMPARISONS and isinstance(other, nodes.Const):
        kind = type(other.value).__name__
        if kind not in ("str", "int", "float", "bool"):
            return None
        place = _placed(path, "float" if kind == "float" else kind, fields)
        return f"({place} {_COMPARISONS[operand.op]} {_braced(other.value)})"
    if operand.op in ("in", "notin") and isinstance(other, nodes.List | nodes.Tuple):
        values = [item.value for item in other.items if isinstance(item, nodes.Const)]
        kinds = {type(value).__name__ for value in values}
        if len(values) != len(other.items) or len(kinds) != 1 or kinds - {"str", "int"}:
            return None
        place = _placed(path, kinds.pop(), fields)
        word = "in" if operand.op == "in" else "not in"
        return f"({place} {word} {_braced(tuple(values))})"
    return None


def _braced(value: object) -> str:
    return repr(value).replace("{", "{{").replace("}", "}}")


def _placed(path: str, kind: str, fields: list[tuple[str, str]]) -> str:
    for place, (known, other) in enumerate(fields):
        if known == path and other == kind:
            return f"{{{place}}}"
    fields.append((path, kind))
    return f"{{{len(fields) - 1}}}"


def path_of(node: nodes.Node) -> str | None:
    """Return `a.b` for a variable and its attributes; None for anything else."""
    from jinja2 import nodes

    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        owner = path_of(node.node)
        return None if owner is None else f"{owner}.{node.attr}"
    return None


def _expression(reader: _Reader, text: str) -> nodes.Node:
    from jinja2 import nodes

    output = reader.environment.parse("{{ " + text + " }}").body
    if not output or not isinstance(output[0], nodes.Output) or not output[0].nodes:
        return nodes.Const(None)
    return output[0].nodes[0]


def _names(node: nodes.Node) -> set[str]:
    from jinja2 import nodes

    found = {name.name for name in node.find_all(nodes.Name)}
    return found | ({node.name} if isinstance(node, nodes.Name) else set())
