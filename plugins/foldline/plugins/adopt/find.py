"""Finds the prompts in a Python module, and what the module says of their values.

The module is parsed, and never imported or executed. `uses.parse` has walked it once, and noted
what its scopes bind and which calls fill in whose text. `_Finder` walks it again, a block at a
time: each text that a statement assigns, returns or gives to a call is a `Candidate`. A text or a
list that later statements add to is followed down its block; where they may change it in another
way, the candidate says why it can't be adopted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from string import Formatter

from foldline.plugins.adopt import scopes, texts
from foldline.plugins.adopt.model import AdoptError, Guess, Style, Use
from foldline.plugins.adopt.uses import parse, use_of
from foldline.plugins.adopt.write import one_line
from foldline.records import record

SHORTEST = 40
"""The shortest text without placeholders that looks like a prompt, in characters."""
SHORTEST_WITH_VALUES = 12
"""The shortest text with placeholders that does."""

_JINJA = re.compile(r"\{%-?\s*\w+[^{}]*-?%\}|\{\{-?\s*[A-Za-z_][^{}\n]*-?\}\}")
_DOLLAR = re.compile(r"\$\{[A-Za-z_]\w*\}")
_FIELD = re.compile(
    r"(?<![{$\\])\{([A-Za-z_]\w*)(?:(?:\.\w|\[\w)[^{}\n]*)?(?:![rsa])?(?::[^{}\s]*)?\}(?!\})"
)
_MARKS = re.compile(r"\$[A-Z][A-Z_]*\$|!<[^<>\n]{1,40}>!|<<(?!SYS)\w+>>|\[\[\w+\]\]")
HOLES = re.compile(rf"\{{([A-Za-z_]\w*)\}}|{_MARKS.pattern}")
"""The marks that people replace with values."""
HANDLEBARS = (
    "is of Handlebars or alike, of which adopting knows names alone: write it as Jinja, or render "
    "it first"
)
_HANDLEBARS = re.compile(r"\{\{\s*[#/>^!&$@][^}]*\}\}|\{\{\{[^}]*\}\}\}|\{\{\s*media\b")
_PERCENT = re.compile(r"%\((\w+)\)[-#0 +]*\d*(?:\.\d+)?[sdrfi]|(?<![%\w])%[sd](?!\w)")
_KEYWORDS = {"system", "system_prompt", "instructions", "system_instruction", "prompt", "template"}
"""The keyword arguments that are prompts."""


@record
class Candidate:
    """A prompt that can be adopted; one that isn't in Python is the literal that it would be."""

    module: scopes.Module
    name: str
    line: int
    style: Style
    node: ast.expr
    scope: scopes.Scope
    start: int = 0
    """The offset of the statement's line."""
    end: int = 0
    is_likely: bool = True
    """It looks like a prompt; other texts have to be named."""
    use: Use | None = None
    """The call that fills in the text where it stands."""
    refusal: str = ""
    """Why it can't be adopted."""
    is_certain: bool = False
    """Its style is known, whatever it looks like."""
    notes: tuple[str, ...] = ()
    name_is_key: bool = True
    """The name is that of a part of its file."""
    variable: str = ""
    """The variable, if it has other texts, too, and the name has a number."""

    @property
    def calls(self) -> scopes.Calls:
        """The calls of its module that fill it in."""
        if self.use is not None:
            return scopes.Calls([self.use], {self.style})
        return self.module.calls_of(self.scope, self.variable or self.name)

    @property
    def is_global(self) -> bool:
        """True if other modules can use it."""
        return self.is_code and self.scope.function is None

    @property
    def is_code(self) -> bool:
        """True if its file is a Python module."""
        return bool(self.module.tree.body)

    def source(self, node: ast.expr) -> str:
        """Return an expression as the module has it; the text of one that isn't in Python."""
        if self.is_code:
            return self.module.text[slice(*self.module.span(node))]
        return texts.text_of(self.scope, node) or ast.unparse(node)

    @property
    def contents(self) -> list[ast.expr]:
        """The expressions of its texts: one, or those of messages."""
        return [message.content for message in texts.messages_in(self.node) or ()] or [self.node]

    @property
    def text(self) -> str:
        """The literal text, with a null character for each value."""
        pieces = [texts.pieces_of(self.scope, node) or [] for node in self.contents]
        return "\n".join(
            "".join(one if isinstance(one, str) else "\0" for one in parts) for parts in pieces
        )


