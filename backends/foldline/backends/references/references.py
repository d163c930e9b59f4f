"""The uses of a name: identifiers of syntax trees and names in `__all__`, no other strings."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from keyword import kwlist
from operator import attrgetter
from typing import TYPE_CHECKING

from foldline.backends.base.languages import DOCUMENTS, has_grammar
from foldline.backends.base.path_kinds import is_test_path
from foldline.backends.formatting.text import cut_bytes
from foldline.backends.models import Reference, ReferenceKind, SymbolKind
from foldline.backends.outlines.outlines import outline_of_tree, reparsed
from foldline.backends.outlines.symbols import flatten
from foldline.backends.outlines.syntax import parse
from foldline.backends.parsers.python_excerpt import excerpt, places_in_code
from foldline.backends.references.bindings import BareNames, Variables, is_in, is_module, other_name
from foldline.backends.references.spelling import AROUND, MARKED, NAMES, OPERATOR, token_of, word_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from foldline.backends.models import SymbolInfo

    _Parsed = tuple[bytes, Node, tuple[SymbolInfo, ...] | None]

# Types of nodes, in all grammars.
_CALLS = re.compile(
    r"(?!access|preproc)(?:\w+_)?call(?:_expression)?|\w+_(?:invocation|creation_expression)"
    r"|(?:invocation|new|type_conversion)_expression|jsx_(?:opening|self_closing)_element|command_name"
)
_FIRST_CALLED = re.compile(r"(?:call|constructor|instance)_expression|command_name")
_CALLEE_FIELDS = ("function", "constructor", "name", "method", "macro", "type", "target")
_MEMBERS = re.compile(
    r"(?:\w+_)?(?:member|property|constant)_access_expression|attribute|dot|field_access"
    r"|(?:member|field|selector|navigation)_expression|navigation_suffix|scope_resolution"
    r"|(?:scoped|nested|qualified)_(?:type_)?(?:identifier|name|type)|dependent_name"
    r"|conditional_access_expression|member_binding_expression"
    r"|(?P<typed>generic_(?:function|name|type)|template_(?:function|method|type)|user_type)"
)
# With what is around them, separated by a blank.
_BASES = re.compile(
    r"(?:base_clause|class_interface_clause|base_list|(?:extends|implements|extends_type)_clause"
    r"|class_heritage|superclass|super_interfaces|extends_interfaces|delegation_specifier"
    r"|inheritance_specifier|base_class_clause) .*|argument_list class_definition"
    r"|type_list (?:super_|extends_)interfaces|trait_bounds trait_item"
)
_OF_BASES = frozenset(
    {"subscript", "constructor_invocation", "explicit_delegation", "primary_constructor_base_type"}
)
_ASSIGNMENTS = re.compile(
    r"(?:augmented_|operator_|variable_)?assignment(?:_expression|_statement)?|named_expression"
    r"|compound_assignment_expr|update_expression|short_var_declaration|(?:inc|dec)_statement"
    r"|for_(?:in_)?statement|for_in_clause"
)
_BINDINGS = re.compile(
    r"(?:lambda_|formal_)?parameters|(?:(?:typed_)?(?:default_)?|required_|optional_|formal_)"
    r"parameter|parameter_declaration|keyword_argument|\w+_splat_pattern|as_pattern_target"
    r"|(?:variable|init)_declarator|let_declaration"
)
_IMPORTS = re.compile(
    r".*import.*|using_(?:directive|declaration)|\w*use_declaration|export_clause"
)
_ELIXIR_IMPORTS = frozenset({b"alias", b"import", b"require"})
_ASSIGNED_FIELDS = ("left", "name", "argument", "operand")
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "expression_list"})
# Bytes above ASCII belong to the letters of UTF-8 text.
_WORD_BYTE = re.compile(rb"[\w\x80-\xff]")
# Tiers for `settled`: uses that are those of a function's variable, and names of arguments.
LOCAL, KEYWORD = "local", "keyword"
# What mends a source of theirs takes the names of macros out.
_WITHOUT_MACROS = frozenset({"c", "cpp"})
# A use in what a broken parse takes for the text of a string, the rest of the file.
BROKEN = "broken"
_NO_VALUE = re.compile(r"\s*(?:async\s+)?(?:def|class|module)\b")
_IMPL = re.compile(r"(?:unsafe )?impl\b(?!\()")
_NO_DEFINITIONS = frozenset({SymbolKind.TEST, SymbolKind.EXPORT})
_VARIABLES = frozenset({SymbolKind.VARIABLE, SymbolKind.TYPE})
_DESTRUCTURED = "shorthand_property_identifier_pattern"
_OPERATED = re.compile(r"(?:expression|operation|value_argument)\Z")
_NAME_FIELDS = ("name", "property", "field", "alias", "label", "operator")
_CALLED = re.compile(rb"(?:::)?<[\w.:?*<>(), \[\]]{0,200}>(?:\(| ?\{)|!?[ \t]*\(")
_SPEC = re.compile(rb"@(?:spec|(?:macro)?callback|typep?|opaque)\b")
# What macros of C are, and what those of Rust are given.
_TEXTS = frozenset({"preproc_arg", "token_tree"})
_COMMENTED = re.compile(rb"//|^\s*/?\*")
_MAKES_MACRO = re.compile(rb"\bmacro_rules\s*!\s*\Z")
_LONGEST_BEFORE = 40
# What is before and behind a name of Python that a line may define or bind to another one.
_DEFINES = re.compile(rb"[ \t]*(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+)\Z|[ \t]*type[ \t]")
_BEFORE = re.compile(rb"[ \t]*[(\[]?[\w,*= \t]*\Z")
_BEHIND = re.compile(rb"[\w,*)\] \t]*(?:=(?!=)|:)")
_BINDS = re.compile(rb"[\s\\]+as\b")
_SYNTAX = re.compile(rf"__\w+|print|exec|{'|'.join(kwlist)}")
_IMPORT_LINE = re.compile(rb"[ \t]*(?:from|import)\b")
# Of a longer macro, only the beginning is looked at.
_LONGEST_MACRO = 10_000
_MOST_ON_A_LINE = 16
# How far above an identifier an import statement may stand.
_IMPORT_DEPTH = 5
# How many of the nodes around an identifier say how it is used: `a.b.c` has one for each dot.
_MOST_AROUND = 32
# How many siblings are tried one by one before all of them are searched.
_MOST_BESIDE = 64


def can_have_references(language: str) -> bool:
    """Return whether the language has a grammar, and code with identifiers."""
    return has_grammar(language) and language not in DOCUMENTS


def references_in_source(
    path: str, language: str, data: bytes, name: str, *, guarded: bool = False
) -> list[Reference]:
    """The uses of the identifier `name` in UTF-8 `data`, in the order of their places.

    Time and memory grow with the source and the uses, however long its lines and deep its nesting.

    Raises:
        ParseRefusedError: The source isn't parsed.
        ParseCostlyError: It has so many errors that a `guarded` parse is given up.
    """
    token = token_of(language, name)
    mark = "=" * (language in MARKED and token == f"{word_of(token)}=")
    mark = "!" if language == "rust" and name.endswith("!") else mark
    word = token.removesuffix(mark).encode("utf-8", "replace")
    if not word or not _places(data, word):
        return []
    if language == "python":
        data, root, symbols = _python(data, word, guarded=guarded)
    else:
        root, symbols = parse(language, data, guarded=guarded).root_node, None
        if language not in _WITHOUT_MACROS:
            root, _ = reparsed(language, data, root, guarded=guarded)
    definitions: set[int] | None = None
    is_test = is_test_path(path)
    references: list[Reference] = []
    variables = Variables(language, data, word)
    descent = _Descent(root)
    counted = Column()
    bare_names = BareNames(data, word) if language == "ruby" else None
    for start in _places(data, word):
        nodes = descent.to(start, start + len(word))
        node = nodes[-1]
        is_export = _is_export(data, nodes, start, start + len(word))
        if not (is_export or _is_name(language, data, nodes, start, word)):
            continue
        if mark and not (_sets(data, nodes) if mark == "=" else _is_macro(data, nodes)):
            continue
        if definitions is None or symbols is None:
            symbols = symbols or outline_of_tree(language, data, root, guarded=guarded).symbols
            definitions = {
                symbol.name_line
                for symbol, _, _ in flatten(symbols)
                if symbol.kind not in _NO_DEFINITIONS
                and not _IMPL.match(symbol.signature)
                and _is_called(symbol.name, language, token)
            }
        # The text of a macro may be one token, of many lines.
        row = node.start_point[0] + data.count(b"\n", node.start_byte, start)
        kind = ReferenceKind.EXPORT if is_export else _kind(data, nodes)
        if (is_broken := _is_broken(nodes)) or any(one.type in _TEXTS for one in nodes[-2:]):
            is_call = _CALLED.match(data, start + len(word)) and row + 1 not in definitions
            kind = ReferenceKind.CALL if is_call and data[start - 3 : start] != b"fn " else kind
        is_variable = node.type == "metavariable"
        if bare_names is not None and len(nodes) > 1:
            kind, is_variable = bare_names.kind(nodes, kind)
        line = row + 1
        # What is destructured is defined where it comes from.
        defined = token if line in definitions else ""
        is_definition = (
            bool(defined)
            # A definition of Elixir's is written as a call.
            and (language == "elixir" or kind not in {ReferenceKind.CALL, ReferenceKind.IMPORT})
            and node.type != _DESTRUCTURED
        )
        if is_definition:
            definitions.discard(line)
            kind = ReferenceKind.DEFINITION
        variables.add(len(references), nodes, kind)
        begin = data.rfind(b"\n", 0, start) + 1
        before = counted.to(data, begin, start)
        tiers = {_is_keyword(nodes): KEYWORD, is_variable: LOCAL, is_broken: BROKEN}
        references.append(
            Reference(
                path,
                line,
                cut_bytes(data, begin, start, before),
                kind,
                _enclosing(symbols, line, language, defined),
                is_test,
                before + 1,
                before + 1 + len(word.decode("utf-8", "replace")),
                tiers.get(True, "possible"),
                other_name(data, nodes),
            )
        )
    for number in variables.finish():
        references[number] = replace(references[number], tier=LOCAL)
    return references


def tokens_in_source(path: str, language: str, data: bytes, name: str) -> list[Reference] | None:
    """The same uses without a look at their syntax, each an import by its line or of no kind.

    None where only a parse tells: in other languages than Python, and where the name may be
    defined, exported or bound to another one.
    """
    word = name.encode("utf-8", "replace")
    is_quoted = b'"%b"' % word in data or b"'%b'" % word in data
    is_unsure = language != "python" or is_quoted or _SYNTAX.fullmatch(name)
    if is_unsure or (places := places_in_code(data, word)) is None:
        return None
    counted, is_test, line, last = Column(), is_test_path(path), 1, 0
    uses = []
    for start in places:
        line, last = line + data.count(b"\n", last, start), start
        begin, end = data.rfind(b"\n", 0, start) + 1, start + len(word)
        is_bound = _BEHIND.match(data, end) and _BEFORE.match(data, begin, start)
        if is_bound or _BINDS.match(data, end) or _DEFINES.match(data, begin, start):
            return None
        before = counted.to(data, begin, start)
        kind = ReferenceKind.IMPORT if _IMPORT_LINE.match(data, begin) else ""
        at = cut_bytes(data, begin, start, before), kind, "", is_test, before + 1
        uses.append(Reference(path, line, *at, before + 1 + len(name)))
    return uses


def settled(uses: Iterable[Reference]) -> list[Reference]:
    """The uses with their tiers, where all of them are known.

    What else defines the name explains its local variables, and a function or a class is no
    argument of a call.
    """
    uses = list(uses)
    defining = [use for use in uses if use.kind == ReferenceKind.DEFINITION]
    callable_alone = all(_NO_VALUE.match(use.context) for use in defining)
    is_known = bool(defining) or any(use.kind == ReferenceKind.IMPORT for use in uses)
    others = {LOCAL: is_known, KEYWORD: bool(defining) and callable_alone, BROKEN: False}
    return [
        replace(use, tier="another" if others[use.tier] else "possible")
        if use.tier in others
        else use
        for use in uses
    ]


class _Descent:
    """Finds the innermost nodes at ascending places, with the nodes around them.

    A node finds its parent by searching from the root. So the nodes on the way down are kept, and
    from one place to the next only those that don't hold both are replaced.
    """

    def __init__(self, root: Node) -> None:
        self._cursor = root.walk()
        self._nodes = [root]

    def to(self, start: int, end: int) -> list[Node]:
        """The nodes around a place, the root first; places come in ascending order."""
        cursor, nodes = self._cursor, self._nodes
        while len(nodes) > 1 and nodes[-1].end_byte < end:
            nodes.pop()
            if self._beside(start, end):
                break
            cursor.goto_parent()
        while cursor.goto_first_child_for_byte(start) is not None:
            node = cursor.node
            if node is None or node.start_byte > start or node.end_byte < end:
                cursor.goto_parent()
                break
            nodes.append(node)
        return nodes

    def _beside(self, start: int, end: int) -> bool:
        """Go to the next sibling that holds a place, without searching all of them from above."""
        cursor = self._cursor
        for _ in range(_MOST_BESIDE):
            if not cursor.goto_next_sibling():
                return False
            node = cursor.node
            if node is not None and node.end_byte > start:
                if node.start_byte > start or node.end_byte < end:
                    return False
                self._nodes.append(node)
                return True
        return False


class Column:
    """Counts the characters before ascending places of a line."""

    def __init__(self) -> None:
        self._begin = self._at = self._count = 0

    def to(self, data: bytes, begin: int, at: int) -> int:
        """The characters from the line's beginning to a place; places come in ascending order."""
        if begin != self._begin:
            self._begin = self._at = begin
            self._count = 0
        self._count += len(data[self._at : at].decode("utf-8", "replace"))
        self._at = at
        return self._count


