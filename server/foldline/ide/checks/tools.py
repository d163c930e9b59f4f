"""Checks of tools: their names and handlers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.ide.analysis.values import Text
from foldline.ide.checks.certain import certain, signature_of
from foldline.ide.checks.diagnostic import (
    Code,
    LazyDiagnostic,
    at_argument,
    at_node,
    at_text,
    replacement,
)
from foldline.prompts import refusals
from foldline.prompts.tool import NAME_PATTERN, handler_refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.values import Argument
    from foldline.ide.checks.diagnostic import Repair


def check_tool(arguments: Mapping[str, Argument], scope: Scope) -> Iterator[LazyDiagnostic]:
    """Check the arguments of a `Tool(…)`, or of a tool's `clone`."""
    name, handler = arguments.get("name"), arguments.get("handler")
    if name is not None:
        yield from _name(name, scope)
    signature = signature_of(handler.value) if handler is not None else None
    refused = handler_refused(signature) if signature is not None else ""
    if handler is not None and refused:
        yield LazyDiagnostic(Code.TOOL_HANDLER, refused, at_node(handler.node))


def _name(argument: Argument, scope: Scope) -> Iterator[LazyDiagnostic]:
    kind, value = certain(argument.node, argument.value, scope), argument.value
    known = value.known if isinstance(value, Text) else None
    if kind is None or (kind.type == "str" and known is None):
        return
    if known is not None and NAME_PATTERN.fullmatch(known):
        return
    repairs: tuple[Repair, ...] = ()
    if isinstance(value, Text) and known is not None:
        repaired = re.sub(r"[^a-z0-9_-]+", "_", known.lower()).strip("_-")[:64]
        if repaired:
            inside = at_text(value.mapped, 0, len(known))
            repairs = (replacement(f"Change the name to '{repaired}'", inside, repaired),)
    yield LazyDiagnostic(
        Code.TOOL_NAME,
        refusals.tool_name_rule(kind.shown),
        at_argument(argument),
        repairs,
        instead=at_node(argument.node),
    )
