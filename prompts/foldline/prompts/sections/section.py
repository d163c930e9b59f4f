"""Abstract sections, the nodes of a prompt's tree."""

from __future__ import annotations

import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Generic, Literal, Self, TypeVar

from foldline.prompts import refusals
from foldline.prompts.errors import PromptRenderError, PromptValidationError, near_names
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.forms.untrusted import hides, hints_of, is_untrusted
from foldline.prompts.priority import Priority
from foldline.prompts.roles import SECTION_ROLES, Role
from foldline.prompts.specialise import (
    Argument,
    Specialised,
    argument,
    dataclass_of,
    field_names,
    type_name,
    with_constructor,
)
from foldline.prompts.tool import Tool
from foldline.prompts.visibility import SectionVisibility, Selector, VisibilitySelector
from foldline.prompts.wording import ENGLISH, Wording

__all__ = ["KEY_PATTERN", "ParamsT_co", "Section"]

KEY_CHARACTERS = "a-z0-9._-"
"""The characters of a section key, for a bracket expression of a pattern."""

KEY_LIMIT = 64
"""The longest section key, in characters."""

KEY_PATTERN = re.compile(rf"(?=[a-z0-9])[{KEY_CHARACTERS}]{{1,{KEY_LIMIT}}}")
"""Matches a whole section key."""

KEY_RULE = (
    f"1 to {KEY_LIMIT} characters of a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit"
)
"""`KEY_PATTERN` in words."""


def repaired_key(key: str) -> str:
    """Return the valid key nearest to a text; empty if there is none."""
    return re.sub(f"[^{KEY_CHARACTERS}]+", "-", key.lower()).strip("-._")[:KEY_LIMIT]


# Covariant, so that `Section[object]` is the type of all sections in a tree.
ParamsT_co = TypeVar("ParamsT_co", covariant=True)
SectionT = TypeVar("SectionT", bound="Section[object]")


