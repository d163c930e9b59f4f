"""Params dataclasses: the fields that placeholders may name, and the items that lists show."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import Field as RuntimeField
from dataclasses import replace
from typing import TYPE_CHECKING, get_type_hints

from foldline.ide.analysis import field_types, syntax
from foldline.ide.analysis.memo import STEP
from foldline.ide.analysis.operators import as_set
from foldline.ide.analysis.scopes import BodyScope, Scope
from foldline.ide.analysis.values import (
    EMPTY_RECORD,
    UNKNOWN,
    Argument,
    ClassValue,
    Dataclass,
    External,
    Field,
    FieldType,
    Items,
    LambdaValue,
    Nothing,
    Specialised,
    Text,
    Unknown,
    Value,
)
from foldline.prompts import Example, Stability, Task
from foldline.prompts.cache.stability import declared_stability
from foldline.prompts.forms.annotations import Unresolved
from foldline.prompts.forms.composition import compose, hint_text
from foldline.prompts.sections.each import may_hold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.ide.analysis.evaluator import Evaluator

    Params = Dataclass | Nothing | Unknown


def _library_dataclass(kind: type, *, task: bool = False) -> Dataclass:
    hints = get_type_hints(kind, include_extras=True)

    def field_of(field: RuntimeField[object]) -> Field:
        has_default = field.default is not dataclasses.MISSING
        form = compose(hints[field.name])
        declared = form if form is not None and form.forms else None
        return Field(
            field.name,
            None,
            hint_text(hints[field.name]).removesuffix("T_co"),
            repr(field.default) if has_default else None,
            has_default,
            field.metadata.get("description", ""),
            Nothing() if field.default is None else UNKNOWN,
            type=FieldType(
                declared, shows=None if form is None else form.shows, hint=hints[field.name]
            ),
        )

    fields = tuple(map(field_of, dataclasses.fields(kind)))
    return Dataclass(
        kind.__name__,
        None,
        fields,
        complete=True,
        is_dataclass=True,
        task=task,
        stability=getattr(kind, "__stability__", None),
    )


TASK = _library_dataclass(Task, task=True)
"""The library's own `Task`."""

EXAMPLE = _library_dataclass(Example)
"""The library's own `Example`, with any types."""

LIBRARY = {kind.name: kind for kind in (TASK, EXAMPLE)}

# Pydantic converts the values that an instance is made with.
_MODEL = Dataclass(
    "BaseModel", None, (), complete=True, is_dataclass=True, computed=True, model=True
)
_MODELS = frozenset({"pydantic.BaseModel", "pydantic.main.BaseModel"})
_FIELD_CALLS = frozenset({"dataclasses.field", "pydantic.Field", "pydantic.fields.Field"})

# Those of a class that only inherits from generic ones aren't read.
_TYPE_VARIABLES = re.compile(r"class \w+(?:\[|\(.*\bGeneric\[)([^]]*)")
_COMPUTES = frozenset({"__getattribute__", "__init__", "__new__", "__post_init__"})

_EMPTY: dict[str, Value] = {
    "builtins.tuple": Items(()),
    "builtins.list": Items(()),
    "builtins.set": as_set(Items(())),
    "builtins.frozenset": as_set(Items(())),
    "builtins.dict": EMPTY_RECORD,
}

HARMLESS_BASES = frozenset(
    {
        "abc.ABC",
        "builtins.object",
        "pydantic.BaseModel",
        "typing.Generic",
        "typing.NamedTuple",
        "typing.Protocol",
        "typing.TypedDict",
        "typing_extensions.Generic",
        "typing_extensions.Protocol",
        "typing_extensions.TypedDict",
    }
)
"""Classes that have no fields and don't make dataclasses of those that inherit from them."""


