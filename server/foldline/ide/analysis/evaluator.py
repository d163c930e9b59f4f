"""Evaluates the expressions that prompts are made of, without running anything.

Known are literals, names, imports within the workspace, and calls of functions that return
literals; everything else is `UNKNOWN`, which no diagnostic is ever based on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from foldline.ide.analysis import calls, names
from foldline.ide.analysis import operators as operations
from foldline.ide.analysis import source_map as mapped
from foldline.ide.analysis.budget import STEP, text_cost
from foldline.ide.analysis.memo import Memory
from foldline.ide.analysis.scopes import BodyScope, ModuleScope, Scope, bindings, table
from foldline.ide.analysis.syntax import (
    Attribute,
    Call,
    ClassDefinition,
    Conditional,
    Constant,
    Dictionary,
    Display,
    Expression,
    FunctionDefinition,
    Lambda,
    Name,
    Operation,
    Starred,
    String,
    Subscript,
)
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
    from collections.abc import Callable

_DEPTH = 60


class Modules(Protocol):
    """Finds the modules of the workspace."""

    def find(self, dotted: str, level: int, importer: str) -> ModuleScope | None: ...

    def mentions(self, word: str, near: str, file: str) -> bool:
        """Whether a file other than `file` holds both words."""

    def damaged(self, file: str) -> frozenset[str]:
        """The names of a file of whose meaning only a damaged text is known."""

    def size(self, file: str) -> int:
        """The characters of a file."""


class Evaluator:
    """Evaluates against the workspace as it is, and remembers what it evaluated."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self.memory = Memory(modules.size)
        self.active: set[tuple[int, int]] = set()
        self._depth = 0

    def value(self, node: Expression, scope: Scope) -> Value:
        """What an expression is in a scope."""
        memory = self.memory
        entries = scope.entries if isinstance(scope, BodyScope) else memory.of(node.anchor).entries
        known = entries.get(id(node))
        if known is not None:
            memory.uses(known[2])
            return known[1]
        key = (id(node), id(scope))
        if key in self.active or self._depth > _DEPTH:
            return UNKNOWN
        self.active.add(key)
        self._depth += 1
        memory.begin(node.anchor)
        try:
            value = self._value(node, scope) if self.affords(STEP) else UNKNOWN
        finally:
            self.active.discard(key)
            self._depth -= 1
            used = memory.end(node.anchor)
        if memory.keeps:
            entries[id(node)] = (node, value, used)
        return value

    def affords(self, cost: int) -> bool:
        """Whether the statement that is evaluated may make something of this cost."""
        return not self.memory.evaluates or self.memory.meter.affords(cost)

    def text(self, node: Expression, cost: int, make: Callable[[], mapped.MappedText]) -> Text:
        """A text that is put together; shown as code where it would be over the budget."""
        return Text(
            make() if self.affords(cost) else mapped.code(node.anchor, node.start, node.end)
        )

    def _value(self, node: Expression, scope: Scope) -> Value:
        match node:
            case Name():
                return names.lookup(self, node.id, scope, node)
            case String():
                return operations.string(node)
            case Attribute():
                return self.attribute(self.value(node.value, scope), node.attr.id)
            case Call():
                return calls.call(self, node, scope)
            case Subscript():
                return self._subscript(node, scope)
            case Display():
                return self._items(node.items, scope)
            case Constant():
                return operations.constant(node)
            case Operation():
                return self._operation(node, scope)
            case Conditional():
                return operations.either(
                    self.value(node.body, scope), self.value(node.orelse, scope)
                )
            case Lambda():
                return LambdaValue(node, scope)
            case Dictionary():
                return self._record(node, scope)
        return UNKNOWN

    def _subscript(self, node: Subscript, scope: Scope) -> Value:
        origin = self.value(node.value, scope)
        if isinstance(origin, Unknown):
            return UNKNOWN
        arguments = tuple(self.value(item, scope) for item in node.items)
        if isinstance(origin, Items):
            return operations.picked(origin, arguments)
        return Specialised(origin, arguments, node.items)

    # Names and bodies

    def member(self, module: ModuleScope, name: str) -> Value:
        """What a name means at the top of a module."""
        return names.member(self, module, name)

    def attribute(self, owner: Value, name: str) -> Value:
        """What `owner.name` is."""
        return names.attribute(self, owner, name)

    def body(self, definition: ClassDefinition, scope: Scope) -> BodyScope:
        """The scope of a class's body; always the same one, so that its values are remembered."""
        bodies = self.memory.of(definition.anchor).bodies
        known = bodies.get(id(definition))
        if known is None or known.parent is not scope:
            known = bodies[id(definition)] = BodyScope(scope, table(bindings(definition.body)))
        return known

    def any_call(self, definition: FunctionDefinition, scope: Scope) -> BodyScope:
        """The scope of a function for whatever arguments: nothing is known of them."""
        bodies = self.memory.of(definition.anchor).bodies
        known = bodies.get(id(definition))
        if known is None or known.parent is not scope:
            arguments: dict[str, Value] = {
                parameter.name.id: UNKNOWN for parameter in definition.parameters
            }
            known = self.function_scope(definition, scope, arguments)
            bodies[id(definition)] = known
        return known

    # Displays and operators

    def _items(self, nodes: tuple[Expression, ...], scope: Scope) -> Items:
        items: list[Item] = []
        complete = True
        for node in nodes:
            if isinstance(node, Starred):
                value = self.value(node.value, scope)
                if isinstance(value, Items) and self.affords(STEP * len(value.items)):
                    items.extend(value.items)
                    complete = complete and value.complete
                else:
                    complete = False
            else:
                items.append(Item(node, self.value(node, scope)))
        return Items(tuple(items), complete)

    def _record(self, node: Dictionary, scope: Scope) -> Record:
        given: dict[str, Argument] = {}
        complete = True
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                spread = self.value(value, scope)
                if isinstance(spread, Record) and self.affords(STEP * len(spread.arguments)):
                    given.update(spread.arguments)
                    complete = complete and spread.complete
                else:
                    complete = False
                continue
            name = self.value(key, scope)
            if isinstance(name, Text) and name.known is not None:
                given[name.known] = self.argument(value, scope)
            else:
                complete = False
        return Record(given, complete)

    def _operation(self, node: Operation, scope: Scope) -> Value:
        if node.operator == "or":
            return self._or(node, scope)
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if node.operator != "+":
            if isinstance(left, Text) and node.operator == "%":
                text = left.mapped
                return self.text(node, text_cost(text), lambda: text.formatted(mapped.PERCENT))
            if isinstance(left, Text) and node.operator == "*":
                return Text(mapped.code(node.anchor, node.start, node.end))
            return UNKNOWN
        if isinstance(left, Items) and isinstance(right, Items):
            if not self.affords(STEP * (len(left.items) + len(right.items))):
                return UNKNOWN
            return Items((*left.items, *right.items), left.complete and right.complete)
        if isinstance(left, Items) or isinstance(right, Items):
            known = left if isinstance(left, Items) else right
            return Items(known.items, complete=False) if isinstance(known, Items) else UNKNOWN
        if isinstance(left, Text) or isinstance(right, Text):
            parts = operations.as_text(left, node.left), operations.as_text(right, node.right)
            return self.text(node, text_cost(*parts), lambda: mapped.join(parts))
        return UNKNOWN

    def _or(self, node: Operation, scope: Scope) -> Value:
        left = self.value(node.left, scope)
        if isinstance(left, Nothing) or (isinstance(left, Text) and left.known == ""):
            return self.value(node.right, scope)
        if isinstance(left, Text) and left.known:
            return left
        return operations.either(left, self.value(node.right, scope))

    # Functions

    def function_scope(
        self, definition: FunctionDefinition, scope: Scope, arguments: dict[str, Value]
    ) -> BodyScope:
        return BodyScope(scope, table(bindings(definition.body)), arguments, definition)

    def arguments(
        self, definition: FunctionDefinition, node: Call, scope: Scope, *, skip: int
    ) -> dict[str, Value]:
        """The values that a call gives to a function's parameters; the first `skip` are bound."""
        found: dict[str, Value] = {}
        positional = [parameter for parameter in definition.parameters if not parameter.kind]
        for parameter in definition.parameters:
            default = parameter.default
            found[parameter.name.id] = (
                self.value(default, scope) if default is not None else UNKNOWN
            )
        for parameter, argument in zip(positional[skip:], node.args, strict=False):
            if isinstance(argument, Starred):
                break
            found[parameter.name.id] = self.value(argument, scope)
        for keyword in node.keywords:
            if keyword.name is not None and keyword.name.id in found:
                found[keyword.name.id] = self.value(keyword.value, scope)
        return found

    def argument(self, node: Expression, scope: Scope, name: Name | None = None) -> Argument:
        return Argument(node, self.value(node, scope), name)