@with_constructor
class Section(ABC, Specialised, Generic[ParamsT_co]):
    """A titled part of a prompt, with child sections and tools.

    Subclasses define the text in `render_body`; most prompts need only `MarkdownSection`.
    Specialise a section with the dataclass of its parameters, or with None if it has none:
    `MarkdownSection[Params](…)`, `MarkdownSection[None](…)`. Sections are immutable, so that
    templates and threads can share them.

    The arguments are those of `MarkdownSection` except its texts.

    Raises:
        PromptValidationError: An argument can never work.
    """

    derived_placeholders: ClassVar[tuple[str, ...]] = ()
    """Placeholders that the section computes; params fields can't have these names."""

    params_base: ClassVar[type | None] = None
    """The dataclass that the parameters must be or inherit from, if there is one."""

    has_wording: ClassVar[bool] = False
    """True if the section's text has sentences of its `wording`."""

    wording: ClassVar[Wording] = ENGLISH
    """The library's own sentences; a template gives its sections those of the prompt."""

    constructor_arguments: ClassVar[tuple[str, ...]]
    """Arguments that `clone` can replace, and that are attributes of that name."""

    title: str
    key: str
    children: Argument[Sequence[Section[object]], tuple[Section[object], ...]] = argument(
        default=()
    )
    tools: Argument[Sequence[Tool[object, object]], tuple[Tool[object, object], ...]] = argument(
        default=()
    )
    enabled: Callable[[ParamsT_co], bool] | None = None
    default_params: ParamsT_co | None = None
    accepts_overrides: bool = True
    visibility: VisibilitySelector[ParamsT_co] = SectionVisibility.FULL
    role: Argument[Role | str | None, Role | None] = argument(default=None)
    priority: Argument[Priority | str, Priority] = argument(default=Priority.MEDIUM)
    fit: Literal["keep", "fold", "drop"] = "fold"
    _params_type: ClassVar[type | None] = None

    def __post_init__(self) -> None:
        attributes = vars(self)
        attributes["key"] = _checked_key(self.key)
        for name, check in _CHECKS.items():
            attributes[name] = check(attributes[name], self.key)
        self.select()
        self._check_params()

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.constructor_arguments and "_enabled" in self.__dict__:
            raise AttributeError(f"Section {self.key!r} {refusals.immutable(name)}")
        super().__setattr__(name, value)

    @property
    def params_type(self) -> type | None:
        """The dataclass of the parameters; None for a section without parameters."""
        return self._params_type or self._find_params_type()

    @classmethod
    def _find_params_type(cls) -> type | None:
        if cls.type_arguments is not None:
            cls._params_type = dataclass_of(cls.type_arguments[0])
        return cls._params_type

    @property
    def is_specialised(self) -> bool:
        """True if the section has a parameter type, which templates require."""
        return self.type_arguments is not None

    @property
    def has_summary(self) -> bool:
        """True if the section can be summarized."""
        return False

    @property
    def source_text(self) -> str | None:
        """The template text that stored overrides can replace, or None."""
        return None

    @property
    def summary_text(self) -> str | None:
        """The summary's template text that stored overrides can replace, or None."""
        return None

    @property
    def computed_from(self) -> Sequence[str] | None:
        """The fields that computed texts depend on; None if they aren't known."""
        return None

    @property
    def other_text(self) -> str | None:
        """Other declarations of the text, for the `content_hash`; None if there are none."""
        return None

    def is_enabled(self, params: ParamsT_co, *, session: object | None = None) -> bool:  # type: ignore[misc]  # The renderer passes the section's own type only.
        """Return True if a render with these parameters includes the section.

        Raises:
            PromptRenderError: The author's callable raised.
        """
        if self._enabled is None:
            return True
        return bool(self._call_selector(self._enabled, "enabled", params, session))

    def visibility_for(
        self,
        params: ParamsT_co,  # type: ignore[misc]  # As above.
        *,
        session: object | None = None,
    ) -> SectionVisibility:
        """Return the declared visibility for these parameters.

        Raises:
            PromptRenderError: The author's callable raised or returned something else.
        """
        if self._visibility is None:
            return self.visibility  # type: ignore[return-value]  # Without a selector, it is the value.
        answer = self._call_selector(self._visibility, "visibility", params, session)
        if not isinstance(answer, SectionVisibility):
            raise PromptRenderError.of_section(
                self.key,
                f"`visibility` answered {answer!r}; return SectionVisibility.FULL or "
                "SectionVisibility.SUMMARY.",
            )
        return answer

    @abstractmethod
    def render_body(self, params: ParamsT_co) -> Sequence[Segment] | str:  # type: ignore[misc]  # As above.
        """Return the text below the heading for a section shown in full, without its children.

        Segments name the source of each piece; a plain string counts as computed.
        """

    def render_summary(self, params: ParamsT_co) -> Sequence[Segment] | str | None:  # type: ignore[misc]
        """Return the text below the heading for a summarized section; None without a summary."""
        return None

    def render(
        self,
        params: ParamsT_co | None = None,
        *,
        visibility: SectionVisibility = SectionVisibility.FULL,
    ) -> str:
        """Return the section's own text for these parameters, without heading, children and suffix.

        Raises:
            PromptRenderError: The parameters are missing or can't be turned into text.
        """
        instance: ParamsT_co = self.default_params if params is None else params  # type: ignore[assignment]  # Checked below.
        kind = self.params_type
        if kind is not None and not isinstance(instance, kind):
            raise PromptRenderError(
                f"Section {self.key!r} renders with an instance of {type_name(kind)}, "
                f"not {type_name(type(instance))}.",
                section_path=(self.key,),
                dataclass_type=kind,
            )
        body = (
            self.render_body(instance)
            if visibility is SectionVisibility.FULL
            else self.render_summary(instance)
        )
        return "".join(segment.text for segment in as_segments(body))

    def clone(self, **kwargs: object) -> Self:
        """Return a copy that shares no mutable state with this section; children are cloned, too.

        Arguments of the constructor, such as `title=`, replace those of this section alone, and
        are checked like them. Other keywords are runtime objects, such as `session=` and `bus=`,
        and reach every section and tool of the copy: an attribute of that name gets the value,
        handlers that are methods of the section become methods of the copy, and `bind_runtime` is
        called with these keywords.

        Raises:
            PromptValidationError: A value can never work, or no section or tool of the copy has
                any use for a keyword.
        """
        from foldline.prompts.sections.cloning import clone_section

        return clone_section(self, kwargs)

    def set_arguments(self, values: Mapping[str, object]) -> None:
        """Set constructor arguments of a section under construction.

        Raises:
            PromptValidationError: A value can never work.
        """
        vars(self).update(values)
        self.__post_init__()

    def bind_runtime(self, **kwargs: object) -> None:
        """Register with a session or bus; called on a new clone."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key!r}>"

    def select(self) -> None:
        """Inspect the signatures of the author's callables."""
        self._enabled = self._selector(self.enabled, "enabled")
        self._visibility = (
            None
            if isinstance(self.visibility, SectionVisibility)
            else self._selector(self.visibility, "visibility")
        )

    def _selector(self, call: object, what: str) -> Selector | None:
        if call is None and what != "visibility":
            return None
        if not callable(call):
            raise PromptValidationError.of_section(
                self.key, refusals.not_callable(what, repr(call))
            )
        return Selector(call, what=what, key=self.key)

    def _call_selector(
        self, selector: Selector, what: str, params: object, session: object | None
    ) -> object:
        try:
            return selector(params, session)
        except Exception as error:
            raise PromptRenderError.of_section(
                self.key,
                f"`{what}` raised {type(error).__name__}: {error}",
                dataclass_type=self.params_type,
            ) from error

    def _check_params(self) -> None:
        if self.type_arguments is None:
            return
        argument = self.type_arguments[0]
        about = kind = self.params_type
        base, default = self.params_base, self.default_params
        problem = ""
        if kind is None and argument is not None and argument is not type(None):
            problem = refusals.not_a_params_type(type_name(argument))
            about = argument if isinstance(argument, type) else None
        elif base is not None and (kind is None or not issubclass(kind, base)):
            name = type(self).__qualname__.partition("[")[0]
            problem = refusals.not_based_on(name, base.__name__, type_name(argument))
        elif default is not None and (kind is None or type(default) is not kind):
            problem = refusals.wrong_default(type_name(kind), type_name(type(default)))
        for shown in self.type_arguments:
            if dataclass_of(shown) is not None and hides(shown):
                problem = refusals.hidden_argument(type_name(dataclass_of(shown)))
        if problem:
            raise PromptValidationError.of_section(self.key, problem, dataclass_type=about)
        self._check_computed(kind, type_name(kind), self.derived_placeholders)
        if self._has_own("derive", "render_body", "render_summary"):
            self._check_sources(kind, self.computed_from)

    def _has_own(self, *methods: str) -> bool:
        """Return True if an author's class has one of these methods, and not the library's."""
        found = [getattr(type(self), name, None) for name in methods]
        return any(f and not f.__module__.startswith("foldline.prompts.") for f in found)

    def _check_sources(self, kind: type | None, fields: Sequence[str] | None) -> None:
        """Check that none of the fields that texts are computed from is untrusted."""
        for name, hint in hints_of(kind):
            if is_untrusted(hint) and (fields is None or name in fields):
                problem = refusals.untrusted_computed(name)
                raise PromptValidationError.of_section(
                    self.key, problem, placeholder=name, dataclass_type=kind
                )

    def _check_computed(self, kind: type | None, shown: str, names: Iterable[str]) -> None:
        """Check that no field has the name of a placeholder that the section computes."""
        for name in names:
            if name in field_names(kind):
                problem = refusals.computed_field(shown, name, type(self).__name__)
                raise PromptValidationError.of_section(
                    self.key, problem, placeholder=name, dataclass_type=kind
                )


