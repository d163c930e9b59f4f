"""Instances of sections, templates, prompts, tools and params, from the calls that make them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.ide.analysis import params as params_types
from foldline.ide.analysis import source_map
from foldline.ide.analysis.field_types import form_value, shows_name
from foldline.ide.analysis.memo import SECTION, STEP, text_cost
from foldline.ide.analysis.source_map import MappedText, Run
from foldline.ide.analysis.syntax import (
    Anchor,
    Assign,
    Attribute,
    Call,
    Compound,
    Evaluate,
    FunctionDefinition,
    Name,
    Starred,
)
from foldline.ide.analysis.values import (
    ROOTS,
    TYPE_VARIABLE,
    UNKNOWN,
    Argument,
    ClassValue,
    Dataclass,
    External,
    InstanceValue,
    Items,
    PromptValue,
    SectionValue,
    Specialised,
    TemplateValue,
    Text,
    ToolValue,
    Unknown,
    Value,
)
from foldline.prompts import ENGLISH, ExamplesSection, Task, TaskSection
from foldline.prompts.forms import forms
from foldline.prompts.sections.chapter import Chapter
from foldline.prompts.sections.each import EachSection
from foldline.prompts.sections.listing import SEPARATOR
from foldline.prompts.sections.markdown import MarkdownSection
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import ClassDefinition, Expression, Statement

CLASSES: Mapping[str, type[MarkdownSection[object] | Chapter[object]]] = {
    "markdown": MarkdownSection,
    "task": TaskSection,
    "each": EachSection,
    "examples": ExamplesSection,
    "chapter": Chapter,
}
"""The library's classes by kind; a `custom` section may have any of their arguments."""
SECTION_KINDS = {
    "Section": "custom",
    **{section.__name__: kind for kind, section in CLASSES.items()},
}
_DERIVED = ("derived_placeholders", "derived_item_placeholders")
_PLAIN_METHODS = frozenset({"__init__", "clone", "is_enabled", "__repr__"})


def instance(evaluator: Evaluator, node: Call, func: Value, scope: Scope) -> Value:
    """Return the library object that calling `func` makes; `UNKNOWN` for anything else."""
    origin, types = _unfolded(func)
    if isinstance(origin, External):
        return _library_instance(evaluator, node, scope, origin.library_name, types)
    if isinstance(origin, ClassValue):
        lineage = lineage_of(evaluator, func)
        if lineage.root in SECTION_KINDS:
            return _section(evaluator, node, scope, lineage)
        if lineage.root in ("PromptTemplate", "Prompt"):
            value = _library_instance(evaluator, node, scope, lineage.root, lineage.types)
            # A member may change what its prompts are.
            members = (one for above in lineage.classes for one in above.definition.body)
            plain = not any(isinstance(one, FunctionDefinition | Assign) for one in members)
            if plain or not isinstance(value, TemplateValue | PromptValue):
                return value
            return replace(value, maybe=True)
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
        arguments, opaque = evaluator.keywords(node, scope)
        output = types.arguments[0] if types is not None and types.arguments else None
        opaque = opaque or bool(node.args)
        arguments, cost = _within_budget(evaluator, arguments, 0, *ROOTS)
        return TemplateValue(node, arguments, output, opaque, cost=cost)
    if name == "Prompt":
        argument = node.args[0] if node.args else None
        keyword = node.keyword("template")
        if argument is None and keyword is not None:
            argument = keyword.value
        value = evaluator.value(argument, scope) if argument is not None else UNKNOWN
        return PromptValue(value, node) if isinstance(value, TemplateValue) else UNKNOWN
    if name == "Tool":
        params = types.arguments[0] if types is not None and types.arguments else None
        return ToolValue(node, evaluator.keywords(node, scope)[0], params)
    if name in params_types.LIBRARY:
        return _instance(evaluator, node, scope, params_types.LIBRARY[name])
    if name in ("from_file", "verbatim") and len(node.args) == 1:
        return _text(evaluator, node, scope, name)
    if name in forms.NAMES:
        return form_value(evaluator, node, scope, name)
    return UNKNOWN