def _python(data: bytes, word: bytes, *, guarded: bool) -> _Parsed:
    """The parsed part of the file that decides about `word`: mostly a small one."""
    places = _places(data, word)
    short = excerpt(data, places)
    root = parse("python", short, guarded=guarded).root_node
    symbols = None if root.has_error else outline_of_tree("python", short, root).symbols
    # A variable is a symbol where it is first assigned, so everything before it matters.
    kept = (symbol for symbol, _, _ in flatten(symbols or ()) if symbol.kind in _VARIABLES)
    names = {symbol.name.encode() for symbol in kept} - {word}
    others = [other for other in names if data.count(other) > short.count(other)]
    if others:
        places = sorted({*places, *(offset for other in others for offset in _places(data, other))})
        short = excerpt(data, places)
        root = parse("python", short, guarded=guarded).root_node
        symbols = None
    if root.has_error:
        return data, parse("python", data, guarded=guarded).root_node, None
    return short, root, symbols


def _places(data: bytes, word: bytes) -> list[int]:
    """The offsets of `word` between bytes that belong to no identifier, unless it is no word."""
    if operator := OPERATOR.fullmatch(word.decode("utf-8", "replace")):
        written = re.compile(rb"\boperator\s*" + re.escape(operator[1].encode()))
        return [match.start() for match in written.finditer(data)]
    exact, (first, last) = re.escape(word), (word[:1], word[-1:])
    # A pattern that begins with the word is looked for fast.
    before = rb"(?<![\w\x80-\xff]%b)" % exact if _WORD_BYTE.match(first) else b""
    behind = rb"(?![\w\x80-\xff])" if _WORD_BYTE.match(last) else b""
    return [match.start() for match in re.finditer(exact + before + behind, data)]


