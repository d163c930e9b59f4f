"""Outlines of languages that `language_tables` describes, by one walk for all of them.

The walk doesn't enter the bodies of functions, where most nodes are. In languages whose functions
hold functions, a regular expression finds in the bytes where one may start, and the tree around
that byte tells which function it is in.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.models import SymbolKind
from foldline.backends.parsers.language_tables import LANGUAGES, LanguageTable, Rule
from foldline.backends.parsers.outline_builder import Outline, OutlineBuilder
from foldline.backends.parsers.strings import doc_above, fold_space, last_line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tree_sitter import Node

_FUNCTION, _CLASS, _METHOD = SymbolKind.FUNCTION, SymbolKind.CLASS, SymbolKind.METHOD
_VARIABLE, _TYPE, _ENUM = SymbolKind.VARIABLE, SymbolKind.TYPE, SymbolKind.ENUM
_CONTAINERS = frozenset({_CLASS, SymbolKind.INTERFACE, _ENUM})
_GENERICS = re.compile(r"<[^()]*>")
_SEPARATORS = re.compile(r"::?|\\")
_OPERATOR = re.compile(r"((?:.*::)?)\s*operator\b\s*(\(\s*\)|[^(]+)(?:\(.*)?")
_BRACKETS = re.compile(rb"\[.*\]", re.DOTALL)
_WORD = re.compile(rb"[^\W\d]\w*")
# Starts in lower case, as types don't.
_VARIABLE_NAME = re.compile(r"[a-z_]\w*")
_MACRO = re.compile(rb"[A-Z][A-Z\d_]*\(")
# A constructor's name has no `_`.
_MACRO_NAME = re.compile(r"[A-Z][A-Z\d]*_[A-Z\d_]*")
_STATEMENTS = frozenset({"if", "for", "while", "switch", "catch", "return"})
_LONGEST_VALUE = 60
_LONGEST_NAME = 80
_LONGEST_SIGNATURE = 300
# Declarators nested deeper than this aren't searched for a name.
_DEEPEST = 50
# The matches in a file that are looked at, and how far above a match its definition may be.
_MOST_INNER, _NEAR = 2_000, 3
# The definitions inside functions: the field of the name, and the kind.
_INNER = {
    **dict.fromkeys(("var_spec", "function_item"), ("name", _FUNCTION)),
    "short_var_declaration": ("left", _FUNCTION),
    "let_declaration": ("pattern", _FUNCTION),
    "call_expression": ("function", SymbolKind.TEST),
}
_SUBTEST = re.compile(r"\w\.Run\Z|\A(?:Describe|Context|When|It)\Z")
_CALLS, _CALLED = frozenset({"call", "command"}), ("method", "target", "name")
# A text, or a name with what belongs to it cut off.
_TITLE = re.compile(r"""["'](.+)["']\Z|[:"'&]*([^\s("'=,]+[?!=]?)""", re.DOTALL)
# What a Go struct embeds is named after its type.
_EMBEDDED = frozenset({"generic_type", "qualified_type", "type_elem"})
# The labels of a block of HCL.
_LABELS = frozenset({"identifier", "string_lit"})
# Several may share a keyword, such as `type (…)` of Go and `use a::{b as c}` of Rust.
_GROUPED = frozenset({"type_spec", "type_alias", "const_spec", "var_spec", "use_as_clause"})

_TABLES = {language.name: language.table for language in LANGUAGES if language.table is not None}


def parser_of(language: str) -> Callable[[bytes, Node], Outline]:
    """The parser that follows the table of `language`."""
    table = _TABLES[language]
    return lambda data, root: _Walk(data, table).run(root)


class _Scope(NamedTuple):
    node: Node
    parent: int
    kind: str
    outer: Node | None


class _Walk:
    """One pass over a tree; scopes wait on a stack with the symbol that encloses them."""

    def __init__(self, data: bytes, table: LanguageTable) -> None:
        self.data = data
        self.table = table
        self.builder = OutlineBuilder()
        self.imports: list[str] = []
        self._seen: dict[tuple[int, str], int] = {}  # variables, and their symbols
        self._functions: dict[int, int] = {}  # nodes of functions, and their symbols
        self._named: set[int] = set()  # where their names start

    def run(self, root: Node) -> Outline:
        waiting = [_Scope(root, -1, "", None)]
        while waiting:
            scope = waiting.pop()
            attributes: list[Node] = []
            for node in scope.node.named_children:
                if node.type in self.table.attributes:
                    attributes.append(node)
                    continue
                waiting.extend(self._visit(node, scope, attributes))
                attributes = []
        if self.table.inner is not None:
            self._find_inner(root, self.table.inner)
        return Outline(self.builder.finish(), self.imports)

    def _find_inner(self, root: Node, pattern: re.Pattern[bytes]) -> None:
        """Add the named functions and the tests that stand in functions."""
        for match in islice(pattern.finditer(self.data), _MOST_INNER):
            if match.end() in self._named or self._add_macro(root, match):
                continue
            # The match is near the beginning of the definition, so that is a few nodes above.
            node = root.descendant_for_byte_range(match.end() - 1, match.end() - 1)
            for _ in range(_NEAR):
                if node is not None and node.type not in _INNER:
                    node = node.parent
            if node is None or node.type not in _INNER or node.id in self._functions:
                continue
            field_name, kind = _INNER[node.type]
            name_node = node.child_by_field_name(field_name)
            word = self._text(name_node) if name_node is not None else ""
            brace = self.data.find(b"{", match.end(), node.end_byte)
            text = self.data[node.start_byte : node.end_byte if brace < 0 else brace]
            signature = shorten(fold_space(text[:1000]), _LONGEST_SIGNATURE)
            if kind is SymbolKind.TEST:
                arguments = node.child_by_field_name("arguments")
                if arguments is None or not arguments.named_children or not _SUBTEST.search(word):
                    continue
                title = self._text(arguments.named_children[0])
                title = title[1:-1].strip() if title[0] in '"`' else title
                signature, word = f'{word} "{title}"', title
            elif not word.isidentifier():
                continue
            # The nearest function around it is its parent.
            enclosing = node.parent
            for _ in range(_DEEPEST):
                if enclosing is None or enclosing.id in self._functions:
                    break
                enclosing = enclosing.parent
            else:
                continue
            parent = self._functions[enclosing.id] if enclosing is not None else -1
            if parent >= 0 or kind is SymbolKind.TEST:
                first, last = node.start_point[0] + 1, node.end_point[0] + 1
                index = self.builder.add(parent, word, kind, first, last, signature)
                self._functions[node.id] = index

    def _add_macro(self, root: Node, match: re.Match[bytes]) -> bool:
        """Add a `macro_rules!` in the unparsed tokens of another macro; False without one."""
        name = root.descendant_for_byte_range(match.end(), match.end() + 1)
        body = name and name.next_sibling
        is_macro = match[0].startswith(b"macro") and body is not None and body.type == "token_tree"
        if is_macro and name is not None and body is not None:
            signature = f"macro_rules! {self._text(name)}"
            first, last = name.start_point[0] + 1, body.end_point[0] + 1
            self.builder.add(-1, self._text(name), _FUNCTION, first, last, signature)
        return is_macro

    def _call(self, node: Node, scope: _Scope) -> list[_Scope]:
        """Add what a call such as `describe "a" do` defines; return the blocks in it."""
        called = next(filter(None, map(node.child_by_field_name, _CALLED)), None)
        word = self._text(called) if called is not None else ""
        rule = self.table.calls.get(word)
        if rule is None:
            return []
        inside = node.child_by_field_name("arguments") or _body(node, "<arguments>")
        arguments = inside.named_children if inside else node.children_by_field_name("argument")
        body = node.child_by_field_name("block") or _body(node, "<do_block>")
        if not rule.body:
            looked = filter(None, (inside, body))
            return [_Scope(one, scope.parent, scope.kind, None) for one in looked]
        index = -1
        for argument in arguments if rule.name == ("*",) else arguments[:1]:
            text = self._text(argument)
            title = _TITLE.match(text)
            if title is None:
                continue
            name = shorten((title[1] or title[2]).strip(), _LONGEST_SIGNATURE)
            end = node.end_byte if body is None else body.start_byte
            signature = shorten(fold_space(self.data[node.start_byte : end]), _LONGEST_VALUE)
            if rule.name == ("*",) or rule.kind is SymbolKind.TEST:
                signature = f'{word} "{name}"' if rule.kind is SymbolKind.TEST else f"{word} {text}"
            index = self.builder.add(
                scope.parent,
                name,
                self._kind(rule.kind, node, argument, scope),
                node.start_point[0] + 1,
                last_line(self.data, node),
                signature,
                (),
                doc_above(self.data, node.start_byte, hashes=self.table.hash_comments),
                argument.start_point[0] + 1,
            )
        return [_Scope(body, index, rule.kind, None)] if body and rule.opens and index >= 0 else []

    def _text(self, node: Node) -> str:
        return fold_space(self.data[node.start_byte : node.end_byte])

    def _visit(self, node: Node, scope: _Scope, attributes: list[Node]) -> list[_Scope]:
        rule = self.table.rules.get(node.type)
        if rule is not None:
            return self._define(node, rule, scope, attributes)
        if node.type in self.table.imports and scope.parent < 0:
            self._import(node)
        # A private `use` passes nothing on.
        is_private = node.type == "use_declaration" and not _follow(node, "<visibility_modifier>")
        if node.type in self.table.through and not is_private:
            # A wrapper of exactly one definition gives it its first line: `template <…>`.
            alone = node.type.endswith("_declaration") and node.named_child_count == 1
            outer = node if alone or node.type == "template_declaration" else None
            return [_Scope(node, scope.parent, scope.kind, outer)]
        return self._call(node, scope) if node.type in _CALLS and self.table.calls else []

    def _define(
        self, node: Node, rule: Rule, scope: _Scope, attributes: list[Node]
    ) -> list[_Scope]:  # fmt: skip
        body = _body(node, rule.body)
        names = self._names(node, rule)
        if rule.opens and body is None and node.type.endswith("_specifier"):
            return []  # `struct s x;` uses a type and defines none.
        below = self._types_inside(node, scope)
        if node.type == "type_definition" and below:
            # `typedef struct node { … } node;` defines one type.
            inner = node.child_by_field_name("type")
            name_node = inner and inner.child_by_field_name("name")
            names = [one for one in names if name_node is None or one[0] != self._title(name_node)]
        if not names:
            if not rule.fallback:
                return below
            names = [(rule.fallback, node)]
        outer = scope.outer or node
        first = attributes[0] if attributes else outer
        signature = self._signature(outer, node, body, rule.kind)
        index = -1
        for title, name in names:
            kind = self._kind(rule.kind, node, name, scope)
            seen = self._seen.get((scope.parent, title)) if kind == _VARIABLE else None
            has_value = name.parent is not None and name.parent.type == "init_declarator"
            if seen is not None and not has_value:
                continue
            index = self.builder.add(
                scope.parent,
                title,
                kind,
                first.start_point[0] + 1,
                last_line(self.data, node),
                signature,
                [self._text(attribute) for attribute in attributes],
                doc_above(self.data, first.start_byte, hashes=self.table.hash_comments),
                name.start_point[0] + 1,
            )
            if seen is not None:
                # `static int size;` only declares what this line gives a value.
                self.builder.replace_by_last(seen)
                index = seen
            self._seen[scope.parent, title] = index
        if rule.kind in {_FUNCTION, _METHOD} and index >= 0:
            self._functions[node.id] = index
            self._named.add(names[-1][1].start_byte)
        if body is not None and rule.opens and index >= 0:
            below.append(_Scope(body, index, rule.kind, None))
        if way := self.table.members.get(node.type):
            owner = index if rule.opens else scope.parent
            below += (_Scope(one, owner, rule.kind, None) for one in _along(node, way.split(".")))
        return below

    def _types_inside(self, node: Node, scope: _Scope) -> list[_Scope]:
        """The struct, union or enum that a declaration of C also defines."""
        inner = node.child_by_field_name("type")
        if inner is None or not inner.type.endswith("_specifier"):
            return []
        rule = self.table.rules.get(inner.type)
        if rule is None or inner.child_by_field_name("body") is None:
            return []
        return self._define(inner, rule, _Scope(inner, scope.parent, scope.kind, None), [])

    def _kind(self, kind: SymbolKind, node: Node, name: Node, scope: _Scope) -> SymbolKind:
        if node.type == "assignment" and _makes_type(node):
            return _CLASS
        if kind is _VARIABLE and _declares_function(node, name):
            kind = _FUNCTION
        if kind is _FUNCTION and scope.kind in _CONTAINERS:
            return _METHOD
        return kind

    def _names(self, node: Node, rule: Rule) -> list[tuple[str, Node]]:
        if rule.name == ("&",):  # resource "a" "b" {
            labels = [one for one in node.named_children if one.type in _LABELS]
            return [(".".join(self._text(one).strip('"') for one in labels), node)]
        nodes = _along(node, rule.name)
        if rule.name == ("declarator*",):
            nodes = [] if self._ends_another(node) else [self._before_macro(one) for one in nodes]
            nodes = [one for one in nodes if not self._only_uses(node, self._text(one))]
        prefix = "operator" if rule.name == ("operator",) else ""
        if self.table.receivers:
            nodes = nodes or _follow(node, "type")
            prefix = self._receiver(node)
        return [
            (prefix + self._title(name), name) for name in nodes if name.end_byte > name.start_byte
        ]

    def _ends_another(self, node: Node) -> bool:
        """Return whether it is a macro that ends what is before it: `int size_ GUARDED_BY(m);`."""
        before = node.prev_sibling if _MACRO.match(self.data, node.start_byte) else None
        return before is not None and before.child_count > 0 and before.children[-1].is_missing

    def _only_uses(self, node: Node, name: str) -> bool:
        """Return whether it is `MACRO_OF(a)` in a class or behind one, or `else if (a) {`."""
        type_node = node.child_by_field_name("type")
        is_free = type_node is None or type_node.child_by_field_name("body") is not None
        is_macro = node.type == "declaration" and is_free and _MACRO_NAME.fullmatch(name)
        return bool(is_macro) or name in _STATEMENTS

    def _before_macro(self, name: Node) -> Node:
        """The name; where a broken parse takes a macro for it, the variable before the macro."""
        broken = name.parent and name.parent.prev_sibling if self._text(name).isupper() else None
        if not broken or broken.type != "ERROR" or not broken.named_children:
            return name
        before = _innermost(broken.named_children[-1], "declarator")
        return before if _VARIABLE_NAME.fullmatch(self._text(before)) else name

    def _title(self, name: Node) -> str:
        """The name as callers write it: `a::b::C<int>::f` is `a.b.C.f`."""
        # What a broken parse takes for a name may be the rest of the file.
        line = self.data[name.start_byte : name.end_byte].partition(b"\n")[0]
        text = fold_space(line).lstrip("*" if name.type == "identifier" else "$*")[:_LONGEST_NAME]
        if name.type in _EMBEDDED:
            text = text.partition("[")[0].rpartition(".")[2]
        sign = ""
        if operator := _OPERATOR.fullmatch(text):
            # `operator ==` and `operator bool() const`.
            text, sign = operator[1], "".join(operator[2].split())
            sign = f"operator{' ' * sign[0].isalpha()}{sign}"
        return _SEPARATORS.sub(".", _GENERICS.sub("", text)) + sign or text

    def _receiver(self, node: Node) -> str:
        """`Server.` for a method with the receiver `(s *Server[T])`."""
        receiver = node.child_by_field_name("receiver")
        if receiver is None:
            return ""
        text = self.data[receiver.start_byte : receiver.end_byte]
        words = _WORD.findall(_BRACKETS.sub(b"", text))
        return f"{words[-1].decode('utf-8', 'replace')}." if words else ""

    def _signature(self, outer: Node, node: Node, body: Node | None, kind: SymbolKind) -> str:
        end = node.end_byte if body is None else body.start_byte
        parts = [node.child_by_field_name(name) for name in self.table.signature_fields]
        ends = (part.end_byte for part in parts if part is not None)
        last = node.end_byte if body is None else body.end_byte
        end = max((one for one in ends if one < last or body is None), default=end)
        text = self.data[outer.start_byte : end]
        if node.type in {"type_spec", "block"}:
            # The body of a Go type is the type, of which the part before the brace is signature.
            text = self.data[outer.start_byte : node.end_byte].partition(b"{")[0]
        if node.type in _GROUPED and outer is node and node.parent and node.parent.parent:
            # `type (…)` and `const (…)`: each says what it is.
            text = node.parent.type.partition("_")[0].encode() + b" " + text
        if kind in {_VARIABLE, _TYPE} and body is None:
            return shorten(fold_space(text[: 3 * _LONGEST_VALUE]).rstrip(";,"), _LONGEST_VALUE)
        signature = fold_space(text).rstrip(";{ ").removesuffix("=").rstrip()
        return shorten(signature, _LONGEST_SIGNATURE)

    def _import(self, node: Node) -> None:
        text = fold_space(self.data[node.start_byte : node.end_byte]).rstrip("; ")
        for word in self.table.import_words:
            text = text.removeprefix(word).strip()
        if text.startswith("(") and text.endswith(")"):
            self.imports.extend(text[1:-1].replace('"', "").split())
        else:
            self.imports.append(text.strip('"<>'))


def _body(node: Node, field_name: str) -> Node | None:
    if not field_name:
        return None
    if "." in field_name:  # `Cart = Struct.new(:total) do`
        outer, _, field_name = field_name.partition(".")
        node = node.child_by_field_name(outer) or node
    if field_name.startswith("<"):
        kinds = {field_name[1:-1], "enum_class_body"}
        return next((child for child in node.named_children if child.type in kinds), None)
    return node.child_by_field_name(field_name)


def _along(node: Node, way: Iterable[str]) -> list[Node]:
    nodes = [node]
    for step in way:
        nodes = [next_node for node in nodes for next_node in _follow(node, step)]
    return nodes


def _follow(node: Node, step: str) -> list[Node]:
    if step.startswith("?"):
        words = step[1:].split("|")
        return [node] if any(child.type in words for child in node.children) else []
    if step.startswith("<"):
        kind, _, first = step[1:].partition(">")
        children = [child for child in node.named_children if child.type == kind]
        return children[:1] if first else children
    if step.endswith("*"):
        return [_innermost(child, step[:-1]) for child in node.children_by_field_name(step[:-1])]
    name, _, kind = step.partition(":")
    children = node.children_by_field_name(name)
    return (
        children[:1] if kind == "1" else [one for one in children if not kind or one.type == kind]
    )


def _innermost(node: Node, name: str) -> Node:
    for _ in range(_DEEPEST):
        if node.type == "operator_cast":
            break
        inner = node.child_by_field_name(name)
        if inner is None and node.type in {"parenthesized_declarator", "reference_declarator"}:
            inner = node.named_children[-1] if node.named_child_count else None
        if inner is None:
            break
        node = inner
    return node


def _makes_type(assignment: Node) -> bool:
    """Return whether Ruby's `Cart = Struct.new(:total) do` has a body."""
    right = assignment.child_by_field_name("right")
    return right is not None and right.child_by_field_name("block") is not None


def _declares_function(node: Node, name: Node) -> bool:
    """Return whether a declaration of C or C++ is a function's prototype."""
    if node.type not in {"declaration", "field_declaration"}:
        return False
    above = name.parent
    return above is not None and above.type == "function_declarator"
