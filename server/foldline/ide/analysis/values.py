"""Values of expressions, as far as prompts are concerned.

Values hold syntax nodes, not offsets, so they stay valid when other statements move.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

from foldline import prompts
from foldline.ide.analysis.model import Visibility
from foldline.ide.analysis.modules import LIBRARY
from foldline.prompts.cache.stability import Stability
from foldline.prompts.roles import SECTION_ROLES, Role
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.ide.analysis.scopes import ModuleScope, Scope
    from foldline.ide.analysis.source_map import MappedText
    from foldline.ide.analysis.syntax import (
        Call,
        ClassDefinition,
        Expression,
        FunctionDefinition,
        Lambda,
        Name,
        Node,
    )
    from foldline.prompts import Form
    from foldline.prompts.forms.composition import FieldForm, PlainRepr

T = TypeVar("T")
Keeps = TypeVar("Keeps", bound="SectionValue | TemplateValue | PromptValue")


LIBRARY_NAMES = frozenset(prompts.__all__)
"""The names that `from foldline.prompts import *` imports."""

ROOTS = ("system", "sections", "chapters")
"""The arguments of a template that have its root sections."""

TYPE_VARIABLE = "typing.TypeVar"
"""The `External` that stands for `TypeVar(…)`."""

LIST_KINDS = ("each", "examples")
"""The kinds of sections that show each item of a list."""

TEXT_KINDS = ("markdown", "task", *LIST_KINDS)
"""The kinds of sections that render template text."""


@record
class Unknown:
    """A value that only running the code would tell."""


UNKNOWN = Unknown()


@record
class Nothing:
    """None."""


@record
class Plain:
    """A number or a boolean."""

    value: bool | int | float


@record(eq=False)
class Text:
    """A string; parts of it may be dynamic."""

    mapped: MappedText

    @property
    def known(self) -> str | None:
        """The string if all of it is literal, else None."""
        return None if self.mapped.dynamic else self.mapped.text


@record(eq=False)
class Item:
    """A value in a sequence, and the expression that put it there."""

    node: Expression
    value: Value
    maybe: bool = False
    """True if the item may be absent."""


@record(eq=False)
class Record:
    """A dictionary with string keys, for `**` in a call."""

    arguments: Mapping[str, Argument]
    complete: bool = True


EMPTY_RECORD = Record({})


@record(eq=False)
class Items:
    """A list, tuple or set; unless `complete`, unknown items may be among these."""

    items: tuple[Item, ...]
    complete: bool = True
    is_set: bool = False
    """True for a set of which all items are known; as it has no order, it isn't `complete`."""


@record
class External:
    """A name from a module outside the workspace, such as `foldline.prompts.Section`."""

    dotted: str

    @property
    def library_name(self) -> str:
        """The name in the prompt library, from whichever module it was imported; else empty."""
        return self.dotted.rpartition(".")[2] if self.dotted.startswith(LIBRARY + ".") else ""


@record(eq=False)
class ModuleValue:
    scope: ModuleScope


@record(eq=False)
class ClassValue:
    definition: ClassDefinition
    scope: Scope


@record(eq=False)
class FunctionValue:
    definition: FunctionDefinition
    scope: Scope


@record(eq=False)
class LambdaValue:
    definition: Lambda
    scope: Scope


@record(eq=False)
class Specialised:
    """`origin[arguments]`."""

    origin: Value
    arguments: tuple[Value, ...]
    nodes: tuple[Expression, ...]


@record(eq=False)
class FormValue:
    """A form of a field, made by a call such as `joined(", ")`; `problem` says why it can't be."""

    form: Form | None
    """None if its arguments aren't known, or can't be."""
    problem: str = ""


@record(eq=False)
class FieldType:
    """The text form of a field's values, as far as the field's type tells it.

    Attributes:
        form: The form of the text; None if it is that of `str`.
        known: True if all forms are known, so that known values have known texts.
        shows: A part that certainly shows as its Python repr.
        problem: Why a section refuses to show the field; else empty.
        hint: The type as the library sees it at run time, as far as it is known.
    """

    form: FieldForm | None = None
    known: bool = True
    shows: PlainRepr | None = None
    problem: str = ""
    hint: object = str


STR = FieldType()


@record(eq=False)
class Field:
    """A field of a params dataclass; `name` is its declaration, None in the library."""

    id: str
    name: Name | None
    annotation: str
    default: str | None
    """Source of the default, if it can be shown."""
    has_default: bool
    description: str
    default_value: Value = UNKNOWN
    init: bool = True
    type: FieldType = STR
    hint: tuple[Expression, Scope] | None = None
    """The annotation, and the scope to evaluate it in."""
    stability: Stability | None = None
    """The stability that its type declares."""


