"""A rendered prompt for people: its sections as a tree, with their costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.agent.terminal import Line
    from foldline.ide.render.render import Block, Render, Tokens
    from foldline.ide.token_counter import TokenCounter

FOLDED, SHOWN, OFF = "▸", "▾", "·"


def tree_lines(render: Render, counter: TokenCounter) -> Iterator[Line]:
    """Yield the prompt's name, its sections and its totals; `render` has its costs."""
    descriptor = render.descriptor
    name = f"{descriptor.ns}/{descriptor.key}" if descriptor else render.name
    yield [(visible(name), "bold")]
    for block in render.blocks:
        yield section_line(block, counter)
    budget = f", budget {render.token_budget:,}" if render.token_budget else ""
    yield [(totals(render.tokens, counter) + budget, "bold")]
    if len(render.parameter_sets) > 1:
        others = ", ".join(one.name for one in render.parameter_sets)
        yield [(f"values  {render.parameter_set or 'none'}, of {others}", "dim")]
    for chapter in render.chapters:
        state = "open" if chapter.open else "may open" if chapter.may_open else "closed"
        yield [(visible(f"chapter  {chapter.key}: {state}"), "dim")]
    if render.cache:
        yield [(visible(f"cache  {render.cache['sentence']}"), "dim")]
    if any(block.is_summarized for block in render.blocks):
        yield [("(--open KEY opens a section; --text prints the text; --tui opens it here)", "dim")]
    else:
        yield [("(--text prints the text; --tui opens it here)", "dim")]


def section_line(block: Block, counter: TokenCounter) -> Line:
    """Return the line of one section: its tokens, number, title and key."""
    indent = "  " * (len(block.path) - 1)
    number = f"{block.number}. " if block.number else ""
    title = visible(f"{number}{block.title}")
    if not block.enabled:
        return [(f"{'off':>9}  {indent}{OFF} {title}  {visible(block.key)}", "dim")]
    if block.error is not None:
        message = visible(block.error.message.splitlines()[0])
        return [(f"{'failed':>9}  {indent}! {title}", "red"), (f"  {message}", "")]
    mark, style = (FOLDED, "") if block.is_summarized else (SHOWN, "bold")
    return [
        (f"{counter.format(block.own_tokens):>9}  ", "cyan"),
        (f"{indent}{mark} ", "dim"),
        (title, style),
        (f"  {visible(block.key)}", "dim"),
        (gain_text(block, counter), "yellow"),
    ]


def gain_text(block: Block, counter: TokenCounter) -> str:
    """Return what opening a summarized section adds; empty for others."""
    tokens = block.tokens
    if tokens is None or tokens.if_opened is None or not block.is_summarized:
        return ""
    return f"  {counter.format_change(tokens.if_opened - tokens.subtree)} if opened"


def totals(tokens: Tokens | None, counter: TokenCounter) -> str:
    """Return the tokens of a whole prompt: text, tools and the output's schema apart."""
    if tokens is None:
        return ""
    parts = [f"{counter.format(tokens.text)} of text"]
    parts += [f"{counter.format(tokens.tools)} of tools"] if tokens.tools else []
    parts += [f"{counter.format(tokens.output)} of the output's schema"] if tokens.output else []
    return f"{counter.format(tokens.total):>9}  tokens: {', '.join(parts)}"