def _is_name(language: str, data: bytes, nodes: list[Node], start: int, word: bytes) -> bool:
    """Return whether the last of `nodes` is a name that has the word at a place."""
    node, end = nodes[-1], start + len(word)
    if "comment" in node.type:
        return False
    first, last = node.start_byte, node.end_byte
    is_whole = (first, last) == (start, end)
    parent = nodes[-2] if len(nodes) > 1 else node
    if node.type in {"operator_name", "operator_declaration"}:
        last = last if node.type == "operator_name" else data.find(b"(", start)
        return b"".join(data[start:last].split()) == word
    is_broken = _is_broken(nodes)
    if not (is_broken or NAMES.fullmatch(node.type) or NAMES.fullmatch(parent.type)):
        # A keyword, or an operator, that stands where a name does.
        is_name = is_in(node, parent, _NAME_FIELDS)
        is_name |= not node.type[0].isalpha() and _OPERATED.search(parent.type) is not None
        return is_whole and is_name and not node.is_named
    if is_whole:
        return True
    if is_broken:
        return _COMMENTED.search(data[data.rfind(b"\n", 0, start) + 1 : start]) is None
    around = data[first:start], data[end:last]
    forms = zip(AROUND.get(language, (b"", b"")), around, strict=True)
    return start - first < _LONGEST_MACRO and all(
        re.fullmatch(form, text, re.DOTALL) for form, text in forms
    )


