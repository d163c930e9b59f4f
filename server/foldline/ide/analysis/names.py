"""Name resolution: bindings in order, imports, and attributes of known values."""

from __future__ import annotations

import builtins
import sys
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.ide.analysis import operators
from foldline.ide.analysis.calls import bound as with_bound
from foldline.ide.analysis.field_types import PLAIN_ENUM, enum_of
from foldline.ide.analysis.memo import STEP, text_cost
from foldline.ide.analysis.modules import LIBRARY
from foldline.ide.analysis.scopes import EVERY_NAME, BodyScope, Bound, ModuleScope, Scope
from foldline.ide.analysis.source_map import join
from foldline.ide.analysis.syntax import (
    Attribute,
    Call,
    ClassDefinition,
    FunctionDefinition,
    Import,
    Name,
    Node,
)
from foldline.ide.analysis.values import (
    LIBRARY_NAMES,
    UNKNOWN,
    ClassValue,
    External,
    FunctionValue,
    InstanceValue,
    Item,
    Items,
    LambdaValue,
    MethodValue,
    ModuleValue,
    Plain,
    PromptValue,
    SectionValue,
    TemplateValue,
    Text,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from foldline.ide.analysis.evaluator import Evaluator

_POINTER = 8
_CHANGING = ("random", "heapq", "bisect")
_HARMLESS = ("append", "extend", "insert", "join", "bind", "index", "count", "update")
_TRANSPARENT = frozenset({"functools.cache", "functools.lru_cache", "builtins.staticmethod"})
_BUILTINS = frozenset(
    {
        *("bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list"),
        *("memoryview", "object", "range", "set", "slice", "str", "tuple"),
    }
)


def lookup(evaluator: Evaluator, name: str, scope: Scope, use: Node | None = None) -> Value:
    """Return the value of a name in a scope; at `use`, if it is bound more than once."""
    inner: Scope = scope
    changed: list[tuple[tuple[Bound, ...], BodyScope]] = []
    while isinstance(inner, BodyScope):
        bindings = inner.names.get(name, ())
        position = use if inner is scope else None
        if name in inner.arguments:
            assigned = tuple(
                bound for bound in bindings if position is None or bound.before(position)
            )
            value = _bound(evaluator, assigned, inner, inner.arguments[name])
            break
        if bindings and (inner is scope or inner.function is not None):
            if any(not bound.change for bound in bindings):
                value = _bound(evaluator, _so_far(bindings, position), inner)
                break
            # Only changed here: `SECTIONS.append(…)` in a function.
            changed.append((_so_far(bindings, position), inner))
        inner = inner.parent
    else:
        value = member(evaluator, inner, name, use if inner is scope else None)
    for bindings, body in reversed(changed):
        value = _bound(evaluator, bindings, body, value)
    return value


def member(evaluator: Evaluator, module: ModuleScope, name: str, use: Node | None = None) -> Value:
    """Return the value of a module-level name."""
    evaluator.memo.record_use(module.file, name)
    bindings = module.names.get(name)
    if bindings is not None and any(bound.change != "passed" for bound in bindings):
        return doubted(_bound(evaluator, _so_far(bindings, use), module, None, name), name, module)
    for star in reversed(module.stars):
        value = _starred(evaluator, star, name, module)
        if value is not None and not isinstance(value, Unknown):
            return value
    return External(f"builtins.{name}") if name in _BUILTINS else UNKNOWN


def doubted(value: Value, name: str, module: ModuleScope) -> Value:
    """Return the value of a module's name, uncertain if code may have changed it unseen."""
    named = not module.doubts.isdisjoint((name, f"{name}."))
    if named and isinstance(value, ClassValue | ModuleValue | InstanceValue):
        return UNKNOWN
    doubtful = not module.doubts.isdisjoint((name, EVERY_NAME))
    return operators.one_of(value, UNKNOWN) if doubtful else value


def _starred(evaluator: Evaluator, star: Import, name: str, module: ModuleScope) -> Value | None:
    """Return what a star import gives a name: None if nothing, unknown if that isn't known."""
    if star.level == 0 and star.module == LIBRARY:
        return External(f"{LIBRARY}.{name}") if name in LIBRARY_NAMES else None
    starred = evaluator.modules.find(star.module, star.level, module.file)
    if starred is not None and not starred.stars and name not in starred.names:
        evaluator.memo.record_use(starred.file, name)
        return None
    if starred is not None and (name.startswith("_") or "__all__" in starred.names):
        listed = member(evaluator, starred, "__all__")
        texts = [one.value for one in listed.items] if isinstance(listed, Items) else []
        if name not in {one.known for one in texts if isinstance(one, Text)}:
            sure = "__all__" not in starred.names or (isinstance(listed, Items) and listed.complete)
            return None if sure else UNKNOWN
    value = _imported(evaluator, star, name, module)
    is_library = not isinstance(value, External) or value.library_name in LIBRARY_NAMES
    return value if is_library else UNKNOWN


def _imported(evaluator: Evaluator, node: Import, name: str, module: ModuleScope) -> Value:
    if node.level == 0 and (node.module + ".").startswith(LIBRARY + "."):
        return External(f"{node.module}.{name}")
    imported = evaluator.modules.find(node.module, node.level, module.file)
    if imported is not None:
        key = (id(imported), hash(name))
        if key in evaluator.active:
            return UNKNOWN
        evaluator.active.add(key)
        try:
            value = member(evaluator, imported, name)
        finally:
            evaluator.active.discard(key)
        if not isinstance(value, Unknown) or name in imported.names:
            return value
    dotted = f"{node.module}.{name}" if node.module else name
    inner = evaluator.modules.find(dotted, node.level, module.file)
    if inner is not None:
        return ModuleValue(inner)
    return External(dotted) if node.level == 0 and imported is None else UNKNOWN


def _bound(
    evaluator: Evaluator,
    found: tuple[Bound, ...],
    scope: Scope,
    before: Value | None = None,
    name: str = "",
) -> Value:
    value: Value = UNKNOWN if before is None else before
    started = before is not None
    # Start at the last unconditional binding: it hides all before it.
    sure = (at for at in range(len(found) - 1, -1, -1) if found[at].sure)
    for bound in found[next(sure, 0) :]:
        if not evaluator.affords(STEP):
            return UNKNOWN
        if bound.change == EVERY_NAME and isinstance(bound.node, Import):
            star = _starred(evaluator, bound.node, name, scope.module)
            if star is None or (isinstance(star, Unknown) and not started):
                continue
            new = star
        elif bound.change:
            value = _changed(evaluator, value, bound, scope)
            continue
        else:
            new = _single(evaluator, bound, scope)
        if bound.conditional and started:
            # Either may be in effect: one is shown, and no diagnostic relies on it.
            value = operators.one_of(value, new)
            continue
        value, started = new, True
    return value


def _changed(evaluator: Evaluator, value: Value, bound: Bound, scope: Scope) -> Value:
    if bound.change == "=":
        return UNKNOWN if isinstance(value, InstanceValue | ModuleValue | ClassValue) else value
    if bound.change == "given":
        is_list = isinstance(value, Items) and _changes_lists(evaluator, bound, scope)
        return operators.one_of(value, UNKNOWN) if is_list else value
    if bound.change == "bind":
        if not isinstance(value, PromptValue) or not isinstance(bound.value, Call):
            return value
        if bound.conditional:
            return replace(value, maybe=True)
        return with_bound(evaluator, value, bound.value, scope)
    if not isinstance(value, Items):
        if isinstance(value, Text) and bound.change == "+=" and bound.value is not None:
            added = evaluator.value(bound.value, scope)
            if isinstance(added, Text) and not bound.conditional:
                parts = value.mapped, added.mapped
                return evaluator.text(bound.value, text_cost(*parts), lambda: join(parts))
        return value if bound.change == "passed" else UNKNOWN
    if bound.value is None or bound.conditional:
        lost = bound.value is None
        items = tuple(replace(item, maybe=item.maybe or lost) for item in value.items)
        return Items(items, complete=False)
    added = evaluator.value(bound.value, scope)
    more = len(added.items) if isinstance(added, Items) else 1
    # Only the tuple is new: its items have been charged already.
    if not evaluator.affords(len(value.items) * _POINTER + STEP * more):
        return UNKNOWN
    if bound.change == "append":
        return Items((*value.items, Item(bound.value, added)), value.complete)
    if isinstance(added, Items) and bound.change in ("+=", "extend"):
        return Items((*value.items, *added.items), value.complete and added.complete)
    return Items(value.items, complete=False)


def _changes_lists(evaluator: Evaluator, given: Bound, scope: Scope) -> bool:
    """Return True if a call may change a list that it is given."""
    call = given.value
    assert isinstance(call, Call)
    func, node = evaluator.value(call.func, scope), call.func
    if isinstance(func, External):
        module = func.dotted.partition(".")[0]
        is_known = module in sys.stdlib_module_names and module not in _CHANGING
        is_method = func.dotted.startswith("builtins.list.")
        return not (func.library_name or is_known) or is_method
    if isinstance(func, FunctionValue):
        body = evaluator.any_call(func.definition, func.scope)
        changes = (
            bound
            for parameter in func.definition.parameters
            for bound in body.names.get(parameter.name.id, ())
        )
        key = (id(call), id(body))
        if key in evaluator.active:
            return False
        evaluator.active.add(key)
        try:
            return any(
                _changes_lists(evaluator, bound, body)
                if bound.change == "given"
                else bool(bound.change)
                for bound in changes
            )
        finally:
            evaluator.active.discard(key)
    if isinstance(func, Unknown):
        name = node.id if isinstance(node, Name) else ""
        is_method = isinstance(node, Attribute) and node.attr.id in _HARMLESS
        return not (hasattr(builtins, name) or is_method)
    if isinstance(func, ClassValue):
        return any(isinstance(one, FunctionDefinition) for one in func.definition.body)
    return isinstance(func, LambdaValue)


def _single(evaluator: Evaluator, bound: Bound, scope: Scope) -> Value:
    node = bound.node
    if isinstance(node, ClassDefinition):
        return ClassValue(node, scope)
    if isinstance(node, FunctionDefinition):
        for decorator in node.decorators:
            value = evaluator.value(
                decorator.func if isinstance(decorator, Call) else decorator, scope
            )
            name = decorator.id if isinstance(decorator, Name) else ""
            is_transparent = isinstance(value, External) and value.dotted in _TRANSPARENT
            if not is_transparent and name != "staticmethod":
                return UNKNOWN
        return FunctionValue(node, scope)
    if isinstance(node, Import):
        return _import(evaluator, node, scope)
    if bound.value is None:
        return UNKNOWN
    value = evaluator.value(bound.value, scope)
    if bound.index is not None:
        if isinstance(value, Items) and bound.index < len(value.items) and value.complete:
            return value.items[bound.index].value
        return UNKNOWN
    return value


def _import(evaluator: Evaluator, node: Import, scope: Scope) -> Value:
    module = scope.module
    if node.name is not None:
        return _imported(evaluator, node, node.name, module)
    dotted = node.module if node.alias else node.module.partition(".")[0]
    if not (dotted + ".").startswith(LIBRARY + "."):
        imported = evaluator.modules.find(dotted, 0, module.file)
        if imported is not None:
            return ModuleValue(imported)
    return External(dotted)


def attribute(evaluator: Evaluator, owner: Value, name: str) -> Value:
    """Return the value of `owner.name`."""
    if isinstance(owner, External):
        return External(f"{owner.dotted}.{name}")
    if isinstance(owner, ModuleValue):
        value = member(evaluator, owner.scope, name)
        if isinstance(value, Unknown) and name not in owner.scope.names:
            inner = evaluator.modules.find(name, 1, owner.scope.file)
            if inner is not None and owner.scope.file.endswith("__init__.py"):
                return ModuleValue(inner)
        return value
    if isinstance(owner, ClassValue):
        scope = evaluator.body(owner.definition, owner.scope)
        bindings = scope.names.get(name)
        value = _bound(evaluator, bindings, scope) if bindings is not None else UNKNOWN
        # A member isn't its value, unless its class is a StrEnum or the like.
        is_plain = isinstance(value, Text | Plain | Items)
        return UNKNOWN if is_plain and enum_of(evaluator, owner) == PLAIN_ENUM else value
    if isinstance(owner, PromptValue) and name == "template":
        return owner.template
    if isinstance(owner, TemplateValue | SectionValue | InstanceValue):
        argument = owner.arguments.get(name)
        if argument is not None:
            return argument.value
    if isinstance(owner, Text | SectionValue | TemplateValue | PromptValue):
        return MethodValue(owner, name)
    return UNKNOWN


def _so_far(found: tuple[Bound, ...], use: Node | None) -> tuple[Bound, ...]:
    """Return the bindings in effect at `use`, a node of the same body."""
    if use is None or len(found) == 1:
        return found
    at = use.anchor.at(use.start)
    # A body's bindings are in source order.
    count = bisect_left(found, at, key=lambda bound: bound.offset)
    return found[:count] or found
