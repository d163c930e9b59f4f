"""A preview's state as texts in styles, one function for each thing that is shown.

Everything of a prompt passes `plain`: its text can't control the terminal.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.text import Text

from foldline.agent.preview_lines import section_line
from foldline.backends.formatting.visible import for_terminal, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from foldline.backends.formatting.parts import Line
    from foldline.ide.previews.state import PreviewState, Step
    from foldline.ide.render.render import Block, Chapter, ParameterField, Parameters
    from foldline.ide.token_counter import TokenCounter

METER_WIDTH = 20
_SEGMENT_STYLES = {"heading": "bold", "param": "yellow", "default": "yellow", "summary": "italic"}


def plain(text: str) -> str:
    """Return text of a workspace without characters that control a terminal."""
    return for_terminal(text)


def of_lines(lines: Iterable[Line]) -> Text:
    """Return lines of the command line as one text."""
    texts = (Text.assemble(*((plain(part), style) for part, style in line)) for line in lines)
    return Text("\n").join(texts)


def label(block: Block, counter: TokenCounter, *, opened: bool) -> Text:
    """Return a section's row in the tree."""
    head, *rest = section_line(block, counter)
    cost = (head[0].strip(), head[1])
    if not block.enabled or block.error is not None:
        return Text.assemble(cost, *rest)
    mark, title, _key, gain = rest
    # The tree has its own marks for what is unfolded.
    text = Text.assemble((mark[0].lstrip(), mark[1])) if block.is_summarized else Text()
    text.append(*title).append("  ").append(*cost).append(*gain)
    return text.append("  opened", "green") if opened else text


def status(state: PreviewState, file: str) -> Text:
    """Return the first lines: the prompt, what its values are, and what it costs."""
    name = f"{state.descriptor.ns}/{state.descriptor.key}" if state.descriptor else state.name or ""
    text = Text.assemble((visible(name), "bold"), (f"  {visible(file)}", "dim"))
    text.append(f"  {state.fidelity}", "green" if state.fidelity == "executed" else "yellow")
    if state.parameter_sets:
        text.append(f"  values: {visible(state.parameter_set or 'none')}", "cyan")
    if state.generated:
        text.append(f"  made up: {visible(', '.join(state.generated))}", "yellow")
    text.append("\n")
    text.append_text(_meter(state))
    if state.stale is not None:
        place = f" (line {state.stale.line})" if state.stale.line else ""
        text.append(f"\nlast good text{place}: {visible(state.stale.message)}", "red")
    return text


def _meter(state: PreviewState) -> Text:
    """Return the tokens, and how much of the budget they are."""
    whole, *parts = state.tokens.words if state.tokens else ("",)
    budget = state.budget
    costs = Text(whole if budget is None else budget.words, "bold")
    for said in (*parts, state.kept.words if state.kept else ""):
        costs.append(f" · {said}" if said else "", "not bold")
    if budget is None:
        return costs.append("  no budget", "dim")
    share = budget.used / budget.limit
    filled = min(METER_WIDTH, round(METER_WIDTH * share))
    style = "red" if budget.over else "yellow" if share > 0.8 else "green"
    costs.append("  ")
    costs.append("█" * filled + "░" * (METER_WIDTH - filled), style)
    return costs.append(f" {share:.0%}", style)


def section_text(block: Block, query: str = "") -> Text:
    """Return a section's text, its headings bold and its values marked."""
    if block.error is not None:
        return Text(plain(f"{block.number} {block.title}: {block.error.message}"), "red")
    if not block.segments:
        text = Text(plain(block.text))
    else:
        parts = [(plain(one.text), _SEGMENT_STYLES.get(one.kind, "")) for one in block.segments]
        text = Text.assemble(*parts)
        if text.plain != plain(block.text):
            text = Text(plain(block.text))
    if query:
        text.highlight_words([query], "reverse", case_sensitive=False)
    return text


