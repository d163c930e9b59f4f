"""Prints the tour for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from foldline.agent.tour_steps import Step, Tour


def show(tour: Tour, console: Console | None = None) -> None:
    """Print `tour`, in colour if the terminal supports it."""
    console = console or Console(width=min(Console().width, 110))
    folded, opened, *code = tour.steps
    console.print(
        Panel(Group(_sections(tour), _cost(folded)), title=folded.title, title_align="left")
    )
    console.print(_panel(opened, _new_lines(folded.text, opened.text)))
    for step in code:
        console.print(_panel(step, _text(step)))
    console.print(_costs(tour))


def _sections(tour: Tour) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("section")
    table.add_column("bytes", justify="right")
    table.add_column("if opened", justify="right")
    for section in tour.sections:
        folded = section.if_opened is not None
        title = Text("  " * section.depth + ("▸ " if folded else "▾ "))
        title.append(f"{section.number}. {section.title}", style="" if folded else "bold")
        table.add_row(
            title, f"{section.bytes:,}", f"{section.if_opened:,}" if section.if_opened else ""
        )
    return table


def _panel(step: Step, body: RenderableType) -> Panel:
    arguments = ", ".join(f"{name}={value!r}" for name, value in step.arguments.items())
    command = Text(f"{step.command}({arguments})", style="cyan")
    return Panel(Group(command, Text(), body, _cost(step)), title=step.title, title_align="left")


def _text(step: Step) -> RenderableType:
    if step.command == "read_symbol":
        where, _, source = step.text.partition("\n")
        code = Syntax(
            source, "python", theme="ansi_dark", background_color="default", word_wrap=True
        )
        return Group(Text(where), code)
    return Text(step.text)


def _new_lines(before: str, after: str, most: int = 14) -> Text:
    """Return the first lines of `after` that aren't in `before`."""
    known = set(before.splitlines())
    lines = [line for line in after.splitlines() if line and line not in known]
    text = Text(no_wrap=True, overflow="ellipsis")
    for line in lines[:most]:
        text.append(f"+ {line}\n", style="green")
    if len(lines) > most:
        text.append(f"  … and {len(lines) - most} more lines", style="dim")
    return text


def _cost(step: Step) -> Text:
    whole, what = step.whole
    return Text(
        f"\n{step.bytes:,} bytes, {step.bytes / whole:.0%} of {what} ({whole:,})", style="dim"
    )


def _costs(tour: Tour) -> Table:
    table = Table(title="What each step cost", title_justify="left")
    table.add_column("step")
    table.add_column("bytes", justify="right")
    table.add_column("whole", justify="right")
    table.add_column("read", justify="right")
    table.add_column("instead of")
    for step in tour.steps:
        whole, what = step.whole
        share = f"{step.bytes / whole:.0%}"
        table.add_row(step.title, f"{step.bytes:,}", f"{whole:,}", share, what)
    code = tour.steps[2:]
    spent = sum(step.bytes for step in code)
    whole, what = code[0].whole
    table.add_section()
    table.add_row(
        "From tree to symbol",
        f"{spent:,}",
        f"{whole:,}",
        f"{spent / whole:.0%}",
        what,
        style="bold",
    )
    return table