def as_segments(body: Sequence[Segment] | str | None) -> Sequence[Segment]:
    """Return a section's body as segments; a plain string counts as computed text."""
    if isinstance(body, str):
        return (Segment(SegmentKind.DERIVED, body),) if body else ()
    return body or ()


def checked_sections(sections: object, key: str) -> tuple[Section[object], ...]:
    """Return the sections as a tuple.

    Raises:
        PromptValidationError: An item isn't a section.
    """
    checked = []
    for section in checked_items(sections, "sections", key):
        if section is None:
            raise PromptValidationError(
                f"{key!r}: {refusals.NONE_IN_SECTIONS}", section_path=(key,)
            )
        if not isinstance(section, Section):
            raise PromptValidationError(
                f"{key!r}: {refusals.not_a_section(repr(section))}", section_path=(key,)
            )
        checked.append(section)
    return tuple(checked)


def checked_items(items: object, what: str, key: str) -> Iterable[object]:
    """Return the items of a list or tuple.

    Raises:
        PromptValidationError: It is a single item, or not iterable.
    """
    if isinstance(items, (str, Section, Tool)) or not isinstance(items, Iterable):
        raise PromptValidationError(
            f"{key!r}: {refusals.not_a_list(what, repr(items))}", section_path=(key,)
        )
    return items


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or KEY_PATTERN.fullmatch(key) is None:
        repaired = repaired_key(str(key))
        near = f"; did you mean {repaired!r}?" if repaired else "."
        raise PromptValidationError(
            f"Section key {key!r} must be {KEY_RULE}{near}",
            section_path=(str(key),),
        )
    return key


