"""Constructs sections, templates, prompts and tools from the calls that make them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from foldline.ide.analysis import params as params_types
from foldline.ide.analysis.budget import SECTION, STEP, text_cost
from foldline.ide.analysis.source_map import MappedText, Run
from foldline.ide.analysis.syntax import (
    Anchor,
    Assign,
    Attribute,
    Block,
    Call,
    Evaluate,
    FunctionDefinition,
    Name,
    Starred,
)
from foldline.ide.analysis.values import (
    UNKNOWN,
    Argument,
    ClassValue,
    Dataclass,
    External,
    InstanceValue,
    Item,
    Items,
    PromptValue,
    Record,
    SectionValue,
    Specialised,
    TemplateValue,
    Text,
    ToolValue,
    Unknown,
    Value,
)
from foldline.prompts.task import Task, TaskSection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import ClassDefinition, Expression, Statement

TYPE_VARIABLE = "typing.TypeVar"
"""What stands for a `TypeVar(…)`."""

SECTION_KINDS = {
    "Section": "custom",
    "MarkdownSection": "markdown",
    "TaskSection": "task",
    "Chapter": "chapter",
}
_TASK = TaskSection[Task]()
_PLAIN_METHODS = frozenset({"__init__", "clone", "is_enabled", "__repr__"})


def instance(evaluator: Evaluator, node: Call, func: Value, scope: Scope) -> Value:
    """What calling `func` makes, where that is something of the prompt library."""
    origin, types = _unfolded(func)
    if isinstance(origin, External):
        return _library_instance(evaluator, node, scope, origin.library_name, types)
    if isinstance(origin, ClassValue):
        lineage = lineage_of(evaluator, func)
        if lineage.root in SECTION_KINDS:
            return _section(evaluator, node, scope, lineage)
        if lineage.root:
            return UNKNOWN
        info = params_types.dataclass_of(evaluator, origin)
        if info.is_dataclass:
            return _instance(evaluator, node, scope, info)
    return UNKNOWN


def _unfolded(func: Value) -> tuple[Value, Specialised | None]:
    if isinstance(func, Specialised):
        return func.origin, func
    return func, None


def _library_instance(
    evaluator: Evaluator, node: Call, scope: Scope, name: str, types: Specialised | None
) -> Value:
    if name in SECTION_KINDS:
        return _section(evaluator, node, scope, Lineage(name, types, (), custom=False))
    if name == "PromptTemplate":
        given, opaque = _arguments(evaluator, node, scope)
        output = types.arguments[0] if types is not None and types.arguments else None
        output_node = types.nodes[0] if types is not None and types.nodes else None
        opaque = opaque or bool(node.args)
        given, cost = _shown(evaluator, given, 0, "sections", "chapters")
        return TemplateValue(node, given, output, output_node, opaque, scope, cost=cost)
    if name == "Prompt":
        argument = node.args[0] if node.args else None
        keyword = node.keyword("template")
        if argument is None and keyword is not None:
            argument = keyword.value
        made = evaluator.value(argument, scope) if argument is not None else UNKNOWN
        return PromptValue(made, node) if isinstance(made, TemplateValue) else UNKNOWN
    if name == "Tool":
        return ToolValue(node, _arguments(evaluator, node, scope)[0])
    if name == "Task":
        return _instance(evaluator, node, scope, params_types.TASK)
    return UNKNOWN


def _instance(evaluator: Evaluator, node: Call, scope: Scope, info: Dataclass) -> InstanceValue:
    given, opaque = _arguments(evaluator, node, scope)
    fields = [field for field in info.fields if field.init]
    for field, argument in zip(fields, node.args, strict=False):
        if isinstance(argument, Starred):
            opaque = True
            break
        given.setdefault(field.id, evaluator.argument(argument, scope))
    return InstanceValue(info, node, given, opaque)


def replaced(evaluator: Evaluator, node: Call, scope: Scope) -> Value:
    """What `dataclasses.replace(instance, …)` makes."""
    before = evaluator.value(node.args[0], scope) if len(node.args) == 1 else UNKNOWN
    if not isinstance(before, InstanceValue):
        return UNKNOWN
    given, opaque = _arguments(evaluator, node, scope)
    return InstanceValue(
        before.dataclass, node, {**before.arguments, **given}, before.opaque or opaque
    )


def _arguments(evaluator: Evaluator, node: Call, scope: Scope) -> tuple[dict[str, Argument], bool]:
    """The keyword arguments of a call, and whether there are others that are not known."""
    given: dict[str, Argument] = {}
    opaque = False
    for keyword in node.keywords:
        if keyword.name is None:
            spread = evaluator.value(keyword.value, scope)
            if isinstance(spread, Record) and evaluator.affords(STEP * len(spread.arguments)):
                given.update(spread.arguments)
                opaque = opaque or not spread.complete
            else:
                opaque = True
        else:
            given[keyword.name.id] = evaluator.argument(keyword.value, scope, keyword.name)
    return given, opaque


# Classes of sections


@dataclass(frozen=True, slots=True, eq=False)
class Lineage:
    """What a class descends from.

    `root` is the library's class, empty where there is none; `types` its specialisation; `classes`
    are the workspace's classes on the way, the most derived first; `custom` tells whether one of
    them decides by itself what is rendered.
    """

    root: str
    types: Specialised | None
    classes: tuple[ClassValue, ...]
    custom: bool


def lineage_of(evaluator: Evaluator, value: Value) -> Lineage:
    """The library class that a class descends from, and how."""
    origin, _ = _unfolded(value)
    if isinstance(origin, ClassValue):
        anchor = origin.definition.anchor
        return evaluator.memory.within(anchor, lambda: _lineage_of(evaluator, value, 0))
    return _lineage_of(evaluator, value, 0)


def _lineage_of(evaluator: Evaluator, value: Value, depth: int) -> Lineage:
    origin, types = _unfolded(value)
    if isinstance(origin, External):
        return Lineage(origin.library_name, types, (), custom=False)
    if not isinstance(origin, ClassValue) or depth > 20 or not evaluator.affords(STEP):
        return Lineage("", None, (), custom=False)
    definition = origin.definition
    for base in definition.bases:
        above = _lineage_of(evaluator, evaluator.value(base, origin.scope), depth + 1)
        if not above.root or above.root in ("FrozenDataclass", "Task"):
            continue
        custom = above.custom or any(map(_decides, definition.body))
        own = _specialised(definition, above.types, types)
        return Lineage(above.root, own, (origin, *above.classes), custom)
    return Lineage("", None, (), custom=False)


def _specialised(
    definition: ClassDefinition, above: Specialised | None, own: Specialised | None
) -> Specialised | None:
    """The types of a class whose base has some: `class Mine(Section[T])` has those of its use."""
    if above is None or own is None:
        return own if above is None else above
    argument = above.arguments[0] if above.arguments else UNKNOWN
    variable = isinstance(argument, External) and argument.dotted == TYPE_VARIABLE
    variable = variable or (definition.generic and isinstance(argument, Unknown))
    return own if variable and len(own.arguments) == 1 else above


def _decides(statement: Statement) -> bool:
    """Whether a part of a class's body may change what its sections render."""
    if isinstance(statement, FunctionDefinition):
        return statement.name.id not in _PLAIN_METHODS
    return isinstance(statement, Assign) and any(
        isinstance(target, Name) and target.id == "derived_placeholders"
        for target in statement.targets
    )


