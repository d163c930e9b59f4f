"""Copies of sections that share no mutable state with the original."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from types import MethodType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from foldline.prompts.section import Section

__all__ = ["clone_section"]

SectionT = TypeVar("SectionT", bound="Section[object]")

_CONTAINERS = (list, dict, set, bytearray)


def clone_section(section: SectionT, bindings: Mapping[str, object]) -> SectionT:
    """Return a copy of `section` whose children and tools are clones, bound to `bindings`.

    An attribute with the name of a binding, such as `session`, gets its value. Handlers and
    selectors that are methods of the section become methods of the copy. Finally, the copy's
    `bind_runtime` is called with the bindings.
    """
    twin = copy.copy(section)
    for name, value in section.__dict__.items():
        if isinstance(value, _CONTAINERS):
            setattr(twin, name, copy.deepcopy(value))
        elif name in bindings:
            setattr(twin, name, bindings[name])
    twin.default_params = copy.deepcopy(section.default_params)
    twin.children = tuple(child.clone(**bindings) for child in section.children)
    twin.tools = tuple(tool.clone(**bindings) for tool in section.tools)
    for tool in twin.tools:
        tool.handler = _moved(tool.handler, section, twin)
    if callable(twin.enabled):
        twin.enabled = _moved(twin.enabled, section, twin)
    if callable(twin.visibility):
        twin.visibility = _moved(twin.visibility, section, twin)
    twin.select()
    twin.bind_runtime(**bindings)
    return twin


FunctionT = TypeVar("FunctionT", bound=Callable[..., object])


def _moved(function: FunctionT, old: object, new: object) -> FunctionT:
    """Rebind a method of `old` to `new`; other functions stay the same."""
    if isinstance(function, MethodType) and function.__self__ is old:
        return MethodType(function.__func__, new)  # type: ignore[return-value]  # The same method.
    return function