def _is_broken(nodes: list[Node]) -> bool:
    """Return whether the last node is text of no string, or what no node has."""
    node = nodes[-1]
    if node.child_count:
        return node.has_error
    return len(nodes) > 1 and "string" in node.type and nodes[-2].type == "ERROR"


def _is_keyword(nodes: list[Node]) -> bool:
    """Return whether a name is that of an argument in a call of Python, or a key of Ruby."""
    node, parent = nodes[-1], nodes[-2] if len(nodes) > 1 else nodes[-1]
    is_argument = parent.type == "keyword_argument" and is_in(node, parent, ["name"])
    return is_argument or node.type == "hash_key_symbol"


def _sets(data: bytes, nodes: list[Node]) -> bool:
    """Return whether a name of Ruby is that of a setter: in `def x=`, `a.x = 1`, `attr_writer`."""
    above, parent = nodes[-3:-1]
    return (
        parent.type == "setter"
        or (parent.type == "call" and is_in(parent, above, ["left"]))
        or (
            above.type == "call"
            and data.startswith((b"attr_writer", b"attr_accessor"), above.start_byte)
        )
    )


def _is_macro(data: bytes, nodes: list[Node]) -> bool:
    """Return whether a name of Rust is that of a macro: in `run!`, `macro_rules! run` or `use`."""
    node = nodes[-1]
    start, end = node.start_byte, node.end_byte
    makes = _MAKES_MACRO.search(data, max(start - _LONGEST_BEFORE, 0), start)
    around = nodes[-_MOST_AROUND:-1]
    return bool(makes) or data.startswith(b"!", end) or _is_imported(data, around, node)


