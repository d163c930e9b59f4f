"""Params dataclasses: the fields that placeholders may name."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from dataclasses import Field as RuntimeField
from typing import TYPE_CHECKING

from foldline.ide.analysis.budget import STEP
from foldline.ide.analysis.scopes import BodyScope
from foldline.ide.analysis.syntax import (
    Assign,
    Attribute,
    Call,
    ClassDefinition,
    Constant,
    Dictionary,
    Expression,
    FunctionDefinition,
    Name,
    String,
    Subscript,
)
from foldline.ide.analysis.values import (
    UNKNOWN,
    ClassValue,
    Dataclass,
    External,
    Field,
    Items,
    Nothing,
    Plain,
    Specialised,
    Text,
    Unknown,
    Value,
)
from foldline.prompts.examples import Example
from foldline.prompts.task import Task

if TYPE_CHECKING:
    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.scopes import Scope


def _library_dataclass(kind: type, *, task: bool = False) -> Dataclass:
    def field_of(field: RuntimeField[object]) -> Field:
        known = field.default is not MISSING
        return Field(
            field.name,
            None,
            str(field.type).removesuffix("T_co"),
            repr(field.default) if known else None,
            known,
            field.metadata.get("description", ""),
            str(field.default) if known else None,
            default_value=Nothing() if field.default is None else UNKNOWN,
        )

    own = tuple(map(field_of, fields(kind)))
    return Dataclass(kind.__name__, None, own, complete=True, is_dataclass=True, task=task)


TASK = _library_dataclass(Task, task=True)
"""The library's own `Task`."""

EXAMPLE = _library_dataclass(Example)
"""The library's own `Example`, with any types."""

_LIBRARY = {kind.name: kind for kind in (TASK, EXAMPLE)}

_COMPUTES = frozenset({"__getattribute__", "__init__", "__new__", "__post_init__"})

HARMLESS_BASES = frozenset(
    {"builtins.object", "typing.Generic", "typing.Protocol", "typing_extensions.Generic"}
)


def params_of(evaluator: Evaluator, value: Value) -> Dataclass | Nothing | Unknown:
    """Return the params type from a section's type argument."""
    origin = value.origin if isinstance(value, Specialised) else value
    if isinstance(origin, Nothing):
        return origin
    if isinstance(origin, External) and origin.library_name in _LIBRARY:
        return _LIBRARY[origin.library_name]
    if isinstance(origin, External) and origin.dotted.startswith("builtins."):
        name = origin.dotted.rpartition(".")[2]
        return Dataclass(name, None, (), complete=True, is_dataclass=False)
    if isinstance(origin, ClassValue):
        return dataclass_of(evaluator, origin)
    return UNKNOWN


def dataclass_of(evaluator: Evaluator, value: ClassValue) -> Dataclass:
    """Return a class's fields, those of its bases first."""
    definition = value.definition

    def compute() -> Dataclass:
        return _dataclass_of(evaluator, value, 0)

    if isinstance(value.scope, BodyScope):
        return evaluator.memo.within(definition.anchor, compute)
    # Many sections have the same parameters.
    return evaluator.memo.fact(definition.anchor, f"dataclass at {definition.start}", compute)


def _dataclass_of(evaluator: Evaluator, value: ClassValue, depth: int) -> Dataclass:
    definition, scope = value.definition, value.scope
    if not evaluator.affords(STEP):
        return Dataclass(definition.name.id, definition, (), complete=False, is_dataclass=None)
    fields: dict[str, Field] = {}
    is_dataclass: bool | None = _decorated(evaluator, definition, scope)
    complete = is_dataclass is not None and not definition.generic
    task = False
    computed = any(
        isinstance(member, FunctionDefinition) and member.name.id in _COMPUTES
        for member in definition.body
    )
    for base in reversed(definition.bases):
        above = _base(evaluator, evaluator.value(base, scope), depth)
        if above is None:
            continue
        if not evaluator.affords(STEP * len(above.fields)):
            complete = False
            break
        fields.update({field.id: field for field in above.fields})
        complete = complete and above.complete
        task = task or above.task
        computed = computed or above.computed
        if is_dataclass is False and above.is_dataclass:
            is_dataclass = True  # inherits __dataclass_fields__, though not its own fields
        elif is_dataclass is False and above.is_dataclass is None:
            is_dataclass = None
    if _decorated(evaluator, definition, scope) is not False:
        fields.update({field.id: field for field in _fields(evaluator, definition, scope)})
    return Dataclass(
        definition.name.id,
        definition,
        tuple(fields.values()),
        complete,
        is_dataclass,
        task,
        computed,
    )