def _section(evaluator: Evaluator, node: Call, scope: Scope, lineage: Lineage) -> Value:
    given, opaque = _arguments(evaluator, node, scope)
    opaque = opaque or bool(node.args)
    for value in lineage.classes:
        init = _method(value.definition, "__init__")
        if init is None:
            continue
        given, opaque = _through_init(evaluator, node, scope, (value, init), given)
        # Only the most derived __init__ is followed with the call's own arguments; what it hands
        # on is taken to reach the library, which holds for the usual keyword-only chains.
        break
    kind = "custom" if lineage.custom else SECTION_KINDS[lineage.root]
    if kind == "task":
        given = {**_task_defaults(node), **given}
    own = SECTION + text_cost(
        *(
            argument.value.mapped
            for name in ("key", "title", "template", "summary")
            if (argument := given.get(name)) is not None and isinstance(argument.value, Text)
        )
    )
    given, below = _shown(evaluator, given, own, "sections" if kind == "chapter" else "children")
    types = lineage.types
    params: Value = types.arguments[0] if types is not None and types.arguments else UNKNOWN
    params_node = types.nodes[0] if types is not None and types.nodes else None
    specialised: bool | None = types is not None
    if types is None and lineage.classes:
        specialised = None  # a subclass may well specialise in a way that is not seen here
    return SectionValue(
        node=node,
        kind=kind,
        class_name=_class_name(node.func),
        class_node=node.func,
        specialised=specialised,
        params=params_types.params_of(evaluator, params),
        params_node=params_node,
        arguments=given,
        opaque=opaque,
        scope=scope,
        decides=any(_method(ancestor.definition, "is_enabled") for ancestor in lineage.classes),
        cost=own + below,
    )