def _is_export(data: bytes, nodes: list[Node], start: int, end: int) -> bool:
    """Return whether the last node is a name in `__all__`."""
    node = nodes[-1]
    is_whole = node.type == "string_content" and (node.start_byte, node.end_byte) == (start, end)
    return is_whole and data.startswith(b"__all__", nodes[1].start_byte)


def _is_called(name: str, language: str, token: str) -> bool:
    return token in name and token_of(language, name.rpartition(".")[2] or name) == token


def _enclosing(symbols: tuple[SymbolInfo, ...], line: int, language: str, defined: str) -> str:
    """The qualified name of the innermost symbol around `line`; a definition is not in itself."""
    names: list[str] = []
    level, outer = symbols, 0
    while True:
        after = bisect_right(level, line, key=attrgetter("line"))
        around = None
        # Symbols of one level follow each other, except several on one line.
        for symbol in reversed(level[max(after - _MOST_ON_A_LINE, 0) : after]):
            if line > symbol.line_end or symbol.kind == SymbolKind.EXPORT:
                continue
            beside = outer == line or (defined and symbol.name_line == line)
            if beside and symbol.kind == SymbolKind.VARIABLE and symbol.name != defined:
                continue  # What else the line of `class A(val x: T)` has belongs to the class.
            is_it = defined and _is_called(symbol.name, language, defined)
            if symbol.name_line != line or not is_it:
                around = symbol
                break
            return ".".join((*names, symbol.name.rpartition(".")[0])).rstrip(".")
        if around is None:
            return ".".join(names)
        names.append(around.name)
        level, outer = around.children, around.name_line