def tools(state: PreviewState) -> Text:
    """Return the tools with their descriptions, costs and schemas."""
    text = Text()
    for tool in state.tools:
        text.append(visible(tool.name), "bold")
        text.append(f"  {tool.tokens or 0:,} tokens\n", "cyan")
        text.append(f"{plain(tool.description)}\n")
        text.append(f"{_json(tool.schema)}\n\n", "dim")
    return text or Text("The prompt has no tools.", "dim")


def output(state: PreviewState) -> Text:
    """Return the schema of the structured output."""
    if state.output is None:
        return Text("The prompt asks for no structured output.", "dim")
    text = Text.assemble((visible(state.output.type), "bold"), f" ({state.output.container})\n")
    return text.append(_json(state.output.schema), "dim")


def messages(state: PreviewState) -> Text:
    """Return the messages as a provider gets them: neighbouring sections of a role are one."""
    text = Text()
    for role, blocks in groupby(state.blocks, key=lambda block: block.role):
        some = list(blocks)
        tokens = sum(block.own_tokens for block in some)
        text.append(role, "bold magenta")
        text.append(f"  {tokens:,} tokens\n", "cyan")
        for block in some:
            text.append_text(section_text(block))
        text.append("\n")
    return text


def cache(state: PreviewState) -> Text:
    """Return what a provider's cache can keep, and where its marks are."""
    plan = state.cache
    if not plan:
        return Text("Nothing is known of caches.", "dim")
    text = Text(f"{plain(str(plan['sentence']))}\n", "bold")
    if state.kept is not None:
        text.append(f"After the last change: {state.kept.words}\n")
    text.append("\n")
    for mark in plan.get("breakpoints", ()):
        text.append(f"  {mark.get('part')}: {mark.get('stability')}", "cyan")
        rest = {name: value for name, value in mark.items() if name not in ("part", "stability")}
        text.append(f"  {visible(json.dumps(rest))}\n", "dim")
    return text


def parameter_row(parameters: Parameters, field: ParameterField) -> Text:
    """Return a field with its type, value and origin."""
    owner = parameters.section or parameters.type
    text = Text.assemble((visible(f"{owner}.{field.name}"), "bold"), f": {visible(field.type)} = ")
    text.append(visible(field.shown or repr(field.value)), "yellow")
    if field.origin:
        text.append(f"  {visible(_origin(field.origin))}", "dim")
    if not field.editable:
        text.append("  (can't be typed)", "dim")
    return text.append(f"\n  {visible(field.doc)}", "dim") if field.doc else text


def chapter_row(chapter: Chapter) -> Text:
    """Return a chapter, whether it's open, and why it may or may not be."""
    mark, style = ("●", "green") if chapter.open else ("○", "" if chapter.may_open else "dim")
    text = Text.assemble((f"{mark} {visible(chapter.key)}", style), f"  {visible(chapter.title)}")
    return text.append(visible(f"\n    {'; '.join(chapter.reasons)}")[2:], "dim")


def version_row(number: int, step: Step | None) -> Text:
    """Return a version with the step that led there; a change of files is none."""
    text = Text(f"version {number}", "bold")
    if step is None:
        return text
    about = ", ".join(step.section_keys) or step.parameter_set or ""
    text.append(f"  {step.action} {visible(about)}", "not bold")
    return text.append(f"  {visible(step.reason)}", "dim not bold") if step.reason else text


def as_typed(value: object) -> str:
    """Return a value as a user types it: texts as they are, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def typed(field: ParameterField, text: str) -> object:
    """Return the value that was typed: a text for fields of texts, else JSON."""
    kinds = [kind.strip() for kind in field.type.split("|")]
    if "None" in kinds and text == "null":
        return None
    if "str" in kinds:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _origin(origin: Mapping[str, Any]) -> str:
    file, line = origin.get("file"), origin.get("line")
    place = f" {file}:{line}" if file and line else ""
    return f"{origin.get('kind', '')}{place}".strip()


def _json(value: object) -> str:
    return plain(json.dumps(value, indent=2, ensure_ascii=False))