def candidates(module: scopes.Module) -> list[Candidate]:
    """Return the texts of a module, in the order of the source; not all are likely prompts."""
    by_name: dict[str, Candidate] = {}
    counts: dict[str, int] = {}
    for candidate in _Finder(module, module.scope).walk(module.tree.body):
        name = candidate.name
        earlier = by_name.get(name)
        if earlier is None or (candidate.is_likely and not earlier.is_likely):
            by_name[name] = candidate
        elif candidate.is_likely and candidate.node is not earlier.node:
            # A variable has another text in another branch.
            counts[name] = counts.get(name, 1) + 1
            while (other := f"{name}_{counts[name]}") in by_name:
                counts[name] += 1
            by_name[other] = replace(candidate, name=other, variable=name)
    origins = {origin for origin, _ in module.imports.values()}
    if not origins.isdisjoint(("foldline", "foldline.prompts")):
        # It is a prompt module already: its texts can be adopted, and aren't offered.
        by_name = {name: replace(one, is_likely=False) for name, one in by_name.items()}
    return sorted(by_name.values(), key=lambda candidate: candidate.start)


def made_by(module: scopes.Module, name: str) -> str:
    """Return in words how a function or variable of that name gets a text that isn't known."""
    owner, _, last = name.rpartition(".")
    for scope in module.scopes.values():
        is_it = name in (scope.name, scope.name.rpartition(".")[2])
        origins = [("returns", scope.bound.get(scopes.RETURN, []))] if is_it else []
        origins += [("is", scope.bound.get(last, []))] if scope.name.endswith(owner) else []
        for verb, bound in origins:
            if value := next((one.value for one in reversed(bound) if one.value), None):
                return f"{verb} `{ast.unparse(value)[:60]}` (line {value.lineno})"
    return ""


def guesses(candidate: Candidate, uses: Sequence[Use]) -> dict[str, Guess]:
    """Return the types and defaults that the module tells of a prompt's variables."""
    kinds: dict[str, Guess] = {}
    module, scope = candidate.module.scope, candidate.scope
    # The names that the text itself reads: a placeholder gets what its call says.
    pieces = [
        one for node in candidate.contents for one in texts.pieces_of(scope, node, 1) or [node]
    ]
    reads = {
        part.id
        for piece in pieces
        if isinstance(piece, ast.AST)
        for part in ast.walk(piece)
        if isinstance(part, ast.Name) and scope.home(part) is module
    }
    for name in reads:
        value = module.value_of(name)
        if kind := scopes.scalar_of(value):
            kinds[name] = Guess(kind, _written(value))
    for name, kind, default in scope.parameters():
        if len(scope.bound[name]) > 1:
            kinds[name] = Guess(kind.removesuffix(" | None"))
        elif all(use.keywords.get(name, name) == name for use in uses):
            kinds[name] = Guess(kind, _written(default))
    for use in uses:
        for name, kind in use.types.items():
            kinds.setdefault(name, Guess(kind))
    return kinds


def style_of_text(text: str) -> Style:
    """Return the style that a text without any code around it seems to be written in."""
    if _JINJA.search(text):
        return Style.JINJA
    return Style.TEMPLATE if _DOLLAR.search(text) else Style.TEXT


def settled(text: str, seems: Style, *, is_code: bool = False) -> Style:
    """Return the style that a text seems to have, where nothing confirms it.

    Raises:
        AdoptError: It could have another one, or has one that adopting doesn't know.
    """
    if mark := _HANDLEBARS.search(text):
        raise AdoptError(f"`{mark[0]}` {HANDLEBARS}")
    fills = [Style.REPLACE]
    with suppress(ValueError):
        list(Formatter().parse(text))
        fills.insert(0, Style.FORMAT)
    rest = {Style.FSTRING: [Style.FSTRING], Style.JINJA: [Style.JINJA, Style.TEXT]}
    looks: list[tuple[re.Pattern[str], bool, Iterable[Style]]] = [
        (_FIELD, True, [*fills, *rest.get(seems, [Style.TEXT])]),
        (_PERCENT, seems is Style.TEXT, (Style.PERCENT, Style.TEXT)),
        (_DOLLAR, seems is Style.TEMPLATE, (Style.TEMPLATE, Style.TEXT)),
        (_MARKS, seems is Style.TEXT, (Style.REPLACE, Style.TEXT)),
        # In code, double braces may be those that `format` makes one of, or the text's own.
        (
            _JINJA,
            is_code and seems is Style.JINJA and "{%" not in text,
            [seems, *fills, Style.TEXT],
        ),
    ]
    for pattern, is_possible, styles in looks:
        marks = list(dict.fromkeys(match[0] for match in pattern.finditer(text)))
        if marks and is_possible:
            shown = ", ".join(marks[:3]) + (" …" if len(marks) > 3 else "")
            raise AdoptError(
                f"{shown} looks like a placeholder, and no call was found that fills it in: say "
                "how the text is read",
                styles=tuple(styles),
            )
    return seems