def _kind(data: bytes, nodes: list[Node]) -> ReferenceKind:
    """The use of the last of `nodes`; the others are around it, the root first."""
    around = nodes[-_MOST_AROUND:-1]
    node = nodes[-1]
    if not around:
        return ReferenceKind.READ
    if _is_imported(data, around, node):
        return ReferenceKind.IMPORT
    if node.type == _DESTRUCTURED:
        return ReferenceKind.WRITE
    if node.type in {"atom", "keyword"}:
        return ReferenceKind.ATOM
    if any(one.type == "unary_operator" and _SPEC.match(data, one.start_byte) for one in around):
        return ReferenceKind.SPEC
    target, parent = node, around.pop()
    is_member = False
    if parent.type == "variable_name":  # PHP: `$name` is a name in a variable.
        target, parent = parent, around.pop() if around else parent
    while around and (member := _MEMBERS.fullmatch(parent.type)):
        if parent.named_child(0 if member["typed"] else parent.named_child_count - 1) != target:
            break  # The object, or an argument, not the member.
        # A constant of Ruby's is none.
        is_member |= not (member["typed"] or parent.type == "scope_resolution")
        target, parent = parent, around.pop()
    if _CALLS.fullmatch(parent.type) and is_in(target, parent, _CALLEE_FIELDS):
        return ReferenceKind.CALL
    if _FIRST_CALLED.fullmatch(parent.type) and parent.named_child(0) == target:
        return ReferenceKind.CALL
    # `f<T>(x)` is two comparisons in some grammars.
    if parent.type.startswith(("binary", "comparison")) and _CALLED.match(data, node.end_byte):
        return ReferenceKind.CALL
    if _is_written(target, parent, around):
        return ReferenceKind.WRITE
    otherwise = ReferenceKind.ATTRIBUTE if is_member else ReferenceKind.READ
    return ReferenceKind.BASE if _is_base(target, parent, around) else otherwise


def _is_imported(data: bytes, around: list[Node], node: Node) -> bool:
    for above in reversed(around[-_IMPORT_DEPTH:]):
        kind = above.type
        if kind == "variable_declarator" and is_module(data, above):
            name = above.child_by_field_name("name")
            return node.end_byte == above.end_byte or (
                name is not None and node.end_byte <= name.end_byte
            )
        if _IMPORTS.fullmatch(kind) or (
            (target := above.child_by_field_name("target"))
            and data[target.start_byte : target.end_byte] in _ELIXIR_IMPORTS
        ):
            return True
        if kind.endswith(("_statement", "_definition", "block")):
            return False
    return False


def _is_base(target: Node, parent: Node, around: list[Node]) -> bool:
    if around and parent.type in _OF_BASES and parent.named_child(0) == target:
        parent, around = around[-1], around[:-1]
    is_of_trait = parent.type == "impl_item" and is_in(target, parent, ["trait"])
    outer = around[-1].type if around else ""
    return is_of_trait or _BASES.fullmatch(f"{parent.type} {outer}") is not None


def _is_written(target: Node, parent: Node, around: list[Node]) -> bool:
    while parent.type in _PATTERNS and around:
        target, parent = parent, around.pop()
    if _ASSIGNMENTS.fullmatch(parent.type):
        return is_in(target, parent, _ASSIGNED_FIELDS)
    if not _BINDINGS.fullmatch(parent.type):
        return False
    for field in ("value", "type"):
        side = parent.child_by_field_name(field)
        if side is not None and side.start_byte <= target.start_byte < side.end_byte:
            return False
    name = parent.child_by_field_name("name")
    return name is None or target.start_byte <= name.start_byte