def _checked_title(title: object, key: str) -> str:
    if not isinstance(title, str) or not is_title(title):
        raise PromptValidationError.of_section(
            key, f"`title` must be one line of text, not {title!r}."
        )
    return title.strip()


def _checked_role(role: object, key: str) -> Role | None:
    if role is None or role in SECTION_ROLES:
        return None if role is None else Role(str(role))
    near = near_names(str(role), SECTION_ROLES)
    raise PromptValidationError.of_section(key, refusals.wrong_role(repr(role)), near=near)


def _one_of(what: str, words: Sequence[str], value: object, key: str) -> object:
    if value not in words:
        problem = f"`{what}` is {' or '.join(map(repr, map(str, words)))}, not {value!r}."
        raise PromptValidationError.of_section(key, problem)
    return words[words.index(str(value))]


def with_role(section: SectionT, role: Role) -> SectionT:
    """Return a top-level section in messages of this role.

    Raises:
        PromptValidationError: It declares another role.
    """
    if section.role is role:
        return section
    if section.role is not None:
        raise PromptValidationError(
            refusals.role_among_others(repr(section.key), section.role, role),
            section_path=(section.key,),
        )
    twin = copy.copy(section)
    vars(twin)["role"] = role
    return twin


def is_title(title: str) -> bool:
    """Return True if a text can be a title: one line that isn't blank."""
    return bool(title.strip()) and len(title.splitlines()) == 1


def checked_tools(tools: object, key: str) -> tuple[Tool[object, object], ...]:
    checked = []
    for tool in checked_items(tools, "tools", key):
        if not isinstance(tool, Tool):
            raise PromptValidationError.of_section(key, refusals.not_a_tool(repr(tool)))
        checked.append(tool)
    return tuple(checked)


_CHECKS: Mapping[str, Callable[[object, str], object]] = {
    "title": _checked_title,
    "children": checked_sections,
    "tools": checked_tools,
    "role": _checked_role,
    "priority": partial(_one_of, "priority", tuple(Priority)),
    "fit": partial(_one_of, "fit", ("keep", "fold", "drop")),
}
