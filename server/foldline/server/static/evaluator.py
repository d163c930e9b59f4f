"""Evaluates the expressions that prompts are made of, without running anything.

Known are literals, names, imports within the workspace, and calls of functions that return
literals; everything else is `UNKNOWN`, which no diagnostic is ever based on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from foldline.server.static import construct, mapped, operations
from foldline.server.static.memory import Memory
from foldline.server.static.scopes import BodyScope, Bound, ModuleScope, Scope, bindings, table
from foldline.server.static.syntax import (
    Attribute,
    Block,
    Call,
    ClassDefinition,
    Conditional,
    Constant,
    Dictionary,
    Display,
    Expression,
    FunctionDefinition,
    Import,
    Lambda,
    Name,
    Node,
    Operation,
    Return,
    Starred,
    Statement,
    String,
    Subscript,
)
from foldline.server.static.values import (
    LIBRARY,
    LIBRARY_NAMES,
    UNKNOWN,
    Argument,
    ClassValue,
    External,
    FunctionValue,
    InstanceValue,
    Item,
    Items,
    LambdaValue,
    MethodValue,
    ModuleValue,
    Nothing,
    PromptValue,
    Record,
    SectionValue,
    Specialised,
    TemplateValue,
    Text,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEPTH = 60
_TRANSPARENT = frozenset({"functools.cache", "functools.lru_cache", "builtins.staticmethod"})
_DEDENT = frozenset({"textwrap.dedent", "inspect.cleandoc"})
_TYPE_VARIABLES = frozenset({"typing.TypeVar", "typing_extensions.TypeVar"})
_REPLACE = frozenset({"dataclasses.replace", "copy.replace"})
_BUILTINS = frozenset({"list", "tuple", "str", "int", "float", "bool", "dict", "set", "frozenset"})


class Modules(Protocol):
    """Finds the modules of the workspace."""

    def find(self, dotted: str, level: int, importer: str) -> ModuleScope | None: ...

    def mentions(self, word: str, near: str, file: str) -> bool:
        """Whether a file other than `file` holds both words."""

    def damaged(self, file: str) -> frozenset[str]:
        """The names of a file of whose meaning only a damaged text is known."""


class Evaluator:
    """Evaluates against the workspace as it is, and remembers what it evaluated."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self.memory = Memory()
        self._active: set[tuple[int, int]] = set()
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
        if key in self._active or self._depth > _DEPTH:
            return UNKNOWN
        self._active.add(key)
        self._depth += 1
        memory.begin()
        try:
            value = self._value(node, scope)
        finally:
            self._active.discard(key)
            self._depth -= 1
            used = memory.end(node.anchor)
        entries[id(node)] = (node, value, used)
        return value

    def _value(self, node: Expression, scope: Scope) -> Value:
        match node:
            case Name():
                return self.lookup(node.id, scope, node)
            case String():
                return operations.string(node)
            case Attribute():
                return self.attribute(self.value(node.value, scope), node.attr.id)
            case Call():
                return self.call(node, scope)
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

    # Names

    def lookup(self, name: str, scope: Scope, use: Node | None = None) -> Value:
        """What a name means to code in that scope; at `use`, if the name has several meanings."""
        inner: Scope = scope
        changed: list[tuple[tuple[Bound, ...], BodyScope]] = []
        while isinstance(inner, BodyScope):
            found = inner.names.get(name, ())
            place = use if inner is scope else None
            if name in inner.arguments:
                given = tuple(bound for bound in found if place is None or bound.before(place))
                value = self._bound(given, inner, inner.arguments[name])
                break
            if found and (inner is scope or inner.function is not None):
                if any(not bound.change for bound in found):
                    value = self._bound(_so_far(found, place), inner)
                    break
                # Only changed here: `SECTIONS.append(…)` in a function.
                changed.append((_so_far(found, place), inner))
            inner = inner.parent
        else:
            value = self.member(inner, name, use if inner is scope else None)
        for found, body in reversed(changed):
            value = self._bound(found, body, value)
        return value

    def member(self, module: ModuleScope, name: str, use: Node | None = None) -> Value:
        """What a name means at the top of a module."""
        self.memory.uses_name(module.file, name)
        found = module.names.get(name)
        if found is not None:
            return self._bound(_so_far(found, use), module)
        for star in module.stars:
            if star.level == 0 and star.module == LIBRARY:
                if name in LIBRARY_NAMES:
                    return External(f"{LIBRARY}.{name}")
                continue
            value = self._imported(star, name, module)
            if not isinstance(value, Unknown | External) or (
                isinstance(value, External) and value.library_name in LIBRARY_NAMES
            ):
                return value
        return External(f"builtins.{name}") if name in _BUILTINS else UNKNOWN

    def _imported(self, node: Import, name: str, module: ModuleScope) -> Value:
        if node.level == 0 and (node.module + ".").startswith(LIBRARY + "."):
            return External(f"{node.module}.{name}")
        found = self.modules.find(node.module, node.level, module.file)
        if found is not None:
            key = (id(found), hash(name))
            if key in self._active:
                return UNKNOWN
            self._active.add(key)
            try:
                value = self.member(found, name)
            finally:
                self._active.discard(key)
            if not isinstance(value, Unknown) or name in found.names:
                return value
        dotted = f"{node.module}.{name}" if node.module else name
        inner = self.modules.find(dotted, node.level, module.file)
        if inner is not None:
            return ModuleValue(inner)
        return External(dotted) if node.level == 0 and found is None else UNKNOWN

    def _bound(self, found: tuple[Bound, ...], scope: Scope, before: Value | None = None) -> Value:
        value: Value = UNKNOWN if before is None else before
        started = before is not None
        for bound in found:
            if bound.change:
                value = self._changed(value, bound, scope)
                continue
            new = self._single(bound, scope)
            if bound.conditional and started:
                # Either may hold; what is known of one is shown, but not relied upon.
                value = operations.either(value, new)
                continue
            value, started = new, True
        return value

    def _changed(self, value: Value, bound: Bound, scope: Scope) -> Value:
        if bound.change == "=":
            return UNKNOWN if isinstance(value, InstanceValue) else value
        if bound.change == "bind":
            if not isinstance(value, PromptValue) or not isinstance(bound.value, Call):
                return value
            if bound.conditional:
                return replace(value, maybe=True)
            items = tuple(Item(each, self.value(each, scope)) for each in bound.value.args)
            return replace(value, bound=(*value.bound, *items))
        if not isinstance(value, Items):
            if isinstance(value, Text) and bound.change == "+=" and bound.value is not None:
                added = self.value(bound.value, scope)
                if isinstance(added, Text) and not bound.conditional:
                    return Text(value.mapped + added.mapped)
            return UNKNOWN
        if bound.value is None or bound.conditional:
            return Items(value.items, complete=False)
        added = self.value(bound.value, scope)
        if bound.change == "append":
            return Items((*value.items, Item(bound.value, added)), value.complete)
        if isinstance(added, Items) and bound.change in ("+=", "extend"):
            return Items((*value.items, *added.items), value.complete and added.complete)
        return Items(value.items, complete=False)

    def _single(self, bound: Bound, scope: Scope) -> Value:
        node = bound.node
        if isinstance(node, ClassDefinition):
            return ClassValue(node, scope)
        if isinstance(node, FunctionDefinition):
            for decorator in node.decorators:
                value = self.value(
                    decorator.func if isinstance(decorator, Call) else decorator, scope
                )
                name = decorator.id if isinstance(decorator, Name) else ""
                known = isinstance(value, External) and value.dotted in _TRANSPARENT
                if not known and name != "staticmethod":
                    return UNKNOWN
            return FunctionValue(node, scope)
        if isinstance(node, Import):
            return self._import(node, scope)
        if bound.value is None:
            return UNKNOWN
        value = self.value(bound.value, scope)
        if bound.index is not None:
            if isinstance(value, Items) and bound.index < len(value.items) and value.complete:
                return value.items[bound.index].value
            return UNKNOWN
        return value

    def _import(self, node: Import, scope: Scope) -> Value:
        module = scope.module
        if node.name is not None:
            return self._imported(node, node.name, module)
        dotted = node.module if node.alias else node.module.partition(".")[0]
        if not (dotted + ".").startswith(LIBRARY + "."):
            found = self.modules.find(dotted, 0, module.file)
            if found is not None:
                return ModuleValue(found)
        return External(dotted)

    def attribute(self, owner: Value, name: str) -> Value:
        """What `owner.name` is."""
        if isinstance(owner, External):
            return External(f"{owner.dotted}.{name}")
        if isinstance(owner, ModuleValue):
            value = self.member(owner.scope, name)
            if isinstance(value, Unknown) and name not in owner.scope.names:
                inner = self.modules.find(name, 1, owner.scope.file)
                if inner is not None and owner.scope.file.endswith("__init__.py"):
                    return ModuleValue(inner)
            return value
        if isinstance(owner, ClassValue):
            scope = self.body(owner.definition, owner.scope)
            found = scope.names.get(name)
            return self._bound(found, scope) if found is not None else UNKNOWN
        if isinstance(owner, PromptValue) and name == "template":
            return owner.template
        if isinstance(owner, TemplateValue | SectionValue | InstanceValue):
            argument = owner.arguments.get(name)
            if argument is not None:
                return argument.value
        if isinstance(owner, Text | SectionValue | TemplateValue | PromptValue):
            return MethodValue(owner, name)
        return UNKNOWN

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
                if isinstance(value, Items):
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
                if isinstance(spread, Record):
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
                return Text(left.mapped.formatted(mapped.PERCENT))
            if isinstance(left, Text) and node.operator == "*":
                return Text(mapped.code(node.anchor, node.start, node.end))
            return UNKNOWN
        if isinstance(left, Items) and isinstance(right, Items):
            return Items((*left.items, *right.items), left.complete and right.complete)
        if isinstance(left, Items) or isinstance(right, Items):
            known = left if isinstance(left, Items) else right
            return Items(known.items, complete=False) if isinstance(known, Items) else UNKNOWN
        if isinstance(left, Text) or isinstance(right, Text):
            return Text(operations.as_text(left, node.left) + operations.as_text(right, node.right))
        return UNKNOWN

    def _or(self, node: Operation, scope: Scope) -> Value:
        left = self.value(node.left, scope)
        if isinstance(left, Nothing) or (isinstance(left, Text) and left.known == ""):
            return self.value(node.right, scope)
        if isinstance(left, Text) and left.known:
            return left
        return operations.either(left, self.value(node.right, scope))

    # Calls

    def call(self, node: Call, scope: Scope) -> Value:
        func = self.value(node.func, scope)
        if isinstance(func, FunctionValue):
            return self.called(func, node, scope)
        if isinstance(func, LambdaValue):
            return self.value(func.definition.body, func.scope) if not node.args else UNKNOWN
        if isinstance(func, MethodValue):
            return self._method(func, node, scope)
        if isinstance(func, External):
            if func.dotted in _DEDENT and len(node.args) == 1:
                text = self.value(node.args[0], scope)
                if isinstance(text, Text):
                    clean = func.dotted == "inspect.cleandoc"
                    return Text(text.mapped.cleandoc() if clean else text.mapped.dedent())
                return UNKNOWN
            if func.dotted in _TYPE_VARIABLES:
                return External(construct.TYPE_VARIABLE)
            if func.dotted in _REPLACE:
                return construct.replaced(self, node, scope)
            if func.dotted in ("builtins.list", "builtins.tuple"):
                items = self.value(node.args[0], scope) if node.args else Items(())
                return items if isinstance(items, Items) else UNKNOWN
            if func.dotted.startswith("builtins."):
                return UNKNOWN
        return construct.instance(self, node, func, scope)

    def called(self, func: FunctionValue, node: Call, scope: Scope) -> Value:
        """What a function of the workspace returns for a call, where that can be told."""
        definition = func.definition
        if not definition.simple:
            return UNKNOWN
        arguments = self.arguments(definition, node, scope, skip=0)
        inner = self.function_scope(definition, func.scope, arguments)
        returned = [self.value(each, inner) for each in _returns(definition.body)]
        known = [value for value in returned if not isinstance(value, Unknown | Nothing)]
        if not known:
            return Nothing() if returned and not known and len(returned) == 1 else UNKNOWN
        result: Value = known[0]
        for other in known[1:]:
            result = operations.either(result, other)
        return result

    def function_scope(
        self, definition: FunctionDefinition, scope: Scope, arguments: dict[str, Value]
    ) -> BodyScope:
        return BodyScope(scope, table(bindings(definition.body)), arguments, definition)

    def arguments(
        self, definition: FunctionDefinition, node: Call, scope: Scope, *, skip: int
    ) -> dict[str, Value]:
        """The values that a call gives to a function's parameters; the first `skip` are bound."""
        found: dict[str, Value] = {}
        positional = [each for each in definition.parameters if not each.kind]
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

    def _method(self, func: MethodValue, node: Call, scope: Scope) -> Value:
        owner, name = func.owner, func.name
        if isinstance(owner, Text):
            items = self.value(node.args[0], scope) if len(node.args) == 1 else None
            return operations.text_method(owner, name, node, items)
        if isinstance(owner, TemplateValue | PromptValue) and name == "bind":
            template = owner.template if isinstance(owner, PromptValue) else owner
            bound = owner.bound if isinstance(owner, PromptValue) else ()
            added = tuple(Item(each, self.value(each, scope)) for each in node.args)
            return PromptValue(template, node, (*bound, *added))
        if isinstance(owner, SectionValue) and name == "clone":
            return owner
        return UNKNOWN

    def argument(self, node: Expression, scope: Scope, name: Name | None = None) -> Argument:
        return Argument(node, self.value(node, scope), name)


def _so_far(found: tuple[Bound, ...], use: Node | None) -> tuple[Bound, ...]:
    """The bindings that hold at a place of the same body."""
    if use is None or len(found) == 1:
        return found
    return tuple(bound for bound in found if bound.before(use)) or found


def _returns(body: tuple[Statement, ...]) -> Iterator[Expression]:
    for statement in body:
        if isinstance(statement, Return) and statement.value is not None:
            yield statement.value
        elif isinstance(statement, Block):
            yield from _returns(statement.body)