@record
class _Finder:
    """Walks the statements of a module, a class or a function."""

    module: scopes.Module
    scope: scopes.Scope

    @property
    def prefix(self) -> str:
        """The names of the classes and functions around them, with a dot behind each."""
        return f"{self.scope.name}." if self.scope.name else ""

    def walk(self, body: Sequence[ast.stmt], after: Sequence[ast.stmt] = ()) -> Iterator[Candidate]:
        """Yield the texts that a block assigns, returns or gives to calls; `after` is behind it."""
        for index, statement in enumerate(body):
            inner, rest = self, (*body[index + 1 :], *after)
            if isinstance(statement, ast.ClassDef | scopes.Function):
                inner, rest = _Finder(self.module, self.module.scopes[statement]), ()
            else:
                yield from self._statement(statement, rest)
            for block in _blocks(statement):
                yield from inner.walk(block, rest)

    def _statement(self, statement: ast.stmt, rest: Sequence[ast.stmt]) -> Iterator[Candidate]:
        covered: ast.expr | None = None
        pairs = _pairs(statement)
        if (pair := scopes.assigned(statement)) and (
            self.scope.function is None or "." not in pair[0]
        ):
            pairs, covered = [pair], pair[1]
        for name, value in pairs:
            built, last, refusal = self._built(name, value, statement, rest)
            yield from self._candidate(f"{self.prefix}{name}", built, statement, last, refusal)
        if attribute := _attribute(statement):
            yield from self._attribute(statement, *attribute)
        elif pair and covered is not None and self.scope.function is None:
            for name, value in _values(f"{self.prefix}{pair[0]}", covered):
                yield from self._candidate(name, value, statement, statement)
        elif isinstance(statement, ast.Return) and statement.value is not None:
            covered = statement.value
            yield from self._candidate(self.prefix.rstrip("."), covered, statement, statement)
        if covered is None or not (texts.messages_in(covered) or use_of(covered)):
            yield from self._in_calls(statement, covered)

    def _built(
        self, name: str, node: ast.expr, last: ast.stmt, rest: Sequence[ast.stmt]
    ) -> tuple[ast.expr, ast.stmt, str]:
        """Return a text or messages with what is added to them, and the last statement that does.

        The third says which line changes them otherwise.
        """
        is_list = texts.messages_in(node) is not None
        if not is_list:
            filled = use_of(node, self.scope)
            # `BASE.format(…)` is the use of another text; `BASE` alone is that text.
            text, depth = (filled[0], 0) if filled else (node, 1)
            if texts.pieces_of(self.scope, text, depth) is None or len(self.scope.bound[name]) < 2:
                return node, last, ""
            # Functions above, too, may change a variable that they declare.
            above = (one for one in self.scope.node.body if one.lineno < last.lineno)
            rest = (*(one for one in above if one in self.module.scopes), *rest)
        is_used = False
        for statement in rest:
            inner = self.module.scopes.get(statement)
            if inner is not None and (
                name in inner.bound if is_list else not _declares(statement, name)
            ):
                continue  # Its variable is its own.
            pair = scopes.assigned(statement)
            is_next = inner is None and last.col_offset == statement.col_offset
            if is_next and pair and pair[0] == name and name not in scopes.names_in(pair[1]):
                break  # Another text begins.
            match statement:
                case ast.AugAssign(target=target, op=sign, value=value) if (
                    is_next and not is_list and scopes.dotted(target) == name
                ):
                    if not isinstance(sign, ast.Add):
                        break
                    last = statement
                    node = ast.copy_location(ast.BinOp(node, sign, value), statement)
                    continue
            changes = [*_changes(statement, name, isinstance(self.scope.node, ast.ClassDef))]
            if None in changes or (changes and not isinstance(node, ast.List)):
                return node, last, f"`{name}` is changed again in line {statement.lineno}"
            reads = [one for one in ast.walk(statement) if getattr(one, "id", "") == name]
            if changes and isinstance(node, ast.List):
                is_next = is_next and isinstance(statement, ast.Expr | ast.AugAssign)
                is_known = is_next and len(reads) == 1 and not is_used
                # What is added later, or only sometimes, is left out, as `*name` is.
                items = [
                    one
                    if isinstance(one, ast.Starred) or (is_known and texts.message_of(one))
                    else texts.starred(one)
                    for added in changes
                    for one in added or ()
                ]
                node = ast.copy_location(ast.List([*node.elts, *items], ast.Load()), node)
                last = statement if is_known else last
            is_used = is_used or bool(reads and not (changes and is_next))
        return node, last, ""

    def _attribute(self, statement: ast.stmt, name: str, value: ast.expr) -> Iterator[Candidate]:
        """Yield the text that a method gives to an attribute of its class."""
        home = self.scope.outer
        if home is None or not isinstance(home.node, ast.ClassDef):
            return
        # What a text reads is the method's; who fills in one that reads nothing, the class's.
        scope = self.scope if texts.text_of(self.scope, value) is None else home
        for candidate in self._candidate(f"{home.name}.{name}", value, statement, statement):
            lines = [
                one.lineno
                for one in ast.walk(home.node)
                if isinstance(one, ast.Attribute) and one.attr == name
                if isinstance(one.ctx, ast.Store) and one.lineno != statement.lineno
            ]
            refusal = f"`self.{name}` is changed again in line {lines[-1]}" if lines else ""
            yield replace(candidate, scope=scope, refusal=refusal)

    def _candidate(
        self, name: str, node: ast.expr, statement: ast.stmt, last: ast.stmt, refusal: str = ""
    ) -> Iterator[Candidate]:
        use = None
        if isinstance(node, ast.Call) and scopes.callee_of(node) in texts.MESSAGE_LISTS:
            node = _with_variables(node, self.scope)
        if (filled := use_of(node, self.scope)) and texts.text_of(
            self.scope, filled[0]
        ) is not None:
            node, use = filled
        style = self._style(name, node) if use is None else use.style
        if style is Style.TEMPLATE and use is not None and isinstance(node, ast.Call):
            style = texts.template_style(self.module, node)
        if style is None:
            return
        offset = self.module.lines.offset
        yield Candidate(
            self.module,
            name,
            statement.lineno,
            style,
            node,
            self.scope,
            offset(statement.lineno - 1, 0),
            offset(last.end_lineno or last.lineno, 0),
            style is Style.MESSAGES or self._is_likely(node, style),
            use,
            refusal,
            is_certain=use is not None,
        )

    def _in_calls(self, statement: ast.stmt, covered: ast.expr | None) -> Iterator[Candidate]:
        """Yield the messages and prompts among the arguments of calls in a statement."""
        counts: dict[str, int] = {}
        for call in _calls(statement):
            if call is covered and scopes.callee_of(call) in texts.TEMPLATES:
                continue
            keywords = [(keyword.arg or "", keyword.value) for keyword in call.keywords]
            for name, value in [*(("messages", one) for one in call.args), *keywords]:
                if texts.messages_in(value) or (name in _KEYWORDS and self._is_prompt(value)):
                    counts[name] = counts.get(name, 0) + 1
                    number = f"_{counts[name]}" if counts[name] > 1 else ""
                    owner = self.prefix or f"{(scopes.assigned(statement) or ('',))[0]}."
                    full = f"{owner}{name}{number}".lstrip(".")
                    yield from self._candidate(full, value, statement, statement)

    def _is_prompt(self, node: ast.expr) -> bool:
        text = texts.text_of(self.scope, node)
        return isinstance(node, ast.JoinedStr) or (text is not None and " " in text)

    def _is_likely(self, node: ast.expr, style: Style) -> bool:
        pieces = texts.pieces_of(self.scope, node) or []
        written = [piece.strip() for piece in pieces if isinstance(piece, str)]
        has_values = style is not Style.TEXT or any(_FIELD.search(text) for text in written)
        return sum(map(len, written)) >= (SHORTEST_WITH_VALUES if has_values else SHORTEST)

    def _style(self, name: str, node: ast.expr) -> Style | None:
        if texts.messages_in(node):
            return Style.MESSAGES
        style = next(iter(sorted(self.module.calls_of(self.scope, name).styles)), None)
        if isinstance(node, ast.Call) and scopes.callee_of(node) in texts.TEMPLATES:
            style = texts.template_style(self.module, node)
        if texts.pieces_of(self.scope, node) is None:
            return None
        text = texts.text_of(self.scope, node)
        if text is None:
            return Style.FSTRING
        # Without a `Template` around it, a text with `${name}` is sent as it is.
        seems = Style.JINJA if style_of_text(text) is Style.JINJA else Style.TEXT
        return style or seems


