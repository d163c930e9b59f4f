"""Hovers, code lenses and inlay hints: fields, and what sections are and cost."""

from __future__ import annotations

from foldline.ide import cost_texts
from foldline.ide.analysis.model import SourceSpan, Span, Visibility
from foldline.ide.analysis.module_analysis import ModuleAnalysis, PromptFacts
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.static_render import StaticBlock, summarized_sections
from foldline.ide.analysis.values import Dataclass, Field, Nothing, SectionValue
from foldline.ide.features.completion import description_of
from foldline.ide.features.keys import PlaceholderAt, field_at, key_at, placeholder_at, sections_at
from foldline.ide.render.render import Block
from foldline.ide.render.static_request import StaticRequest, costed
from foldline.ide.token_counter import TokenCounter
from foldline.records import record

_LONGEST_SUMMARY = 600
_SHOWN = {
    Visibility.SUMMARY: cost_texts.SUMMARIZED,
    Visibility.FULL: "in full",
    Visibility.UNKNOWN: "decided by code",
}
_KINDS = {"task": "task "}


@record
class Hover:
    """Markdown about the source at `place`."""

    markdown: str
    place: Span | SourceSpan


def hover(analysis: ModuleAnalysis, offset: int, counter: TokenCounter) -> Hover | None:
    """Return the hover at an offset; None if nothing there concerns prompts."""
    placeholder = placeholder_at(analysis, offset)
    if placeholder is not None:
        span = placeholder.placeholder.source
        text = _placeholder(placeholder)
        return Hover(text, span) if span is not None and text else None
    key = key_at(analysis, offset)
    if key is not None and key[1]:
        span, (first, *_) = key
        return Hover(_section(analysis, first.section, counter), span)
    field = field_at(analysis, offset)
    if field is not None:
        return _field_hover(analysis, *field)
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
        and (own_field := text.owner.field(field.id)) is not None
        and own_field.name is field.name
        and any(placeholder.name == field.id for placeholder in text.placeholders)
    ]
    if not users:
        return None
    names = dict.fromkeys(f"`{text.section.key or text.section.title}`" for text in users)
    return Hover(f"{_field(kind, field)}\n\nUsed in {', '.join(names)}.", place)


def _section_hover(analysis: ModuleAnalysis, offset: int, counter: TokenCounter) -> Hover | None:
    for section in sections_at(analysis, offset):
        named = (section.arguments.get(name) for name in ("key", "title", "visibility"))
        for node in (section.class_node, *(one.node for one in named if one is not None)):
            span = span_of(node)
            if span.file == analysis.file and span.span.holds(offset):
                return Hover(_section(analysis, section, counter), span)
    return None


def _section(analysis: ModuleAnalysis, section: SectionValue, counter: TokenCounter) -> str:
    lines = [
        _in_prompt(prompt, block, counter)
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


def _in_prompt(prompt: PromptFacts, block: StaticBlock, counter: TokenCounter) -> str:
    key = ".".join(block.path)
    request = costed(prompt, counter)
    section = request.section(key)
    assert section is not None
    cost, about = _cost(request, *section, counter)
    opened_by = f" by `{block.opened_by}`" if " if opened" in cost else ""
    return (
        f"- `{prompt.name.id}` {block.number}. `{key}`: {_SHOWN[block.visibility]}, "
        f"{cost}{opened_by}{about and f'. {about}'}"
    )


def _cost(
    request: StaticRequest, block: Block, certain: bool, counter: TokenCounter
) -> tuple[str, str]:
    """Return a section's cost, and what `~` means in it."""
    cost = cost_texts.section_cost(block, counter, plan=request.render.cache, certain=certain)
    return cost, cost_texts.approximation(counter, certain=certain)


@record
class LensTitle:
    """The text of a lens; `tooltip` says what its `~` means, if it has one."""

    text: str
    tooltip: str = ""


@record
class Lens:
    """A line above a prompt or section; a click opens `section_key`, if set.

    Without a `title` that is known at once, `title()` finds it.
    """

    place: Span
    prompt: str
    section_key: str | None = None
    title: LensTitle | None = None


@record
class Inlay:
    """An inline hint: the number of a section and its token count."""

    offset: int
    label: str
    tooltip: str = ""


def lenses(analysis: ModuleAnalysis) -> tuple[Lens, ...]:
    """Return the places of the lenses: prompts and summarized sections. See `title`."""
    placed: list[Lens] = []
    opened: set[Span] = set()
    for prompt in sorted(analysis.prompts, key=lambda prompt: not prompt.bound):
        name = prompt.name.id
        placed.append(Lens(span_of(prompt.name).span, name))
        for path, section in summarized_sections(prompt.value):
            span = span_of(section.node)
            # A section shared by several prompts has one lens, that of the first bound prompt.
            if span.file == analysis.file and span.span not in opened:
                opened.add(span.span)
                placed.append(Lens(span.span, name, ".".join(path)))
    return tuple(sorted(placed, key=lambda lens: lens.place))


def title(
    analysis: ModuleAnalysis, counter: TokenCounter, name: str, section_key: str | None
) -> LensTitle:
    """Return the title of a lens: `Preview · 135 tokens · 1 summarized`, or that of a section.

    Without the counts, if the file doesn't have the prompt or the section any more.
    """
    prompt = analysis.prompt(name)
    request = None if prompt is None else costed(prompt, counter)
    if section_key is not None:
        section = None if request is None else request.section(section_key)
        if request is None or section is None or not section[0].is_summarized:
            return LensTitle("Open")
        cost, about = _cost(request, *section, counter)
        return LensTitle(f"Open · {cost}", about)
    if request is None or not request.render.blocks:
        return LensTitle("Preview")
    shown = cost_texts.preview(request.render, counter, certain=request.exact)
    unresolved = request.unresolved
    about = cost_texts.approximation(counter, certain=request.exact, unresolved=unresolved)
    return LensTitle(shown, about)


def inlays(analysis: ModuleAnalysis, counter: TokenCounter) -> tuple[Inlay, ...]:
    """Return the heading number and token count of each section, placed after its title."""
    by_offset: dict[int, Inlay] = {}
    for prompt in analysis.prompts:
        numbers = {section.path: section.number for section in prompt.described.walk()}
        request = costed(prompt, counter)
        for block, counted in zip(prompt.render.blocks, request.render.blocks, strict=True):
            section = block.section
            argument = section.arguments.get("title") or section.arguments.get("key")
            if argument is None or argument.name is None:
                continue
            span = span_of(argument.node)
            if span.file != analysis.file or span.end in by_offset:
                continue
            number = numbers.get(block.path, "")
            about = cost_texts.approximation(counter, certain=block.exact)
            by_offset[span.end] = Inlay(
                span.end,
                cost_texts.inlay(number, counted, counter, certain=block.exact),
                f"`{'.'.join(block.path)}` in `{prompt.name.id}`{about and f'. {about}'}",
            )
    return tuple(by_offset[offset] for offset in sorted(by_offset))