def _text(evaluator: Evaluator, node: Call, scope: Scope, name: str) -> Text:
    """Return the text that `from_file` or `verbatim` makes; its code where it isn't known."""
    value = evaluator.value(node.args[0], scope)
    text = value.mapped if isinstance(value, Text) else None
    if text is not None and name == "from_file":
        read = evaluator.modules.file_text(text.text, node.file)
        text = None if isinstance(read, PathError) else read
    elif text is not None and "$" in text.text:
        doubled = text.text.replace("$", "$$")
        runs = (run._replace(length=len(doubled), dynamic=text.dynamic) for run in text.whole())
        text = source_map.MappedText(doubled, tuple(runs))
    if text is None or not evaluator.affords(text_cost(text)):
        text = source_map.code(node.anchor, node.start, node.end)
    return Text(text)


def _instance(evaluator: Evaluator, node: Call, scope: Scope, info: Dataclass) -> InstanceValue:
    arguments, opaque = evaluator.keywords(node, scope)
    fields = [field for field in info.fields if field.init]
    for field, expression in zip(fields, node.args, strict=False):
        if isinstance(expression, Starred):
            opaque = True
            break
        arguments.setdefault(field.id, evaluator.argument(expression, scope))
    for name, argument in arguments.items():
        if shows_name(evaluator, argument.node, scope):
            arguments[name] = replace(argument, value=UNKNOWN)
    return InstanceValue(info, node, arguments, opaque)


def with_replaced_fields(evaluator: Evaluator, node: Call, scope: Scope) -> Value:
    """Return the instance that `dataclasses.replace(instance, …)` makes."""
    before = evaluator.value(node.args[0], scope) if len(node.args) == 1 else UNKNOWN
    if not isinstance(before, InstanceValue):
        return UNKNOWN
    arguments, opaque = evaluator.keywords(node, scope)
    return InstanceValue(
        before.dataclass, node, {**before.arguments, **arguments}, before.opaque or opaque
    )


# Classes of sections


@record(eq=False)
class Lineage:
    """The library class that a class descends from, and the way there.

    Attributes:
        root: The library class; empty if there is none.
        types: Its type arguments.
        classes: The workspace's classes on the way, most derived first.
        custom: One of them overrides what is rendered.
    """

    root: str
    types: Specialised | None
    classes: tuple[ClassValue, ...]
    custom: bool


def lineage_of(evaluator: Evaluator, value: Value) -> Lineage:
    """Return the lineage of a class."""
    origin, _ = _unfolded(value)
    if isinstance(origin, ClassValue):
        anchor = origin.definition.anchor
        return evaluator.memo.within(anchor, lambda: _lineage_of(evaluator, value, 0))
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
        specialised = _specialised(definition, above.types, types)
        return Lineage(above.root, specialised, (origin, *above.classes), custom)
    return Lineage("", None, (), custom=False)


def _specialised(
    definition: ClassDefinition, above: Specialised | None, own: Specialised | None
) -> Specialised | None:
    """Return the type arguments in effect: `class Mine(Section[T])` takes those of its own use."""
    if above is None or own is None:
        return own if above is None else above
    open_places = [
        index
        for index, argument in enumerate(above.arguments)
        if (isinstance(argument, External) and argument.dotted == TYPE_VARIABLE)
        or (definition.generic and isinstance(argument, Unknown))
    ]
    if len(open_places) != len(own.arguments):
        return above
    arguments, nodes = list(above.arguments), list(above.nodes)
    for index, argument in zip(open_places, own.arguments, strict=True):
        arguments[index] = argument
    for index, node in zip(open_places, own.nodes, strict=False):
        nodes[index] = node
    return Specialised(own.origin, tuple(arguments), tuple(nodes))


def _decides(statement: Statement) -> bool:
    """Return True if a statement of a class body may change what its sections render."""
    if isinstance(statement, FunctionDefinition):
        return statement.name.id not in _PLAIN_METHODS
    return isinstance(statement, Assign) and any(
        isinstance(target, Name) and target.id in _DERIVED for target in statement.targets
    )