def _values(name: str, node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the values of a dictionary, and of those in it, with their names."""
    for key, value in scopes.by_key(node).items():
        yield f"{name}.{key}", value
        yield from _values(f"{name}.{key}", value)


def _pairs(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """Return the variables that a statement such as `A, B = …, …` assigns, and the values."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(
            names
        ) == len(values):
            pairs = zip(names, values, strict=True)
            return [(name.id, value) for name, value in pairs if isinstance(name, ast.Name)]
    return []


def _attribute(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """Return the attribute that `self.name = …` assigns, and the value."""
    match statement:
        case (
            ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)])
            | ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name))
        ) if statement.value is not None:
            return name, statement.value
    return None


def _changes(statement: ast.stmt, name: str, is_attribute: bool) -> Iterator[list[ast.expr] | None]:
    """Yield what parts of a statement add to a variable; None for a part that changes it."""

    def is_it(node: ast.expr) -> bool:
        return scopes.dotted(node) == name and (is_attribute or not isinstance(node, ast.Attribute))

    def is_in_it(node: ast.expr) -> bool:
        while not is_it(node) and isinstance(node, ast.Subscript):
            node = node.value
        return is_it(node)

    pending: list[ast.AST] = [statement]
    while pending:
        part = pending.pop()
        # The variables of a comprehension are its own.
        passed = part.target if isinstance(part, ast.comprehension) else None
        match part:
            case ast.AugAssign(target=target, op=ast.Add(), value=value) if is_it(target):
                passed = target
                yield texts.items_of(value)
            case ast.Call(func=ast.Attribute(value=owner, attr=callee), args=arguments) if (
                callee in _MUTATORS and is_in_it(owner)
            ):
                is_adding = callee in _ADDING and bool(arguments) and is_it(owner)
                yield _ADDING[callee](arguments[-1]) if is_adding else None
            case ast.Assign(value=ast.Call() as call) if scopes.callee_of(call) == "partial":
                continue  # LangChain's `prompt.partial(…)` leaves the text alone.
            case ast.Name() | ast.Attribute() | ast.Subscript() if is_in_it(part):
                if not isinstance(part.ctx, ast.Load):
                    yield None
        children = [child for child in ast.iter_child_nodes(part) if child is not passed]
        pending += reversed(children)


