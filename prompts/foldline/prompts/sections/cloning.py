"""Copies of sections and tools that share no mutable state with the original."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from foldline.prompts.errors import PromptValidationError, did_you_mean, near_names
from foldline.prompts.sections.section import Section, checked_sections, checked_tools
from foldline.prompts.tool import Tool

if TYPE_CHECKING:
    Node: TypeAlias = Section[object] | Tool[object, object]

SectionT = TypeVar("SectionT", bound="Section[object]")
ToolT = TypeVar("ToolT", bound="Tool[object, object]")

RUNTIME = ("session", "bus")
"""Runtime objects that every section and tool accepts, if it has a use for them or not."""


def clone_section(section: SectionT, keywords: Mapping[str, object]) -> SectionT:
    """Return a copy of `section` whose children and tools are clones.

    Constructor arguments among the keywords replace those of the section; the others are runtime
    objects for it and everything in it. An attribute with the name of a runtime object, such as
    `session`, gets its value, also one that only the class has. Handlers and selectors that are
    methods of the section, of itself or of what it contains, become methods of the copy. Finally,
    the copy's `bind_runtime` is called with the runtime objects.

    Raises:
        PromptValidationError: A value can never work, nothing has a use for a keyword, or an
            attribute can't be copied.
    """
    changes, runtime = _split(section, keywords)
    twin = copy.copy(section)
    _copy_attributes(section, twin, runtime)
    children = checked_sections(
        changes.pop("children", changes.pop("sections", section.children)), section.key
    )
    tools = checked_tools(changes.pop("tools", section.tools), section.key)
    twin.set_arguments(
        {
            "children": tuple(child.clone(**_used(child, runtime)) for child in children),
            "tools": tuple(tool.clone(**_used(tool, runtime)) for tool in tools),
            "default_params": copy.deepcopy(changes.pop("default_params", section.default_params)),
            **changes,
        }
    )
    _relink((twin,), section, twin)
    twin.bind_runtime(**runtime)
    return twin


def clone_tool(tool: ToolT, keywords: Mapping[str, object]) -> ToolT:
    """Return a copy of `tool` with other constructor arguments and runtime objects.

    Raises:
        PromptValidationError: A value can never work, the tool has no use for a keyword, or an
            attribute can't be copied.
    """
    changes, runtime = _split(tool, keywords)
    twin = copy.copy(tool)
    _copy_attributes(tool, twin, runtime)
    _relink((twin,), tool, twin)
    twin.set_arguments(changes)
    return twin


def _copy_attributes(node: Node, twin: Node, runtime: Mapping[str, object]) -> None:
    """Give a copy its own attributes: runtime objects as given, and copies of the author's others.

    Raises:
        PromptValidationError: One can't be copied.
    """
    attributes = vars(twin)
    base = Section if isinstance(node, Section) else Tool
    arguments = {*base.constructor_arguments, *node.constructor_arguments}
    attributes.update({name: value for name, value in runtime.items() if _has(node, name)})
    memo: dict[int, object] = {id(node): twin}
    for name, value in vars(node).items():
        if name in RUNTIME or name in runtime or name.removeprefix("_") in arguments:
            continue
        try:
            attributes[name] = copy.deepcopy(value, memo)
        except Exception as error:
            raise PromptValidationError(
                f"{_named(node)}: `clone` shares nothing, and `{name}` can't be copied: {error}. "
                f"Give the clone its own with `clone({name}=…)`.",
                section_path=(node.key,) if isinstance(node, Section) else (),
            ) from error


def _relink(nodes: tuple[Node, ...], old: Node, new: Node) -> None:
    """Make the methods of `old` that these clones, and all inside them, have methods of `new`."""
    for node in nodes:
        attributes = vars(node)
        for name, value in attributes.items():
            attributes[name] = _moved(value, old, new)
        if isinstance(node, Section):
            node.select()
            _relink((*node.children, *node.tools), old, new)


def _named(node: Node) -> str:
    return f"Section {node.key!r}" if isinstance(node, Section) else f"Tool {node.name!r}"


def _split(
    node: Node, keywords: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Return the constructor arguments, and the runtime objects."""
    names = node.constructor_arguments
    changes = {name: value for name, value in keywords.items() if name in names}
    runtime = {name: value for name, value in keywords.items() if name not in names}
    for name in runtime:
        if not _uses(node, name):
            near = near_names(name, (*names, *RUNTIME))
            instead = did_you_mean(near, f"; it takes {', '.join((*names, *RUNTIME))}.")
            raise PromptValidationError(
                f"{_named(node)}: `clone` has no use for {name!r}{instead}",
                section_path=(node.key,) if isinstance(node, Section) else (),
                near=near,
            )
    return changes, runtime


def _used(node: Node, runtime: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in runtime.items() if _uses(node, name)}


def _uses(node: Node, name: str) -> bool:
    """Return True if a clone of the section or tool, or of one inside it, uses the keyword."""
    inside: tuple[Node, ...] = (*node.children, *node.tools) if isinstance(node, Section) else ()
    return (
        name in RUNTIME
        or _has(node, name)
        or _declares(type(node), name)
        or any(_uses(inner, name) for inner in inside)
    )


def _has(node: Node, name: str) -> bool:
    """Return True if the author gave the section or tool, or its class, an attribute `name`."""
    base: type[Node] = Section if isinstance(node, Section) else Tool
    if hasattr(base, name) or name in (*base.constructor_arguments, *node.constructor_arguments):
        return False
    # Methods and properties aren't values that could be replaced.
    of_class = inspect.getattr_static(type(node), name, property)
    return name in vars(node) or not hasattr(of_class, "__get__")


def _declares(kind: type[Node], name: str) -> bool:
    """Return True if the author's own `clone` or `bind_runtime` accepts the keyword."""
    base: type = Section if issubclass(kind, Section) else Tool
    for method in ("clone", "bind_runtime"):
        function = getattr(kind, method, None)
        if function is None or function is getattr(base, method, None):
            continue
        parameters = inspect.signature(function).parameters.values()
        if any(one.name == name or one.kind is one.VAR_KEYWORD for one in parameters):
            return True
    return False


FunctionT = TypeVar("FunctionT")


def _moved(function: FunctionT, old: object, new: object) -> FunctionT:
    """Rebind a method of `old`, or a `partial` of one, to `new`; anything else stays the same."""
    if isinstance(function, partial):
        moved = partial(_moved(function.func, old, new), *function.args, **function.keywords)
        return cast("FunctionT", moved)
    if isinstance(function, MethodType) and function.__self__ is old:
        return MethodType(function.__func__, new)  # type: ignore[return-value]  # The same method.
    return function
