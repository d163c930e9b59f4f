"""A preview's state as texts in styles, one function for each thing that is shown.

Everything of a prompt passes `plain`: its text can't control the terminal.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rich.text import Text

from foldline.agent.preview_lines import section_line
from foldline.backends.formatting.visible import for_terminal, visible
from foldline.ide import cost_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from foldline.backends.formatting.parts import Line
    from foldline.ide.previews.state import PreviewState, Step
    from foldline.ide.render.render import Block, Chapter, ParameterField, Parameters
    from foldline.ide.token_counter import TokenCounter

METER_WIDTH = 20
# The tree has this much room for a title beside its costs.
_LONGEST_TITLE = 32
_ORIGINS = {
    "bound": "bound in the code",
    "default": "default",
    "generated": "made up",
    "given": "typed here",
}
_OFTEN = {
    "constant": "Never changes",
    "stable": "Changes with a deployment",
    "per session": "Changes with each session",
    "per request": "Changes with each request",
}
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
    mark, title, more, *_ = rest
    # The tree has its own marks for what is unfolded.
    text = Text.assemble((mark[0].lstrip(), mark[1])) if block.is_summarized else Text()
    if block.error is not None:
        return text.append(*title).append("  ").append(*cost).append(*more)
    name = Text(*title)
    name.truncate(_LONGEST_TITLE, overflow="ellipsis")
    text.append_text(name).append("  ").append(*cost)
    if block.if_opened is not None:
        text.append(f"  {cost_texts.change(block.if_opened.total)} if opened", "yellow")
    elif block.tokens is not None and block.tokens.subtree != block.own_tokens:
        text.append(f"  {block.tokens.subtree:,} in all", "yellow")
    return text.append("  opened", "green") if opened else text


def status(state: PreviewState) -> Text:
    """Return the prompt, its values and its cost in a line, and below it what needs attention."""
    name = f"{state.descriptor.ns}/{state.descriptor.key}" if state.descriptor else state.name or ""
    text = Text.assemble((visible(name), "bold"))
    if state.parameter_sets:
        text.append(f" · {visible(state.parameter_set or 'no set')}")
    text.append(" · ").append_text(_meter(state))
    if state.generated:
        text.append(f"\nMade up: {visible(', '.join(state.generated))}", "yellow")
    if state.stale is not None:
        place = f"Line {state.stale.line}: " if state.stale.line else ""
        why = visible(state.stale.message)
        shown = "last version that rendered" if state.fidelity == "executed" else "source only"
        text.append(f"\nShowing the {shown}. {place}{why}", "red")
    return text


def _meter(state: PreviewState) -> Text:
    """Return the tokens, and how much of the budget they are."""
    whole = state.tokens.words[0] if state.tokens else ""
    budget = state.budget
    if budget is None:
        return Text(whole, "bold")
    costs = Text(budget.words, "bold")
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
    text = Text("\n".join(state.tokens.words) if state.tokens else "", "bold")
    text.append(f"\n\n{plain(str(plan['sentence']))}\n")
    if state.kept is not None:
        text.append(f"After the last change: {state.kept.words}\n")
    text.append("\n")
    names = {block.key: f"{block.number} {block.title}".strip() for block in state.blocks}
    for stage in plan["stages"]:
        span = [names.get(key, key.capitalize()) for key in (stage["first"], stage["last"])]
        text.append(visible(" to ".join(dict.fromkeys(span))), "bold")
        text.append(f"  {stage['tokens']:,} tokens\n", "cyan")
        often, *causes = stage["why"].split(": ", 1)
        said = visible(", by ".join([_OFTEN.get(often, often), *causes]))
        text.append(f"  {said}. Re-read if changed: {stage['change']:,} tokens\n", "dim")
        if plan["cached"] and stage["breakpoint"]:
            text.append(f"  {stage['breakpoint']}\n", "yellow")
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
    """Return where a value comes from: `preview_angry(), line 12 of triage.py`."""
    source, name = origin["source"], origin.get("name", "")
    said = _ORIGINS.get(source) or (f"{name}()" if source == "fixture" else name or source)
    file, line = PurePath(origin.get("file") or "").name, origin.get("line")
    return f"{said}, line {line} of {file}" if file and line else file or said


def _json(value: object) -> str:
    return plain(json.dumps(value, indent=2, ensure_ascii=False))