def _section(evaluator: Evaluator, node: Call, scope: Scope, lineage: Lineage) -> Value:
    arguments, opaque = evaluator.keywords(node, scope)
    opaque = opaque or bool(node.args)
    for value in lineage.classes:
        init = _method(value.definition, "__init__")
        if init is None:
            continue
        arguments, opaque = _super_arguments(evaluator, node, scope, (value, init), arguments)
        # Only the most derived __init__ is followed. Its super().__init__ arguments are assumed to
        # reach the library unchanged, as they do in the usual keyword-only chains.
        break
    kind = "custom" if lineage.custom else SECTION_KINDS[lineage.root]
    arguments = {**default_texts(kind, node), **arguments}
    arguments, cost = _section_within_budget(evaluator, kind, arguments)
    types = lineage.types
    params: Value = types.arguments[0] if types is not None and types.arguments else UNKNOWN
    params_node = types.nodes[0] if types is not None and types.nodes else None
    params_type = params_types.params_of(evaluator, params)
    item, item_node = params_types.item_of(evaluator, lineage.root, types)
    specialised: bool | None = types is not None
    if types is None and lineage.classes:
        specialised = None  # A subclass may specialise in a way that isn't visible here.
    return SectionValue(
        node=node,
        kind=kind,
        class_name=class_name(node.func),
        class_node=node.func,
        specialised=specialised,
        params=params_type,
        params_node=params_node,
        arguments=arguments,
        opaque=opaque,
        scope=scope,
        decides=any(_method(ancestor.definition, "is_enabled") for ancestor in lineage.classes),
        cost=cost,
        item=item,
        item_node=item_node,
        holds_items=params_types.holds_items(evaluator, params_type, item, arguments),
    )


def clone(evaluator: Evaluator, section: SectionValue, node: Call, scope: Scope) -> SectionValue:
    """Return the section that `section.clone(…)` makes; runtime objects change nothing of it."""
    if not node.keywords:
        return section
    arguments, opaque = evaluator.keywords(node, scope)
    opaque = opaque or bool(node.args)
    # Subclasses in the workspace may have more.
    names = CLASSES.get(section.kind, EachSection).constructor_arguments
    changes = {name: argument for name, argument in arguments.items() if name in names}
    if not (changes or opaque):
        return section
    merged, cost = _section_within_budget(evaluator, section.kind, {**section.arguments, **changes})
    return replace(
        section,
        arguments=merged,
        opaque=section.opaque or opaque,
        cost=cost,
        holds_items=params_types.holds_items(evaluator, section.params, section.item, merged),
    )


def _section_within_budget(
    evaluator: Evaluator, kind: str, arguments: dict[str, Argument]
) -> tuple[dict[str, Argument], int]:
    own = SECTION + text_cost(
        *(
            argument.value.mapped
            for name in ("key", "title", "template", "summary")
            if (argument := arguments.get(name)) is not None and isinstance(argument.value, Text)
        )
    )
    below = "sections" if kind == "chapter" else "children"
    arguments, cost = _within_budget(evaluator, arguments, own, below)
    return arguments, own + cost


def _within_budget(
    evaluator: Evaluator, arguments: dict[str, Argument], own: int, *names: str
) -> tuple[dict[str, Argument], int]:
    """Return the arguments and the cost of the sections in them; unknown sections over budget.

    One section can be shown in many places: a few lines, each holding the section above it twice,
    describe millions.
    """
    rows = (arguments[name].value for name in names if name in arguments)
    cost = sum(
        item.value.cost
        for row in rows
        if isinstance(row, Items)
        for item in row.items
        if isinstance(item.value, SectionValue)
    )
    if evaluator.affords(own + cost):
        return arguments, cost
    unknown = {name: replace(arguments[name], value=UNKNOWN) for name in names if name in arguments}
    return {**arguments, **unknown}, 0


