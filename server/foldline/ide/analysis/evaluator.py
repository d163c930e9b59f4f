"""Evaluates the expressions that prompts are made of, without running anything.

It knows literals, names, imports within the workspace, and calls to functions that return literals.
Everything else is `UNKNOWN`, and no diagnostic is ever based on that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.ide.analysis import calls, names, operators, source_map, syntax
from foldline.ide.analysis.memo import STEP, Memo, text_cost
from foldline.ide.analysis.scopes import BodyScope, ModuleScope, Scope, bindings, table
from foldline.ide.analysis.values import (
    UNKNOWN,
    Argument,
    Item,
    Items,
    LambdaValue,
    Nothing,
    Record,
    Specialised,
    Text,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.ide.analysis.project import Project

_DEPTH = 60


class Evaluator:
    """Evaluates expressions against the current workspace, and memoizes the values."""

    def __init__(self, modules: Project) -> None:
        self.modules = modules
        self.memo = Memo(modules.size)
        self.active: set[tuple[int, int]] = set()
        self._depth = 0

    def value(self, node: syntax.Expression, scope: Scope) -> Value:
        """Return the value of an expression in a scope."""
        memo = self.memo
        entries = (
            scope.entries if isinstance(scope, BodyScope) else memo.bucket(node.anchor).entries
        )
        entry = entries.get(id(node))
        if entry is not None:
            memo.record_uses(entry[2])
            return entry[1]
        key = (id(node), id(scope))
        if key in self.active or self._depth > _DEPTH:
            return UNKNOWN
        self.active.add(key)
        self._depth += 1
        memo.begin(node.anchor)
        try:
            value = self._value(node, scope) if self.affords(STEP) else UNKNOWN
        finally:
            self.active.discard(key)
            self._depth -= 1
            used = memo.end(node.anchor)
        if memo.keeps:
            entries[id(node)] = (node, value, used)
        return value

    def affords(self, cost: int) -> bool:
        """Charge `cost` to the statement being evaluated; False if that exceeds its budget."""
        return not self.memo.evaluates or self.memo.meter.affords(cost)

    def text(
        self, node: syntax.Expression, cost: int, make: Callable[[], source_map.MappedText]
    ) -> Text:
        """Return the text that `make` builds; the expression's code if `cost` is over budget."""
        return Text(
            make() if self.affords(cost) else source_map.code(node.anchor, node.start, node.end)
        )

    def _value(self, node: syntax.Expression, scope: Scope) -> Value:
        match node:
            case syntax.Name():
                return names.lookup(self, node.id, scope, node)
            case syntax.String():
                return operators.string(node)
            case syntax.Attribute():
                return names.attribute(self, self.value(node.value, scope), node.attr.id)
            case syntax.Call():
                return calls.evaluate_call(self, node, scope)
            case syntax.Subscript():
                return self._subscript(node, scope)
            case syntax.Display():
                items = self._items(node.items, scope)
                # A set has no order, so that it isn't a complete list.
                is_set = node.anchor.text.startswith("{", node.start)
                return operators.as_set(items) if is_set else items
            case syntax.Constant():
                return operators.constant(node)
            case syntax.Operation():
                return self._operation(node, scope)
            case syntax.Conditional():
                return operators.one_of(
                    self.value(node.body, scope), self.value(node.orelse, scope)
                )
            case syntax.Lambda():
                return LambdaValue(node, scope)
            case syntax.Dictionary():
                return self._record(node, scope)
        return UNKNOWN

    def _subscript(self, node: syntax.Subscript, scope: Scope) -> Value:
        origin = self.value(node.value, scope)
        if isinstance(origin, Unknown):
            return UNKNOWN
        arguments = tuple(self.value(item, scope) for item in node.items)
        if isinstance(origin, Items):
            return operators.item_at(origin, arguments)
        return Specialised(origin, arguments, node.items)

    # Names and bodies

    def member(self, module: ModuleScope, name: str) -> Value:
        """Return the value of a module-level name."""
        return names.member(self, module, name)

    def doubted(self, value: Value, module: ModuleScope, name: str) -> Value:
        """Return the value of a module's name, uncertain if code may have changed it unseen."""
        self.memo.record_use(module.file, name)
        return names.doubted(value, name, module)

    def body(self, definition: syntax.ClassDefinition, scope: Scope) -> BodyScope:
        """The scope of a class body: one per class, so that its values stay memoized."""
        bodies = self.memo.bucket(definition.anchor).bodies
        body = bodies.get(id(definition))
        if body is None or body.parent is not scope:
            body = bodies[id(definition)] = BodyScope(scope, table(bindings(definition.body)))
        return body

    def any_call(self, definition: syntax.FunctionDefinition, scope: Scope) -> BodyScope:
        """The scope of a function with all its arguments unknown."""
        bodies = self.memo.bucket(definition.anchor).bodies
        body = bodies.get(id(definition))
        if body is None or body.parent is not scope:
            unknown = {parameter.name.id: UNKNOWN for parameter in definition.parameters}
            body = bodies[id(definition)] = self.function_scope(definition, scope, unknown)
        return body

    # Displays and operators

    def _items(self, nodes: tuple[syntax.Expression, ...], scope: Scope) -> Items:
        items: list[Item] = []
        complete = True
        for node in nodes:
            if isinstance(node, syntax.Starred):
                value = self.value(node.value, scope)
                if isinstance(value, Items) and self.affords(STEP * len(value.items)):
                    items.extend(value.items)
                    complete = complete and value.complete
                else:
                    complete = False
            else:
                items.append(Item(node, self.value(node, scope)))
        return Items(tuple(items), complete)

    def _record(self, node: syntax.Dictionary, scope: Scope) -> Record:
        record: dict[str, Argument] = {}
        complete = True
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                complete = self._spread(value, scope, record) and complete
                continue
            name = self.value(key, scope)
            if isinstance(name, Text) and name.known is not None:
                record[name.known] = self.argument(value, scope)
            else:
                complete = False
        return Record(record, complete)

    def _operation(self, node: syntax.Operation, scope: Scope) -> Value:
        if node.operator == "or":
            return self._or(node, scope)
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if node.operator != "+":
            if isinstance(left, Text) and node.operator == "%":
                text = left.mapped
                return self.text(node, text_cost(text), lambda: text.formatted(source_map.PERCENT))
            if isinstance(left, Text) and node.operator == "*":
                return Text(source_map.code(node.anchor, node.start, node.end))
            if node.operator == "|":
                return operators.union(left, right, node)
            return UNKNOWN
        if isinstance(left, Items) and isinstance(right, Items):
            if not self.affords(STEP * (len(left.items) + len(right.items))):
                return UNKNOWN
            return Items((*left.items, *right.items), left.complete and right.complete)
        if isinstance(left, Items) or isinstance(right, Items):
            items = left if isinstance(left, Items) else right
            return Items(items.items, complete=False) if isinstance(items, Items) else UNKNOWN
        if isinstance(left, Text) or isinstance(right, Text):
            parts = operators.as_text(left, node.left), operators.as_text(right, node.right)
            return self.text(node, text_cost(*parts), lambda: source_map.join(parts))
        return UNKNOWN

    def _or(self, node: syntax.Operation, scope: Scope) -> Value:
        left = self.value(node.left, scope)
        if isinstance(left, Nothing) or (isinstance(left, Text) and left.known == ""):
            return self.value(node.right, scope)
        if isinstance(left, Text) and left.known:
            return left
        return operators.one_of(left, self.value(node.right, scope))

    # Functions

    def function_scope(
        self, definition: syntax.FunctionDefinition, scope: Scope, arguments: Mapping[str, Value]
    ) -> BodyScope:
        return BodyScope(scope, table(bindings(definition.body)), arguments, definition)

    def arguments(
        self, definition: syntax.FunctionDefinition, node: syntax.Call, scope: Scope, *, skip: int
    ) -> dict[str, Value]:
        """Return a call's values by parameter name; the first `skip` parameters are bound."""
        values: dict[str, Value] = {}
        positional = [parameter for parameter in definition.parameters if not parameter.kind]
        for parameter in definition.parameters:
            default = parameter.default
            values[parameter.name.id] = (
                self.value(default, scope) if default is not None else UNKNOWN
            )
        for parameter, argument in zip(positional[skip:], node.args, strict=False):
            if isinstance(argument, syntax.Starred):
                break
            values[parameter.name.id] = self.value(argument, scope)
        for keyword in node.keywords:
            if keyword.name is not None and keyword.name.id in values:
                values[keyword.name.id] = self.value(keyword.value, scope)
        rest = next((name for name in definition.parameters if name.kind == "**"), None)
        if rest is not None and _only_passed_on(definition, rest.name.id):
            named = {name.name.id for name in definition.parameters if not name.kind}
            keywords, opaque = self.keywords(node, scope)
            others = {name: value for name, value in keywords.items() if name not in named}
            values[rest.name.id] = Record(others, not opaque)
        return values

    def keywords(self, node: syntax.Call, scope: Scope) -> tuple[dict[str, Argument], bool]:
        """Return a call's keyword arguments by name, and True if it may have unknown ones."""
        arguments: dict[str, Argument] = {}
        complete = True
        for keyword in node.keywords:
            if keyword.name is None:
                complete = self._spread(keyword.value, scope, arguments) and complete
            else:
                arguments[keyword.name.id] = self.argument(keyword.value, scope, keyword.name)
        return arguments, not complete

    def _spread(
        self, node: syntax.Expression, scope: Scope, arguments: dict[str, Argument]
    ) -> bool:
        """Add the items of `**node` to `arguments`; return False if there may be others."""
        spread = self.value(node, scope)
        if not isinstance(spread, Record) or not self.affords(STEP * len(spread.arguments)):
            return False
        arguments.update(spread.arguments)
        return spread.complete

    def argument(
        self, node: syntax.Expression, scope: Scope, name: syntax.Name | None = None
    ) -> Argument:
        return Argument(node, self.value(node, scope), name)


def _only_passed_on(definition: syntax.FunctionDefinition, name: str) -> bool:
    """Return True if a function uses its parameter `**name` only to pass it on as `**name`."""
    uses = re.finditer(rf"(\*\*\s*)?\b{re.escape(name)}\b", definition.source)
    return all(use[1] for use in uses)
