"""Copies of sections that share nothing mutable with the original."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.prompts.section import Section

__all__ = ["clone_section"]

SectionT = TypeVar("SectionT", bound="Section[object]")


def clone_section(section: SectionT, bindings: Mapping[str, object]) -> SectionT:
    """A copy of `section` whose children and tools are clones bound to `bindings`."""
    twin = copy.copy(section)
    twin.children = tuple(child.clone(**bindings) for child in section.children)
    twin.tools = tuple(tool.clone(**bindings) for tool in section.tools)
    twin.default_params = copy.deepcopy(section.default_params)
    return twin
