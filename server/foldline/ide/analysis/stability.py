"""The stability of a prompt's parts between requests, from its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.model import Visibility
from foldline.ide.analysis.section_tree import in_template
from foldline.ide.analysis.values import LIST_KINDS, Dataclass, Items, Text
from foldline.prompts import Stability
from foldline.prompts.cache.cache_plan import (
    BlockStability,
    CachePlan,
    CacheRules,
    planned,
    spans_of,
    stability_of_segments,
)

if TYPE_CHECKING:
    from foldline.ide.analysis.static_render import StaticBlock, StaticRender
    from foldline.ide.analysis.values import SectionValue, TemplateValue
    from foldline.ide.token_counter import TokenCounter


def static_plan(render: StaticRender, counter: TokenCounter) -> CachePlan:
    """Return the cache plan of a prompt's text, without its tools."""
    spans = [
        span
        for block in render.blocks
        for span in spans_of(
            block.role.value, block.path, block.span.start, block.segments, block_stability(block)
        )
    ]
    return planned(spans, rules=CacheRules(), count_tokens=counter.count, goes_on=False)


def declares_changes(template: TemplateValue) -> bool:
    """Return whether a section has parameters whose values are declared to change.

    It looks at types alone, because a plan renders the prompt and counts tokens: too slow for each
    keystroke.
    """
    params = {id(section.params): section.params for section in in_template(template)}
    fields = (
        known.stability_of(field.id)
        for known in params.values()
        if isinstance(known, Dataclass)
        for field in known.fields
    )
    return not {Stability.SESSION, Stability.REQUEST}.isdisjoint(fields)


def block_stability(block: StaticBlock) -> BlockStability:
    """Return how often a block changes."""
    section = block.section
    computed = _computed(section)
    segments = stability_of_segments(
        block.segments, lambda name: _of_field(section, name), _derived(section, computed)
    )
    varies = section.gated or section.visibility is Visibility.UNKNOWN
    presence = computed if varies else Stability.CONSTANT
    return BlockStability(Stability.UNKNOWN if section.opaque else presence, segments)


def _derived(section: SectionValue, computed: Stability) -> Stability:
    """Return the stability of what the section computes from a list: numbers and notes."""
    items = section.arguments.get("items")
    if section.kind not in LIST_KINDS or items is None or section.opaque:
        return computed
    if not isinstance(items.value, Text):
        return Stability.CONSTANT if isinstance(items.value, Items) else computed
    return _of_field(section, items.value.known or "")


def _of_field(section: SectionValue, name: str) -> Stability:
    params = section.params
    return params.stability_of(name) if isinstance(params, Dataclass) else Stability.UNKNOWN


def _computed(section: SectionValue) -> Stability:
    """Return the stability of values that are computed from the section's parameters."""
    params = section.params
    if not isinstance(params, Dataclass) or not params.complete:
        return Stability.UNKNOWN
    fields = (params.stability_of(field.id) for field in params.fields)
    return max(fields, default=Stability.UNKNOWN)
