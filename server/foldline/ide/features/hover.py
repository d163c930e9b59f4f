"""Hovers: a placeholder's field; a section's number, size, summary and cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide import cost_texts
from foldline.ide.analysis.model import Visibility
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.values import Dataclass, Nothing
from foldline.ide.features.forms import description_of
from foldline.ide.features.keys import key_at
from foldline.ide.features.locate import field_at, placeholder_at, sections_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.analysis.module_analysis import ModuleAnalysis, PromptFacts
    from foldline.ide.analysis.values import Field, SectionValue
    from foldline.ide.features.locate import PlaceholderAt
    from foldline.ide.token_counter import TokenCounter

_LONGEST_SUMMARY = 600
_SHOWN = {
    Visibility.SUMMARY: cost_texts.SUMMARIZED,
    Visibility.FULL: "in full",
    Visibility.UNKNOWN: "decided by code",
}
_KINDS = {"task": "task "}


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown about the source at `place`."""

    markdown: str
    place: SourceSpan


def hover(analysis: ModuleAnalysis, offset: int, counter: TokenCounter) -> Hover | None:
    """Return the hover at an offset; None if nothing there concerns prompts."""
    placeholder = placeholder_at(analysis, offset)
    if placeholder is not None:
        place = placeholder.placeholder.source
        text = _placeholder(placeholder)
        return Hover(text, place) if place is not None and text else None
    key = key_at(analysis, offset)
    if key is not None and key.sections:
        first = key.sections[0]
        return Hover(_section(analysis, first.section, counter), key.place)
    found = field_at(analysis, offset)
    if found is not None:
        return _field_hover(analysis, found.dataclass, found.field, span_of(found.name))
    return _section_hover(analysis, offset, counter)


def _placeholder(placeholder: PlaceholderAt) -> str:
    name = placeholder.placeholder.name
    parts = [_field(kind, field) for kind, field in placeholder.fields]
    if not parts:
        for text in placeholder.texts:
            owner = text.owner
            if name in text.computed:
                return f"`{name}`: computed by the {_KINDS.get(text.section.kind, '')}section"
            if isinstance(owner, Dataclass) and owner.complete:
                return f"`{name}` isn't a field of `{owner.name}`"
            if isinstance(owner, Nothing):
                return f"`{name}`: the section takes no parameters"
    return "\n\n---\n\n".join(dict.fromkeys(parts))


def _field(kind: Dataclass, field: Field) -> str:
    default = f" = {field.default}" if field.default is not None else ""
    lines = [f"```python\n{kind.name}.{field.id}: {field.annotation}{default}\n```"]
    if field.description:
        lines.append(field.description)
    shown = description_of(field)
    if shown:
        lines.append(shown)
    if not field.has_default:
        lines.append("*Required: it has no default.*")
    return "\n\n".join(lines)


def _field_hover(
    analysis: ModuleAnalysis, kind: Dataclass, field: Field, place: SourceSpan
) -> Hover | None:
    users = [
        text
        for text in analysis.texts
        if isinstance(text.owner, Dataclass)
        and (own := text.owner.field(field.id)) is not None
        and own.name is field.name
        and any(placeholder.name == field.id for placeholder in text.placeholders)
    ]
    if not users:
        return None
    names = dict.fromkeys(f"`{text.section.key or text.section.title}`" for text in users)
    return Hover(f"{_field(kind, field)}\n\nUsed in {', '.join(names)}.", place)


def _section_hover(analysis: ModuleAnalysis, offset: int, counter: TokenCounter) -> Hover | None:
    for section in sections_at(analysis, offset):
        nodes = [section.class_node]
        for name in ("key", "title", "visibility"):
            argument = section.arguments.get(name)
            if argument is not None:
                nodes.append(argument.node)
        for node in nodes:
            place = span_of(node)
            if place.file == analysis.file and place.span.holds(offset):
                return Hover(_section(analysis, section, counter), place)
    return None


def _section(analysis: ModuleAnalysis, section: SectionValue, counter: TokenCounter) -> str:
    lines = [
        _in_prompt(prompt, block.path, counter)
        for prompt in analysis.prompts
        for block in prompt.render.blocks
        if block.section.node is section.node
    ]
    title = section.title or section.key or section.class_name
    head = f"**{title}**" + (f" `{section.key}`" if section.key else "")
    params = section.params
    if isinstance(params, Dataclass):
        head += f" · parameters `{params.name}`"
    if isinstance(section.item, Dataclass):
        head += f" · items `{section.item.name}`"
    parts = [head, *lines]
    summary = section.text("summary")
    if summary is not None:
        shown = summary.dedent().text.strip()
        if len(shown) > _LONGEST_SUMMARY:
            shown = shown[:_LONGEST_SUMMARY] + "…"
        quoted = "\n".join(f"> {line}" for line in shown.split("\n"))
        parts.append(f"Summary:\n\n{quoted}")
    return "\n\n".join(parts)


def _in_prompt(prompt: PromptFacts, path: tuple[str, ...], counter: TokenCounter) -> str:
    block = prompt.render.block(path)
    assert block is not None
    certain, gain, opened_by = block.exact, None, ""
    if block.visibility is Visibility.SUMMARY:
        behind = prompt.summarized[path]
        certain, gain = certain and behind.exact, behind.gain(counter)
        opened_by = f" by `{block.opened_by}`" if gain is not None else ""
    cost = cost_texts.section_cost(
        counter.count(block.text),
        counter,
        below=prompt.render.tokens_below(path, counter),
        gain=gain,
        certain=certain,
    )
    about = cost_texts.approximation(counter, certain=certain)
    return (
        f"- `{prompt.name.id}` {block.number}. `{'.'.join(path)}`: {_SHOWN[block.visibility]}, "
        f"{cost}{opened_by}{about and f'. {about}'}"
    )


def opened_costs(
    prompt: PromptFacts, counter: TokenCounter
) -> Mapping[tuple[str, ...], int | None]:
    """Return the tokens that opening each summarized section adds, by path; None if unknown."""
    return {path: found.gain(counter) for path, found in prompt.summarized.items()}