@record(eq=False)
class Dataclass:
    """A params type; `complete` if `fields` are certainly all."""

    name: str
    definition: ClassDefinition | None
    fields: tuple[Field, ...]
    complete: bool
    is_dataclass: bool | None
    task: bool = False
    computed: bool = False
    """True if an instance may have other values than it was constructed with."""
    stability: Stability | None = None
    """The stability that the class declares for fields without their own."""
    model: bool = False
    """True for a Pydantic model."""

    def stability_of(self, name: str) -> Stability:
        """Return the stability of a field's value."""
        field = self.field(name)
        stability = self.stability if field is None or field.stability is None else field.stability
        return Stability.UNKNOWN if stability is None else stability

    @property
    def identity(self) -> object:
        """An object that identifies the type among those of the same name."""
        return self.definition if self.definition is not None else self.name

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.id == name), None)


@record
class Argument:
    """An argument: its expression, its value and its keyword."""

    node: Expression
    value: Value
    name: Name | None = None


@record(eq=False)
class SectionValue:
    """A section as constructed by one call."""

    node: Call
    kind: str
    """`markdown`, `task`, `each`, `examples`, `chapter`, or `custom` if a subclass overrides what
    is rendered."""
    class_name: str
    class_node: Expression
    specialised: bool | None
    params: Dataclass | Nothing | Unknown
    params_node: Expression | None
    arguments: Mapping[str, Argument]
    opaque: bool = False
    """True if there may be unknown arguments (`**options`)."""
    scope: Scope | None = None
    maybe: bool = False
    """True if another section may take its place."""
    decides: bool = False
    """True if its class overrides `is_enabled`."""
    cost: int = 0
    """Cost of showing it and all sections below it."""
    item: Dataclass | Nothing | Unknown | None = None
    """The dataclass of an item; None if the section shows no list."""
    item_node: Expression | None = None
    holds_items: bool = True
    """False if the field that `items` names certainly holds something else."""
    derived: dict[str, object] = field(default_factory=dict, init=False, repr=False)
    """The cache of `kept`."""

    @property
    def gated(self) -> bool:
        """True if a render may leave the section out."""
        unknown = self.opaque and "enabled" not in self.arguments
        return self.given("enabled") is not None or self.decides or unknown

    def given(self, name: str) -> Argument | None:
        """Return the argument of that name; None if it is left out, or None."""
        argument = self.arguments.get(name)
        return None if argument is None or isinstance(argument.value, Nothing) else argument

    def named_by(self, role: str) -> Dataclass | Nothing | Unknown:
        """Return the dataclass whose fields the placeholders of a text name."""
        return self.item if role == "template" and self.item is not None else self.params

    def text(self, name: str) -> MappedText | None:
        """Return the argument of that name if it is a string."""
        argument = self.arguments.get(name)
        return argument.value.mapped if argument and isinstance(argument.value, Text) else None

    def known(self, name: str) -> str | None:
        """Return the string argument of that name if all of it is known."""
        argument = self.arguments.get(name)
        return argument.value.known if argument and isinstance(argument.value, Text) else None

    @property
    def key(self) -> str:
        return self.known("key") or ""

    @property
    def title(self) -> str:
        text = self.text("title")
        return text.text if text is not None else ""

    @property
    def visibility(self) -> Visibility:
        argument = self.arguments.get("visibility")
        if argument is None:
            return Visibility.UNKNOWN if self.opaque else Visibility.FULL
        value = argument.value
        if isinstance(value, External):
            dotted = value.dotted.rpartition(".")
            if dotted[0].endswith("SectionVisibility") and dotted[2] in Visibility.__members__:
                return Visibility[dotted[2]]
        return Visibility.UNKNOWN

    @property
    def role(self) -> Role | None:
        """The declared role, the user's by default; None if only running the code would tell."""
        return self.declared_role if self.declares_role else Role.USER

    @property
    def declares_role(self) -> bool:
        """True if an argument gives the role, even if only running the code would tell which."""
        return self.given("role") is not None

    @property
    def declared_role(self) -> Role | None:
        """The role that an argument gives; None without one, or if only the code would tell."""
        argument = self.arguments.get("role")
        if argument is None:
            return None
        value = argument.value
        if isinstance(value, External):
            owner, _, name = value.dotted.rpartition(".")
            role = name.lower() if owner.endswith("Role") else ""
        else:
            role = (value.known or "") if isinstance(value, Text) else ""
        return Role(role) if role in SECTION_ROLES else None

    @property
    def children(self) -> Items:
        return self._items("sections" if self.kind == "chapter" else "children")

    @property
    def tools(self) -> Items:
        return self._items("tools")

    def _items(self, name: str) -> Items:
        argument = self.arguments.get(name)
        if argument is None:
            return Items((), complete=not self.opaque)
        if isinstance(argument.value, Nothing):
            return Items(())
        return argument.value if isinstance(argument.value, Items) else Items((), complete=False)


