"""Writes the sections that several new prompts have once, for all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.ide.adopt.model import free_name
from foldline.ide.adopt.write import module_text, section_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.ide.adopt.plan import Plan
    from foldline.ide.adopt.sections import Section

SHORTEST = 40
"""The shortest text that is shared, in characters."""


def share(plans: Sequence[Plan], module: str) -> str:
    """Let prompts import the sections that several have; return the module with them, or nothing.

    Args:
        plans: The new prompts.
        module: The name by which they import it.
    """
    found: dict[tuple[str, str, str | None, str], list[tuple[Plan, Section]]] = {}
    for plan in plans:
        for section in plan.walk():
            has_more = section.fields or section.conditions or section.each or section.children
            if not has_more and len(section.text) >= SHORTEST:
                what = section.title, section.key, section.role, section.text
                found.setdefault(what, []).append((plan, section))
    parts = []
    names = {"HEADINGS"}
    for uses in found.values():
        if len(uses) > 1:
            key = uses[0][1].key.replace("-", "_").upper()
            name = free_name(key if key[0].isalpha() else f"SECTION_{key}", names, "_")
            names.add(name)
            parts.append(f"{name} = {section_text(*uses[0])}")
            for plan, section in uses:
                plan.shared, section.shared = module, name
    head = (
        '"""Sections that several prompts have."""\n\nfrom foldline.prompts import MarkdownSection'
    )
    return "\n\n".join([head, *parts]) + "\n" if parts else ""


def alone(plan: Plan, shared: str) -> str:
    """Return a new module with the sections that it imports in it."""
    lines = rf"^from {re.escape(plan.shared)} import .*$"
    text = module_text(plan)
    return re.sub(lines, lambda _: shared, text, flags=re.MULTILINE) if plan.shared else text