def _base(evaluator: Evaluator, value: Value, depth: int) -> Dataclass | None:
    origin = value.origin if isinstance(value, Specialised) else value
    if isinstance(origin, External):
        if origin.library_name in _LIBRARY:
            return _LIBRARY[origin.library_name]
        if origin.dotted in HARMLESS_BASES:
            return None
    if isinstance(origin, ClassValue) and depth < 20:
        return _dataclass_of(evaluator, origin, depth + 1)
    return Dataclass("", None, (), complete=False, is_dataclass=None)


def _decorated(evaluator: Evaluator, definition: ClassDefinition, scope: Scope) -> bool | None:
    """Return True if a decorator makes the class a dataclass; None if a decorator is unknown."""
    unknown = False
    for decorator in definition.decorators:
        func = decorator.func if isinstance(decorator, Call) else decorator
        value = evaluator.value(func, scope)
        if isinstance(value, External):
            if value.dotted == "dataclasses.dataclass" or value.library_name == "FrozenDataclass":
                return True
            if value.dotted.startswith(("typing.", "typing_extensions.", "functools.")):
                continue
        unknown = True
    return None if unknown else False


def _fields(evaluator: Evaluator, definition: ClassDefinition, scope: Scope) -> list[Field]:
    found: list[Field] = []
    for statement in definition.body:
        if not isinstance(statement, Assign) or statement.annotation is None:
            continue
        target = statement.targets[0] if statement.targets else None
        if not isinstance(target, Name):
            continue
        annotation = statement.annotation
        head = annotation.value if isinstance(annotation, Subscript) else annotation
        last = head.attr.id if isinstance(head, Attribute) else head.source
        if last == "KW_ONLY":
            continue
        field = _field(evaluator, target, annotation, statement.value, scope)
        # Placeholders may name both, though neither is a field of an instance.
        found.append(replace(field, init=False) if last in ("ClassVar", "InitVar") else field)
    return found


def _field(
    evaluator: Evaluator,
    name: Name,
    annotation: Expression,
    value: Expression | None,
    scope: Scope,
) -> Field:
    default: Expression | None = value
    has_default = value is not None
    description = ""
    init = True
    if isinstance(value, Call):
        func = evaluator.value(value.func, scope)
        if isinstance(func, External) and func.dotted == "dataclasses.field":
            default_keyword = value.keyword("default")
            factory = value.keyword("default_factory")
            default = default_keyword.value if default_keyword is not None else None
            has_default = default_keyword is not None or factory is not None
            metadata = value.keyword("metadata")
            if metadata is not None:
                description = _description(evaluator, metadata.value, scope)
            declared = value.keyword("init")
            init = declared is None or declared.value.source != "False"
            if default is None and factory is not None:
                made = evaluator.value(factory.value, scope)
                return Field(
                    name.id,
                    name,
                    annotation.source,
                    f"{factory.value.source}()",
                    True,
                    description,
                    None,
                    init,
                    Items(()) if made in _EMPTY_SEQUENCES else UNKNOWN,
                    (annotation, scope),
                )
    value_of_default = evaluator.value(default, scope) if default is not None else UNKNOWN
    return Field(
        name.id,
        name,
        annotation.source,
        default.source if default is not None else None,
        has_default,
        description,
        _rendered(value_of_default, default) if default is not None else None,
        init,
        value_of_default,
        (annotation, scope),
    )


_EMPTY_SEQUENCES = (External("builtins.list"), External("builtins.tuple"))


def _rendered(value: Value, node: Expression) -> str | None:
    """Return the text of a literal default in a prompt."""
    if isinstance(value, Text):
        return value.known
    if isinstance(value, Plain):
        return number_text(value.value)
    if isinstance(value, Nothing) or (isinstance(node, Constant) and node.source == "None"):
        return "None"
    return None


def number_text(value: float) -> str | None:
    """A number as it renders; None for one with more digits than Python writes."""
    try:
        return str(value)
    except ValueError:
        return None


def _description(evaluator: Evaluator, node: Expression, scope: Scope) -> str:
    if not isinstance(node, Dictionary):
        return ""
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, String):
            name = evaluator.value(key, scope)
            if isinstance(name, Text) and name.known == "description":
                text = evaluator.value(value, scope)
                return text.known or "" if isinstance(text, Text) else ""
    return ""