def params_of(evaluator: Evaluator, value: Value) -> Dataclass | Nothing | Unknown:
    """Return the params type from a section's type argument."""
    origin = value.origin if isinstance(value, Specialised) else value
    if isinstance(origin, Nothing):
        return origin
    if isinstance(origin, External) and origin.library_name in LIBRARY:
        return LIBRARY[origin.library_name]
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
    is_dataclass: bool | None = field_types.is_decorated(evaluator, definition, scope)
    complete = is_dataclass is not None and not definition.generic
    task = False
    stability = declared_in_class(evaluator, definition, scope)
    computed = any(
        isinstance(member, syntax.FunctionDefinition) and member.name.id in _COMPUTES
        for member in definition.body
    )
    inherited, model = None, False
    for base in reversed(definition.bases):
        above = _base(evaluator, evaluator.value(base, scope), scope, depth)
        if above is None:
            continue
        inherited = inherited if above.stability is None else above.stability
        if not evaluator.affords(STEP * len(above.fields)):
            complete = False
            break
        fields.update({field.id: field for field in above.fields})
        complete = complete and above.complete
        task = task or above.task
        computed = computed or above.computed
        model = model or above.model
        if is_dataclass is False and above.is_dataclass:
            is_dataclass = True  # inherits __dataclass_fields__, though not its own fields
        elif is_dataclass is False and above.is_dataclass is None:
            is_dataclass = None
    if model or field_types.is_decorated(evaluator, definition, scope) is not False:
        declared = _fields(evaluator, definition, scope)
        fields.update({one.id: one for one in declared if not (model and one.id.startswith("_"))})
    return Dataclass(
        definition.name.id,
        definition,
        tuple(fields.values()),
        complete,
        is_dataclass,
        task,
        computed,
        inherited if stability is None else stability,
        model,
    )


def _base(evaluator: Evaluator, value: Value, scope: Scope, depth: int) -> Dataclass | None:
    origin = _generic(evaluator, value, scope) if isinstance(value, Specialised) else value
    if isinstance(origin, External):
        if origin.library_name in LIBRARY:
            return LIBRARY[origin.library_name]
        if origin.dotted in _MODELS:
            return _MODEL
        if origin.dotted in HARMLESS_BASES:
            return None
    if isinstance(origin, ClassValue) and depth < 20:
        return _dataclass_of(evaluator, origin, depth + 1)
    return Dataclass("", None, (), complete=False, is_dataclass=None)


def _generic(evaluator: Evaluator, value: Specialised, scope: Scope) -> Value:
    """Return a generic class with its type variables bound in its scope."""
    origin = value.origin
    if not isinstance(origin, ClassValue):
        return origin
    header = _TYPE_VARIABLES.match(origin.definition.source)
    variables = re.findall(r"(?:^|,)\s*(\w+)", header[1] if header else "")
    arguments = field_types.unquoted(evaluator, value, scope).arguments
    bound = dict(zip(variables, arguments, strict=False))
    return ClassValue(origin.definition, BodyScope(origin.scope, {}, bound))


def _fields(evaluator: Evaluator, definition: syntax.ClassDefinition, scope: Scope) -> list[Field]:
    fields: list[Field] = []
    for statement in definition.body:
        if not isinstance(statement, syntax.Assign) or statement.annotation is None:
            continue
        target = statement.targets[0] if statement.targets else None
        if not isinstance(target, syntax.Name):
            continue
        annotation = statement.annotation
        head = annotation.value if isinstance(annotation, syntax.Subscript) else annotation
        last = head.attr.id if isinstance(head, syntax.Attribute) else head.source
        if last == "KW_ONLY":
            continue
        field = _field(evaluator, target, annotation, statement.value, scope)
        # Placeholders may name both, though neither is a field of an instance.
        fields.append(replace(field, init=False) if last in ("ClassVar", "InitVar") else field)
    return fields


def _field(
    evaluator: Evaluator,
    name: syntax.Name,
    annotation: syntax.Expression,
    value: syntax.Expression | None,
    scope: Scope,
) -> Field:
    kind = field_types.field_type(evaluator, annotation, scope)
    declared = Field(
        name.id,
        name,
        annotation.source,
        None if value is None else value.source,
        value is not None,
        "",
        _default(evaluator, value, scope),
        type=kind,
        hint=(annotation, scope),
        stability=declared_stability(kind.hint),
    )
    if value is None and "default" in annotation.source:  # `Annotated[str, Field(default="x")]`
        return replace(declared, has_default=True)
    if not isinstance(value, syntax.Call):
        return declared
    func = evaluator.value(value.func, scope)
    if not (isinstance(func, External) and func.dotted in _FIELD_CALLS):
        return declared
    named, factory = value.keyword("default"), value.keyword("default_factory")
    metadata, init = value.keyword("metadata"), value.keyword("init")
    default = named.value if named is not None else next(iter(value.args), None)
    default = None if default is not None and default.source == "..." else default
    shown = None if factory is None else f"{factory.value.source}()"
    return replace(
        declared,
        default=shown if default is None else default.source,
        has_default=default is not None or factory is not None,
        description="" if metadata is None else _description(evaluator, metadata.value, scope),
        default_value=(
            _made(evaluator, factory.value, scope)
            if default is None and factory is not None
            else _default(evaluator, default, scope)
        ),
        init=init is None or init.value.source != "False",
    )