@record(eq=False)
class TemplateValue:
    """A `PromptTemplate` as constructed by one call."""

    node: Call
    arguments: Mapping[str, Argument]
    output: Value | None
    opaque: bool = False
    maybe: bool = False
    cost: int = 0
    """Cost of showing all of its sections."""
    open: frozenset[str] | None = None
    """The chapters to open; None for all, as `evaluate` opens them by default."""
    derived: dict[str, object] = field(default_factory=dict, init=False, repr=False)
    """The cache of `kept`."""
    # As a prompt has them: nothing is bound to a template.
    bound: ClassVar[tuple[Item, ...]] = ()
    section_params: ClassVar[Record] = EMPTY_RECORD

    @property
    def template(self) -> TemplateValue:
        return self

    def text(self, name: str) -> str:
        """Return the string argument of that name, with dynamic parts shown as code; else empty."""
        argument = self.arguments.get(name)
        return argument.value.mapped.text if argument and isinstance(argument.value, Text) else ""

    def items(self, name: str) -> Items:
        argument = self.arguments.get(name)
        if argument is None:
            return Items((), complete=not self.opaque)
        return argument.value if isinstance(argument.value, Items) else Items((), complete=False)

    @property
    def rows(self) -> Items:
        """Its root sections and chapters, in the order of their roles.

        They aren't `complete` if only running the code tells the role of one.
        """
        return kept(self, "rows", _rows)

    def opens(self, chapter: SectionValue) -> bool:
        """Return True for a chapter to open, as far as its `enabled` allows it."""
        inside = (item.value for item in chapter.children.items)
        nested = (one for one in inside if isinstance(one, SectionValue) and one.kind == "chapter")
        return self.open is None or chapter.key in self.open or any(map(self.opens, nested))

    def role_of(self, item: Item) -> Role | None:
        """Return the role of a root section; None if only running the code would tell."""
        if item in self.items("system").items:
            return Role.SYSTEM
        return item.value.role if isinstance(item.value, SectionValue) else Role.USER


@record(eq=False)
class PromptValue:
    """A `Prompt` and the arguments bound to it."""

    template: TemplateValue
    node: Node
    bound: tuple[Item, ...] = ()
    section_params: Record = EMPTY_RECORD
    """Parameters for single sections, by dotted key."""
    maybe: bool = False
    """True if it may be another, or if overrides may have replaced its texts."""
    derived: dict[str, object] = field(default_factory=dict, init=False, repr=False)
    """The cache of `kept`."""


@record(eq=False)
class ToolValue:
    node: Call
    arguments: Mapping[str, Argument]
    params: Value | None = None

    def known(self, name: str) -> str | None:
        """Return the string argument of that name if all of it is known."""
        argument = self.arguments.get(name)
        return argument.value.known if argument and isinstance(argument.value, Text) else None


@record(eq=False)
class InstanceValue:
    """An instance of a params dataclass."""

    dataclass: Dataclass
    node: Call
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    opaque: bool = False
    """True if there may be unknown arguments (`**options`)."""


@record(eq=False)
class MethodValue:
    """A bound method of a known value."""

    owner: Value
    name: str


Value: TypeAlias = (
    Unknown
    | Nothing
    | Plain
    | Text
    | Items
    | Record
    | External
    | ModuleValue
    | ClassValue
    | FunctionValue
    | LambdaValue
    | Specialised
    | SectionValue
    | TemplateValue
    | PromptValue
    | ToolValue
    | InstanceValue
    | FormValue
    | MethodValue
)


def kept(value: Keeps, name: str, derive: Callable[[Keeps], T]) -> T:
    """Return `derive(value)`, computed once in the lifetime of the value.

    The result must not refer to the value: only the garbage collector frees a cycle.
    """
    if name not in value.derived:
        value.derived[name] = derive(value)
    return value.derived[name]  # type: ignore[return-value]  # One name stands for one type.


def with_chapters(
    prompt: TemplateValue | PromptValue, chapters: frozenset[str] | None
) -> TemplateValue | PromptValue:
    """Return the prompt with these chapters to open; None for all."""
    if chapters is None:
        return prompt
    opened = replace(prompt.template, open=chapters)
    return replace(prompt, template=opened) if isinstance(prompt, PromptValue) else opened


def _rows(template: TemplateValue) -> Items:
    rows = [template.items(name) for name in ROOTS]
    roles = {item: template.role_of(item) for row in rows for item in row.items}
    is_certain = all(roles.values()) or len(roles) == 1
    return Items(
        tuple(sorted(roles, key=lambda item: SECTION_ROLES.index(roles[item] or Role.USER))),
        complete=all(row.complete for row in rows) and is_certain,
    )