def _shown(
    evaluator: Evaluator, given: dict[str, Argument], own: int, *names: str
) -> tuple[dict[str, Argument], int]:
    """The arguments, without the sections below where it would cost too much to show them all.

    One section can stand in many places: as few lines as have a section twice in the next one and
    so on describe millions.
    """
    rows = (given[name].value for name in names if name in given)
    cost = sum(
        item.value.cost
        for row in rows
        if isinstance(row, Items)
        for item in row.items
        if isinstance(item.value, SectionValue)
    )
    if evaluator.affords(own + cost):
        return given, cost
    unknown = {name: replace(given[name], value=UNKNOWN) for name in names if name in given}
    return {**given, **unknown}, 0


def _class_name(func: Expression) -> str:
    source = func.source
    return source.partition("[")[0].rpartition(".")[2].strip()


def _method(definition: ClassDefinition, name: str) -> FunctionDefinition | None:
    for statement in definition.body:
        if isinstance(statement, FunctionDefinition) and statement.name.id == name:
            return statement
    return None


def _through_init(
    evaluator: Evaluator,
    node: Call,
    scope: Scope,
    owner: tuple[ClassValue, FunctionDefinition],
    given: dict[str, Argument],
) -> tuple[dict[str, Argument], bool]:
    """The arguments that a subclass's `__init__` makes of those it is called with."""
    value, init = owner
    call = next(_super_calls(init.body), None)
    if call is None:
        return given, True
    body = evaluator.body(value.definition, value.scope)
    bound = evaluator.arguments(init, node, scope, skip=1)
    for parameter in init.parameters:
        name = parameter.name.id
        if parameter.default is not None and name not in given:
            bound[name] = bound.get(name, UNKNOWN)
    inner = evaluator.function_scope(init, body, bound)
    made: dict[str, Argument] = {}
    opaque = bool(call.args)
    consumed = {parameter.name.id for parameter in init.parameters if not parameter.kind}
    for keyword in call.keywords:
        if keyword.name is None:
            rest = isinstance(keyword.value, Name) and any(
                parameter.kind == "**" and parameter.name.id == keyword.value.id
                for parameter in init.parameters
            )
            if not rest:
                opaque = True
                continue
            made |= {name: argument for name, argument in given.items() if name not in consumed}
            opaque = opaque or any(other.name is None for other in node.keywords)
            continue
        name = keyword.name.id
        argument = evaluator.argument(keyword.value, inner, keyword.name)
        passed = keyword.value.id if isinstance(keyword.value, Name) else ""
        if passed in given and passed in consumed:
            argument = given[passed]
        made[name] = argument
    return made, opaque


def _super_calls(body: Sequence[Statement]) -> Iterator[Call]:
    for statement in body:
        if isinstance(statement, Block):
            yield from _super_calls(statement.body)
        if not (isinstance(statement, Evaluate) and isinstance(statement.value, Call)):
            continue
        func = statement.value.func
        if not (isinstance(func, Attribute) and func.attr.id == "__init__"):
            continue
        owner = func.value
        if isinstance(owner, Call) and isinstance(owner.func, Name) and owner.func.id == "super":
            yield statement.value


def declared_in(evaluator: Evaluator, value: ClassValue) -> SectionValue | None:
    """The section that a subclass's `__init__` describes, whoever may call it."""
    lineage = lineage_of(evaluator, value)
    init = _method(value.definition, "__init__")
    if lineage.root not in SECTION_KINDS or init is None:
        return None
    call = next(_super_calls(init.body), None)
    if call is None:
        return None
    arguments: dict[str, Value] = {parameter.name.id: UNKNOWN for parameter in init.parameters}
    body = evaluator.body(value.definition, value.scope)
    inner = evaluator.function_scope(init, body, arguments)
    made = _section(evaluator, call, inner, replace(lineage, classes=()))
    if not isinstance(made, SectionValue):
        return None
    return replace(made, opaque=True, specialised=None, class_name=value.definition.name.id)


def _task_defaults(node: Call) -> dict[str, Argument]:
    return {
        name: Argument(node.func, Text(_built_in(text)))
        for name, text in (("key", _TASK.key), ("title", _TASK.title), ("template", _TASK.template))
    }


@lru_cache
def _built_in(text: str) -> MappedText:
    """Text of the library's own, which has no place in any file of the workspace."""
    return MappedText(text, (Run(0, len(text), Anchor("", 0, text), 0, len(text)),))


def bound_items(prompt: PromptValue) -> tuple[Item, ...]:
    """What was bound to a prompt, one item per argument."""
    return tuple(item for item in prompt.bound if not isinstance(item.node, Starred))