def _default(evaluator: Evaluator, node: syntax.Expression | None, scope: Scope) -> Value:
    if node is None or field_types.shows_name(evaluator, node, scope):
        return UNKNOWN
    if isinstance(node, syntax.Constant) and node.source == "None":
        return Nothing()
    return evaluator.value(node, scope)


def _made(evaluator: Evaluator, factory: syntax.Expression, scope: Scope) -> Value:
    """Return what a default factory makes."""
    value = evaluator.value(factory, scope)
    if isinstance(value, External):
        return _EMPTY.get(value.dotted, UNKNOWN)
    if isinstance(value, LambdaValue) and not value.definition.parameters:
        return evaluator.value(value.definition.body, value.scope)
    return UNKNOWN


def _description(evaluator: Evaluator, node: syntax.Expression, scope: Scope) -> str:
    if not isinstance(node, syntax.Dictionary):
        return ""
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, syntax.String):
            name = evaluator.value(key, scope)
            if isinstance(name, Text) and name.known == "description":
                text = evaluator.value(value, scope)
                return text.known or "" if isinstance(text, Text) else ""
    return ""


def declared_in_class(
    evaluator: Evaluator, definition: syntax.ClassDefinition, scope: Scope
) -> Stability | None:
    """Return what a class says of its fields: `__stability__ = PerSession`."""
    for statement in definition.body:
        if isinstance(statement, syntax.Assign) and statement.value is not None:
            target = statement.targets[0] if statement.targets else None
            if isinstance(target, syntax.Name) and target.id == "__stability__":
                marker = field_types.marker_of(evaluator.value(statement.value, scope))
                return Stability.UNKNOWN if marker is None else marker
    return None


_DEPTH = 20


def item_of(
    evaluator: Evaluator, root: str, types: Specialised | None
) -> tuple[Params | None, syntax.Expression | None]:
    """Return the dataclass of an item and the expression that names it.

    It's None if sections of the library class `root` show no list.
    """
    if root == "ExamplesSection":
        return EXAMPLE, None
    if root != "EachSection":
        return None, None
    if types is None or len(types.arguments) != 2:
        return UNKNOWN, None
    node = types.nodes[1] if len(types.nodes) > 1 else None
    return params_of(evaluator, types.arguments[1]), node


def holds_items(
    evaluator: Evaluator, params: Params, item: Params | None, arguments: Mapping[str, Argument]
) -> bool:
    """Return False if the field that `items` names certainly holds no sequence of items."""
    argument = arguments.get("items")
    name = argument.value.known if argument and isinstance(argument.value, Text) else None
    field = params.field(name) if name is not None and isinstance(params, Dataclass) else None
    return field is None or field_holds_items(evaluator, field, item)


class _Item:
    """Stands for the dataclass of an item, and for those derived from it."""


def field_holds_items(evaluator: Evaluator, field: Field, item: Params | None) -> bool:
    """Return False if a field certainly holds no sequence of items."""
    if field.hint is None or not isinstance(item, Dataclass) or not item.is_dataclass:
        return True

    def stand_in(kind: ClassValue) -> object:
        return _Item if _may_be(evaluator, kind, item, 0) else Unresolved

    hint, _ = field_types.hint_of(evaluator, *field.hint, stand_in, unknown=object)
    return may_hold(hint, _Item)


def _may_be(evaluator: Evaluator, kind: Value, item: Dataclass, depth: int) -> bool:
    """Return False for a class that certainly is neither an item's nor derived from it."""
    origin = kind.origin if isinstance(kind, Specialised) else kind
    if not isinstance(origin, ClassValue) or depth > _DEPTH:
        return not (isinstance(origin, External) and origin.dotted in HARMLESS_BASES)
    bases = (evaluator.value(base, origin.scope) for base in origin.definition.bases)
    return dataclass_of(evaluator, origin).identity is item.identity or any(
        _may_be(evaluator, base, item, depth + 1) for base in bases
    )
