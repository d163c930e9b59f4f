"""Outlines of JavaScript and TypeScript, with JSX, from the trees of their grammars.

The two grammars share their node names; what only TypeScript has never occurs in the other.
Nothing recurses, so depth of nesting is no limit.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.models import SymbolKind
from foldline.backends.parsers.outline_builder import Outline, OutlineBuilder
from foldline.backends.parsers.strings import doc_above, fold_space, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

DECLARATIONS = {
    "function_declaration": SymbolKind.FUNCTION,
    "generator_function_declaration": SymbolKind.FUNCTION,
    "function_signature": SymbolKind.FUNCTION,
    "class_declaration": SymbolKind.CLASS,
    "abstract_class_declaration": SymbolKind.CLASS,
    "interface_declaration": SymbolKind.INTERFACE,
    "enum_declaration": SymbolKind.ENUM,
    "type_alias_declaration": SymbolKind.TYPE,
    "internal_module": SymbolKind.NAMESPACE,
    "module": SymbolKind.NAMESPACE,
}
MEMBERS = {
    "method_definition": SymbolKind.METHOD,
    "method_signature": SymbolKind.METHOD,
    "abstract_method_signature": SymbolKind.METHOD,
    "public_field_definition": SymbolKind.VARIABLE,
    "field_definition": SymbolKind.VARIABLE,
    "property_signature": SymbolKind.VARIABLE,
    "enum_assignment": SymbolKind.VARIABLE,
    "call_signature": SymbolKind.METHOD,
    "construct_signature": SymbolKind.METHOD,
}
FUNCTION_VALUES = frozenset(
    {"arrow_function", "function_expression", "function", "generator_function"}
)
# Whose statements may hold declarations that count as those of the scope around.
COMPOUND = frozenset(
    {
        "statement_block",
        "if_statement",
        "else_clause",
        "try_statement",
        "catch_clause",
        "finally_clause",
        "for_statement",
        "for_in_statement",
        "while_statement",
        "do_statement",
        "switch_statement",
        "switch_body",
        "switch_case",
        "switch_default",
        "labeled_statement",
        "return_statement",
        "ERROR",
    }
)
CALLS = frozenset(
    {
        "call_expression",
        "parenthesized_expression",
        "unary_expression",
        "arguments",
        "sequence_expression",
        "await_expression",
    }
)


_NAMED_TOP = frozenset({"export_statement", "ambient_declaration", "expression_statement"})
# A string is matched first, so that what looks like a comment inside it is none.
_COMMENT = re.compile(
    rb"(\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?|`(?:\\.|[^`\\])*+`?)|//[^\n]*|/\*.*?(?:\*/|\Z)",
    re.DOTALL,
)
_REQUIRE = re.compile(rb"\brequire\(\s*(['\"])(.+?)\1\s*\)")
_DEFINES = re.compile(rb"function|=>|class |\) ?\{")
# `it.each([…])("adds %i", …)`: the function with its modifiers, then the title.
_TEST = re.compile(
    rb"(?:t\.)?[fx]?(?P<word>describe|it|test|context|suite|specify|bench)((?:\.\w+)*)(?=\s*[(`])"
)
_COMPONENT = re.compile(rb"(?:\w+\.)?(?:memo|forwardRef|observer|defineComponent)\b")
_NAMELESS = {"call_signature": "()", "construct_signature": "new"}
# What makes a parameter of a constructor a member.
_MAKES_MEMBER = frozenset({"accessibility_modifier", "override_modifier", "readonly"})
_LONGEST_VALUE = 60
_LONGEST_TITLE = 200


class _Scope(NamedTuple):
    """A node whose children are visited, the symbol around it, and the kind of scope."""

    node: Node
    parent: int
    place: str  # "top", "function", "class", "object", "interface"


def outline_typescript(data: bytes, root: Node) -> Outline:
    """The outline of UTF-8 `data`, JavaScript or TypeScript, whose tree is `root`."""
    walk = _Walk(data)
    walk.run(root)
    exports = list(dict.fromkeys(walk.exports))
    return Outline(walk.builder.finish(), walk.imports, exports, _file_doc(root, data))


def _file_doc(root: Node, data: bytes) -> str | None:
    """The first line of a leading comment that belongs to the file, not to its first definition."""
    for child in root.named_children:
        if child.type == "hash_bang_line":
            continue
        if child.type != "comment" or data[child.start_byte : child.start_byte + 3] != b"/**":
            return None
        after = data[child.end_byte : child.end_byte + 200].lstrip(b" \t\r")
        if after.startswith(b"\n\n") or after.lstrip().startswith(b"import"):
            return doc_above(data + b"\n", child.end_byte + 1, blocks_only=True)
        return None
    return None


class _Walk:
    """One pass over a tree; scopes wait on a stack with the symbol that encloses them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.builder = OutlineBuilder()
        self.imports: list[str] = []
        self.exports: list[str] = []
        self._waiting: list[_Scope] = []
        self._passed_on: list[tuple[Node, Node, Node]] = []
        self._definitions: list[int] | None = None

    def run(self, root: Node) -> None:
        self._waiting.append(_Scope(root, -1, "top"))
        while self._waiting:
            scope = self._waiting.pop()
            marks: list[str] = []
            first: Node | None = None
            for node in scope.node.named_children:
                if node.type == "decorator":  # In class bodies decorators precede their member.
                    marks.append(self._mark(node))
                    first = first or node
                    continue
                self._visit(node, scope, marks, first or node)
                if node.type != "comment":
                    marks, first = [], None
        self._add_passed_on(set(self.builder.names_below(0, -1)))

    def _add_passed_on(self, own: set[str]) -> None:
        """Add the names that the file exports and others define, below the `from` of each."""
        froms: dict[int, int] = {}
        for node, named, specifier in self._passed_on:
            name, original = self._text(named), specifier.child_by_field_name("name")
            if named is node:
                text = self._signature(node, node, None)
                self._add(-1, text.removeprefix("export "), SymbolKind.EXPORT, node, node, text)
            elif original is not None and self._text(original) not in own:
                if node.id not in froms:
                    source = node.child_by_field_name("source")
                    text = f"export from {self._text(source)}" if source else "export"
                    title = self._text(source).strip("'\"") if source else text
                    froms[node.id] = self._add(-1, title, SymbolKind.EXPORT, node, node, text)
                text = fold_space(self._bytes(specifier))
                self._add(froms[node.id], name, SymbolKind.EXPORT, node, named, text)

    def _visit(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        visit = _VISITS.get(node.type)
        if visit is not None:
            visit(self, node, scope, marks, outer)

    def visit_enter(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        del marks, outer
        if scope.place != "function" or self._defines(node):
            self._waiting.append(_Scope(node, scope.parent, scope.place))

    def visit_call(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        if not self._test(node, scope):
            self.visit_enter(node, scope, marks, outer)

    def visit_returned(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        """Enter the object that a function returns: its functions are what the caller gets."""
        del marks, outer
        if scope.node.type == "return_statement" and self._defines(node):
            self._waiting.append(_Scope(node, scope.parent, "object"))

    def visit_enter_function(
        self, node: Node, scope: _Scope, marks: list[str], outer: Node
    ) -> None:
        """Enter a function inside a call: invoked at once, or a callback that holds definitions."""
        if node.child_by_field_name("name") is not None:
            self.visit_declaration(node, scope, marks, outer)
        else:
            self._enter_body(node, scope.parent)

    def _enter_body(self, function: Node, parent: int) -> None:
        body = function.child_by_field_name("body")
        if body is not None and self._defines(body):
            scope = _Scope(body, parent, "function")
            if body.type == "call_expression":
                self._visit(body, scope, [], body)
            else:
                self._waiting.append(scope)

    def _test(self, call: Node, scope: _Scope) -> bool:
        """Add the test or the group of tests that a call makes; False where it makes none."""
        match = _TEST.match(self.data, call.start_byte)
        arguments = call.child_by_field_name("arguments") if match else None
        if match is None or arguments is None or not arguments.named_children:
            return False
        title = arguments.named_children[0]
        functions = [child for child in arguments.named_children if child.type in FUNCTION_VALUES]
        named = title.type in {"string", "template_string"}
        if not (named or match["word"] == b"describe") or not (functions or match[2]):
            return False
        text = self._text(title)
        name = shorten(fold_space((text[1:-1] if named else text).encode()), _LONGEST_TITLE)
        signature = f'{match[0].decode()} "{name}"'
        index = self._add(scope.parent, name, SymbolKind.TEST, call, call, signature)
        for function in functions:
            self._enter_body(function, index)
        return True

    def visit_enum_name(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        del marks, outer
        if scope.place == "enum":
            name = self._text(node).strip("'\"")
            self._add(scope.parent, name, SymbolKind.VARIABLE, node, node, name)

    def visit_declaration(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        kind = DECLARATIONS.get(node.type, SymbolKind.FUNCTION)
        title = self._text(name).strip("'\"") if name is not None else "default"
        marks = [*marks, *map(self._mark, node.children_by_field_name("decorator"))]
        signature = self._signature(node, outer, body, whole=kind is SymbolKind.TYPE)
        index = self._add(
            scope.parent, title, kind, outer, name or node, signature, marks, node.end_point[0]
        )
        if body is None:
            return
        if kind is SymbolKind.FUNCTION:
            if self._defines(body):
                self._waiting.append(_Scope(body, index, "function"))
        else:
            where = {SymbolKind.CLASS: "class", SymbolKind.NAMESPACE: "top"}.get(kind, kind)
            self._waiting.append(_Scope(body, index, where))

    def visit_member(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name is None and node.type not in _NAMELESS:
            return
        title = _NAMELESS[node.type] if name is None else self._text(name).strip("'\"")
        kind = MEMBERS[node.type]
        value = node.child_by_field_name("value")
        body = node.child_by_field_name("body")
        is_function = value is not None and value.type in FUNCTION_VALUES
        if is_function and value is not None:
            kind, body = SymbolKind.METHOD, value.child_by_field_name("body")
        marks = [*marks, *map(self._mark, node.children_by_field_name("decorator"))]
        shows_value = kind is SymbolKind.VARIABLE
        index = self._add(
            scope.parent,
            title,
            kind,
            outer,
            name or node,
            self._signature(node, node, body, whole=shows_value),
            marks,
            node.end_point[0],
        )
        parameters = node.child_by_field_name("parameters") if title == "constructor" else None
        for one in parameters.named_children if parameters else ():
            pattern = one.child_by_field_name("pattern")
            if pattern and any(child.type in _MAKES_MEMBER for child in one.children):
                text = self._signature(one, one, None, whole=True)
                kind = SymbolKind.VARIABLE
                self._add(scope.parent, self._text(pattern), kind, one, pattern, text)
        if body is not None and self._defines(body):
            self._waiting.append(_Scope(body, index, "function"))

    def visit_variables(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        del marks
        declarators = [
            child for child in node.named_children if child.type == "variable_declarator"
        ]
        for declarator in declarators:
            name = declarator.child_by_field_name("name")
            value = self._unwrapped(declarator.child_by_field_name("value"))
            if name is None:
                continue
            if scope.place == "top" and scope.parent < 0:
                self._require(declarator)
            elif value is not None and value.type in CALLS:
                self._visit(value, scope, [], value)
            start = outer if len(declarators) == 1 else declarator
            if name.type != "identifier":
                if scope.place == "top":
                    self._destructured(name, start, scope)
                continue
            self._assigned(self._text(name), name, value, start, scope, node)

    def _assigned(  # noqa: PLR0917 - the parts of an assignment.
        self, title: str, name: Node, value: Node | None, outer: Node, scope: _Scope, end: Node
    ) -> None:
        """A name that is given a function, a class, an object or any other value."""
        kind = value.type if value is not None else ""
        last = outer.end_point[0] if outer.id != end.id else end.end_point[0]
        what = SymbolKind.CLASS if kind == "class" else SymbolKind.FUNCTION
        defined = value if kind in FUNCTION_VALUES or kind == "class" else self._component(value)
        if defined is not None:
            inner = defined.child_by_field_name("name")
            if title == "default" and inner is not None:
                title = self._text(inner)
            body = defined.child_by_field_name("body")
            signature = self._signature(outer, outer, body)
            index = self._add(scope.parent, title, what, outer, name, signature, (), last)
            if body is not None and (kind == "class" or self._defines(body)):
                where = "class" if kind == "class" else "function"
                self._waiting.append(_Scope(body, index, where))
        elif scope.place in {"top", "object"}:
            signature = self._signature(outer, outer, None, whole=True)
            index = self._add(
                scope.parent, title, SymbolKind.VARIABLE, outer, name, signature, (), last
            )
            if value is not None and kind == "object" and self._defines(value):
                self._waiting.append(_Scope(value, index, "object"))

    def _component(self, call: Node | None) -> Node | None:
        """The function in `memo(forwardRef(function …))`."""
        while call is not None and _COMPONENT.match(self.data, call.start_byte):
            arguments = call.child_by_field_name("arguments")
            call = arguments.named_children[0] if arguments and arguments.named_children else None
        return call if call is not None and call.type in FUNCTION_VALUES else None

    def _destructured(self, pattern: Node, outer: Node, scope: _Scope) -> None:
        signature = self._signature(outer, outer, None, whole=True)
        waiting = [pattern]
        while waiting:
            node = waiting.pop()
            if node.type in {"identifier", "shorthand_property_identifier_pattern"}:
                self._add(
                    scope.parent, self._text(node), SymbolKind.VARIABLE, outer, node, signature
                )
            elif node.type == "pair_pattern":
                if (value := node.child_by_field_name("value")) is not None:
                    waiting.append(value)
            elif node.type in {"assignment_pattern", "object_assignment_pattern"}:
                if (left := node.child_by_field_name("left")) is not None:
                    waiting.append(left)
            else:
                waiting.extend(reversed(node.named_children))

    def visit_pair(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        del marks, outer
        if scope.place != "object":
            return
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        value = self._unwrapped(value)
        if key is None or value is None:
            return
        if value.type in FUNCTION_VALUES or (value.type == "object" and self._defines(value)):
            self._assigned(self._text(key).strip("'\""), key, value, node, scope, node)

    def visit_export(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        decorators = [child for child in node.named_children if child.type == "decorator"]
        marks = [*marks, *map(self._mark, decorators)]
        declaration = node.child_by_field_name("declaration")
        source = node.child_by_field_name("source")
        before = len(self.builder)
        if declaration is not None:
            if declaration.type == "ambient_declaration":
                self.visit_ambient(declaration, scope, marks, outer)
            else:
                self._visit(declaration, scope, marks, outer)
        elif (value := self._unwrapped(node.child_by_field_name("value"))) is not None:
            self._assigned("default", value, value, node, scope, node)
        else:
            for child in node.named_children:
                if child.type in DECLARATIONS:
                    self._visit(child, scope, marks, outer)
        if scope.parent >= 0:
            return
        if source is not None:
            self.imports.append(self._text(source).strip("'\""))
        clause = [child for child in node.named_children if child.type == "export_clause"]
        for specifier in clause[0].named_children if clause else ():
            named = specifier.child_by_field_name("alias") or specifier.child_by_field_name("name")
            if named is not None:
                self.exports.append(self._text(named))
                self._passed_on.append((node, named, specifier))
        if source is not None and not clause:
            self.exports.append(f"* from {self._text(source)}")
            self._passed_on.append((node, node, node))
        self.exports.extend(self.builder.names_below(before, scope.parent))

    def visit_ambient(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        del marks
        for child in node.named_children:
            if child.type == "statement_block":  # declare global { … }
                signature = "declare global"
                index = self._add(
                    scope.parent, "global", SymbolKind.NAMESPACE, outer, node, signature
                )
                self._waiting.append(_Scope(child, index, "top"))
            else:
                self._visit(child, scope, [], outer)

    def visit_import(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        del scope, marks, outer
        source = node.child_by_field_name("source")
        if source is None:
            for child in node.named_children:  # import x = require("y")
                if child.type == "import_require_clause":
                    source = child.child_by_field_name("source")
        if source is None:
            return
        module = self._text(source).strip("'\"")
        clause = [child for child in node.named_children if child.type == "import_clause"]
        names = fold_space(self._bytes(clause[0])) if clause else ""
        if names.startswith("{") and names.endswith("}"):
            names = names[1:-1]
        self.imports.append(f"{module}: {names}" if names else module)

    def visit_expression(self, node: Node, scope: _Scope, marks: list[str], outer: Node) -> None:
        del marks, outer
        inner = node.named_children[0] if node.named_child_count else None
        if inner is None:
            return
        if inner.type == "internal_module":
            self._visit(inner, scope, [], node)
        elif inner.type == "assignment_expression":
            left = inner.child_by_field_name("left")
            value = self._unwrapped(inner.child_by_field_name("right"))
            if left is not None and left.type == "member_expression" and value is not None:
                self._assigned_member(self._text(left), left, value, node, scope)
        elif self._test(inner, scope):
            pass
        elif inner.type in CALLS and self._defines(inner):
            if scope.parent < 0:
                self._require(inner)
            self._waiting.append(_Scope(inner, scope.parent, scope.place))
        elif inner.type in CALLS and scope.parent < 0:
            self._require(inner)

    def _assigned_member(
        self, target: str, left: Node, value: Node, node: Node, scope: _Scope
    ) -> None:
        """`module.exports = …`, `exports.f = function…`, `Thing.prototype.go = function…`."""
        is_export = target.startswith(("module.exports", "exports"))
        defines = value.type in FUNCTION_VALUES or value.type == "class"
        if scope.place != "top" or not (is_export or defines):
            if defines and scope.place != "top" and ".prototype." in target:
                self._assigned(target, left, value, node, scope, node)
            return
        name = target.removeprefix("module.").removeprefix("exports.")
        if value.type == "object" and target == "module.exports":
            for member in value.named_children:
                if member.type == "shorthand_property_identifier":
                    self.exports.append(self._text(member))
                elif (key := member.child_by_field_name("key")) is not None:
                    self.exports.append(self._text(key).strip("'\""))
        elif is_export and name != "exports":
            self.exports.append(name)
        self._require(value)
        if defines or value.type == "object":
            self._assigned(name, left, value, node, scope, node)

    def _require(self, node: Node) -> None:
        start = node.start_byte
        for match in _REQUIRE.finditer(self.data[start : min(node.end_byte, start + 2000)]):
            module = match.group(2).decode("utf-8", "replace")
            if module not in self.imports:
                self.imports.append(module)

    def _unwrapped(self, value: Node | None) -> Node | None:
        """The value without parentheses, `as` and `satisfies` around it."""
        while value is not None and value.named_child_count and value.type in {
            "parenthesized_expression",
            "as_expression",
            "satisfies_expression",
        }:  # fmt: skip
            value = value.named_children[0]
        return value

    def _add(  # noqa: PLR0917 - called for every definition.
        self,
        parent: int,
        title: str,
        kind: str,
        outer: Node,
        name: Node,
        signature: str,
        marks: list[str] | tuple[()] = (),
        last_row: int | None = None,
    ) -> int:
        return self.builder.add(
            parent,
            title,
            kind,
            outer.start_point[0] + 1,
            (outer.end_point[0] if last_row is None else max(last_row, outer.start_point[0])) + 1,
            signature,
            [fold_space(mark.encode()) for mark in marks],
            doc_above(self.data, outer.start_byte, blocks_only=True),
            name.start_point[0] + 1,
        )

    def _signature(self, node: Node, outer: Node, body: Node | None, *, whole: bool = False) -> str:
        start = node.start_byte
        if outer.type in _NAMED_TOP:
            start = outer.start_byte
        for child in (
            *outer.children_by_field_name("decorator"),
            *node.children_by_field_name("decorator"),
        ):
            start = max(start, child.end_byte)
        end = body.start_byte if body is not None else node.end_byte
        text = self.data[start:end]
        if whole:
            text = text[: 3 * _LONGEST_VALUE]
        if b"/" in text:
            text = _COMMENT.sub(lambda match: match.group(1) or b"", text)
        signature = fold_space(text).rstrip(";,").rstrip()
        return (
            shorten(signature, _LONGEST_VALUE) if whole else signature.removesuffix("=>").rstrip()
        )

    def _mark(self, decorator: Node) -> str:
        return self._text(decorator)[1:]

    def _text(self, node: Node) -> str:
        return self._bytes(node).decode("utf-8", "replace")

    def _bytes(self, node: Node) -> bytes:
        return self.data[node.start_byte : node.end_byte]

    def _defines(self, node: Node) -> bool:
        if self._definitions is None:
            self._definitions = [match.start() for match in _DEFINES.finditer(self.data)]
        at = bisect_left(self._definitions, node.start_byte)
        return at < len(self._definitions) and self._definitions[at] < node.end_byte


_VISITS: dict[str, Callable[[_Walk, Node, _Scope, list[str], Node], None]] = {
    **dict.fromkeys(DECLARATIONS, _Walk.visit_declaration),
    **dict.fromkeys(MEMBERS, _Walk.visit_member),
    **dict.fromkeys(COMPOUND | CALLS, _Walk.visit_enter),
    **dict.fromkeys(FUNCTION_VALUES, _Walk.visit_enter_function),
    "call_expression": _Walk.visit_call,
    "object": _Walk.visit_returned,
    "lexical_declaration": _Walk.visit_variables,
    "variable_declaration": _Walk.visit_variables,
    "export_statement": _Walk.visit_export,
    "ambient_declaration": _Walk.visit_ambient,
    "import_statement": _Walk.visit_import,
    "expression_statement": _Walk.visit_expression,
    "pair": _Walk.visit_pair,
    "property_identifier": _Walk.visit_enum_name,
    "string": _Walk.visit_enum_name,
}