def class_name(func: Expression) -> str:
    """Return the name of the class that code calls, without its module and type arguments."""
    return func.source.partition("[")[0].rpartition(".")[2].strip()


def _method(definition: ClassDefinition, name: str) -> FunctionDefinition | None:
    for statement in definition.body:
        if isinstance(statement, FunctionDefinition) and statement.name.id == name:
            return statement
    return None


def _super_arguments(
    evaluator: Evaluator,
    node: Call,
    scope: Scope,
    owner: tuple[ClassValue, FunctionDefinition],
    passed: dict[str, Argument],
) -> tuple[dict[str, Argument], bool]:
    """Return what a subclass's `__init__` passes to `super().__init__`, and True if more may be.

    Source in::

        class Rule(MarkdownSection):
            def __init__(self, name, **rest):
                super().__init__(key=name, title="Rule", **rest)

        Rule(name="a", summary="b")

    Arguments out: `key="a"`, `title="Rule"`, `summary="b"`. An argument that is handed on keeps the
    expression of the call, so that diagnostics and fixes point there. `node` is the call of the
    subclass, in its `scope`, with the keyword arguments `passed`.
    """
    subclass, init = owner
    super_call = next(_super_calls(init.body), None)
    if super_call is None:
        return passed, True
    body = evaluator.body(subclass.definition, subclass.scope)
    inner = evaluator.function_scope(init, body, evaluator.arguments(init, node, scope, skip=1))
    names = {parameter.name.id for parameter in init.parameters if not parameter.kind}
    rest = {parameter.name.id for parameter in init.parameters if parameter.kind == "**"}
    handed_on: dict[str, Argument] = {}
    opaque = bool(super_call.args)
    for keyword in super_call.keywords:
        source = keyword.value.id if isinstance(keyword.value, Name) else ""
        if keyword.name is not None:
            argument = evaluator.argument(keyword.value, inner, keyword.name)
            handed_on[keyword.name.id] = (
                passed[source] if source in names & passed.keys() else argument
            )
        elif source in rest:
            handed_on |= {name: value for name, value in passed.items() if name not in names}
            opaque = opaque or any(other.name is None for other in node.keywords)
        else:
            opaque = True
    return handed_on, opaque


def _super_calls(body: Sequence[Statement]) -> Iterator[Call]:
    for statement in body:
        if isinstance(statement, Compound):
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
    """Return the section that a subclass's `__init__` makes from unknown arguments."""
    lineage = lineage_of(evaluator, value)
    init = _method(value.definition, "__init__")
    if lineage.root not in SECTION_KINDS or init is None:
        return None
    call = next(_super_calls(init.body), None)
    if call is None:
        return None
    inner = evaluator.any_call(init, evaluator.body(value.definition, value.scope))
    made = _section(evaluator, call, inner, replace(lineage, classes=()))
    if not isinstance(made, SectionValue):
        return None
    return replace(made, opaque=True, specialised=None, class_name=value.definition.name.id)


_TASK = TaskSection[Task]()
_EXAMPLES = ExamplesSection[None, str, str](items=())
_LIST = {"separator": SEPARATOR, "empty": ENGLISH.no_items, "more": ENGLISH.more_items}
_TEXTS = {
    "task": {"key": _TASK.key, "title": _TASK.title, "template": _TASK.template},
    "each": _LIST,
    "examples": {
        "key": _EXAMPLES.key,
        "title": _EXAMPLES.title,
        "template": _EXAMPLES.template,
        **_LIST,
    },
}


def default_texts(kind: str, node: Call) -> dict[str, Argument]:
    """Return the texts that a section of this kind has by default."""
    texts = _TEXTS.get(kind, {})
    return {name: Argument(node.func, Text(_mapped(text))) for name, text in texts.items()}


def sentence(name: str) -> MappedText:
    """Return the text around a list's items where the section's argument is None."""
    return _mapped(_LIST[name])


@lru_cache
def _mapped(text: str) -> MappedText:
    """Return the library's own text, which has no location in the workspace."""
    return MappedText(text, (Run(0, len(text), Anchor("", 0, text), 0, len(text)),))