_ADDING: dict[str, Callable[[ast.expr], list[ast.expr]]] = {
    "append": lambda item: [item],
    "extend": texts.items_of,
    "insert": lambda item: [texts.starred(item)],
}
_MUTATORS = {*_ADDING, "pop", "clear", "remove", "reverse", "sort", "update"}


def _declares(function: ast.stmt, name: str) -> bool:
    """Return True if a function, or one in it, says that a variable is that of an outer scope."""
    return any(
        isinstance(node, ast.Global | ast.Nonlocal) and name in node.names
        for node in ast.walk(function)
    )


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a statement."""
    for _, part in ast.iter_fields(node):
        match part:
            case [ast.stmt(), *_]:
                yield part
            case [ast.ExceptHandler() | ast.match_case(), *_]:
                yield from (inner.body for inner in part)


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls of a statement, those of the statements in it left out."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            yield node
        pending += [
            child
            for child in reversed([*ast.iter_child_nodes(node)])
            if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]


def _with_variables(node: ast.expr, scope: scopes.Scope) -> ast.expr:
    """Return messages with the templates and texts that variables have in their place."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            value = scope.value_of(name.id, name.lineno)
            if not isinstance(value, ast.Constant | ast.Call):
                return name
            filled: ast.expr = self.visit(deepcopy(value))
            return filled

    filled: ast.expr = Put().visit(deepcopy(node))
    return filled


def _written(node: ast.expr | None) -> str | None:
    """Return a constant as formatters write it; None for no constant."""
    if not isinstance(node, ast.Constant):
        return None
    return one_line(node.value) if isinstance(node.value, str) else repr(node.value)


LONGEST = 200_000
"""The longest module that is parsed for this, in characters."""


def candidates_at(text: str, start: int, end: int) -> list[Candidate]:
    """Return the likely prompts of a module that a range touches."""
    likely = _likely(text) if len(text) <= LONGEST else ()
    return [candidate for candidate in likely if candidate.start <= end and start < candidate.end]


@lru_cache(maxsize=4)
def _likely(text: str) -> tuple[Candidate, ...]:
    try:
        every = candidates(parse(text))
    except AdoptError:
        return ()
    return tuple(candidate for candidate in every if candidate.is_likely)
