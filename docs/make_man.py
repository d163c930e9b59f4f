"""Writes the manual page `docs/man/foldline.1` from the parsers of the command line.

    uv run python docs/make_man.py

A test fails while the page is older than the parsers. The wheel installs it below `share/man`. The
site has the same as `docs/reference/shells/verbs.md`, made when it is built.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.agent.cli import EXAMPLES, Listing, add_verbs
from foldline.agent.exit_statuses import STATUSES
from foldline.agent.refusals import TRACEBACK

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parent / "man" / "foldline.1"
ENVIRONMENT = {
    "NO_COLOR": "Leaves bold and dim on terminals, and no colour.",
    "FORCE_COLOR, CLICOLOR_FORCE": "Colour also what goes into a pipe.",
    "FOLDLINE_CACHE_DIR": "The folder of indexes.",
    "FOLDLINE_HTTP_SECRET": "The secrets that replicas of `foldline mcp --http` share.",
    TRACEBACK: "Shows where foldline itself failed.",
}


def page() -> str:
    """The whole page, in roff."""
    lines = [
        ".\\\" Made by docs/make_man.py; don't edit it.",
        ".TH FOLDLINE 1",
        ".SH NAME",
        "foldline \\- shows prompts and code folded, and unfolds what is asked for",
        ".SH SYNOPSIS",
        ".B foldline",
        ".I COMMAND",
        "[\\fIoptions\\fR]",
        ".SH DESCRIPTION",
        "Commands on prompts show what a model would get, what it costs and what is wrong.",
        "Commands on code answer questions from outlines, symbols and references.",
        "Text is for people and models, \\fB\\-\\-json\\fR for programs:",
        "an error is then one object,",
        "{\\(dqerror\\(dq: {\\(dqkind\\(dq: \\(dq...\\(dq, \\(dqmessage\\(dq: \\(dq...\\(dq}}.",
    ]
    for heading, parsers in verbs().items():
        lines.append(f".SH {roff(heading).upper()}")
        for name, verb in parsers.items():
            # A list of choices is a word that no line can be filled with.
            lines += [f".SS {roff(name)}", ".ad l", f"\\fB{roff(usage(verb))}\\fR", ".ad b", ".PP"]
            lines.append(roff(description(verb)))
            for action, meaning in arguments(verb):
                lines += [".TP", _title(action), roff(meaning)]
    lines.append(".SH EXIT STATUS")
    for status, meaning in STATUSES.items():
        lines += [".TP", f"\\fB{status}\\fR", roff(meaning)]
    lines.append(".SH ENVIRONMENT")
    for names, meaning in ENVIRONMENT.items():
        lines += [".TP", f"\\fB{roff(names)}\\fR", roff(meaning)]
    lines += [".SH EXAMPLES", ".nf"]
    lines += [roff(line.strip()) for line in EXAMPLES.splitlines() if line.startswith("  ")]
    return "\n".join([*lines, ".fi", ""])


def site_page() -> str:
    """The verbs as a page of the site."""
    lines = ["# The command line", "", "`foldline help VERB` has the same in the terminal.", ""]
    for heading, parsers in verbs().items():
        lines += [f"## {heading}", ""]
        for name, verb in parsers.items():
            lines += [f"### foldline {name}", "", description(verb), ""]
            lines += ["```text", usage(verb), "```", "", "| argument | meaning |", "|---|---|"]
            for action, meaning in arguments(verb):
                lines.append(f"| `{_cell(_names(action))}` | {_cell(meaning)} |")
            lines.append("")
    return "\n".join(lines)


def verbs() -> dict[str, dict[str, argparse.ArgumentParser]]:
    """The parsers by heading and verb, in the order of the help."""
    parsers = argparse.ArgumentParser(prog="foldline").add_subparsers(prog="foldline")
    listing = Listing(parsers)
    add_verbs(listing)
    return {
        heading: {name: parsers.choices[name] for name, _ in rows}
        for heading, rows in listing.rows.items()
    }


def usage(verb: argparse.ArgumentParser) -> str:
    """How a verb is typed, in one line."""
    text = re.sub(r"\s+", " ", verb.format_usage()).removeprefix("usage: ").strip()
    return text.replace("[-h] ", "").removesuffix(" [-h]")


def description(verb: argparse.ArgumentParser) -> str:
    """What a verb does, in one line."""
    return " ".join((verb.description or "").split())


def arguments(verb: argparse.ArgumentParser) -> Iterator[tuple[argparse.Action, str]]:
    """The arguments of a verb, each with what it means and its choices."""
    # argparse has no public way to list them.
    for action in verb._actions:  # noqa: SLF001
        if action.dest == "help":
            continue
        meaning = (action.help or "") % {**vars(action), "prog": verb.prog}
        if action.choices:
            meaning = f"{meaning} ({', '.join(map(str, action.choices))})".strip()
        yield action, meaning


def _title(action: argparse.Action) -> str:
    value = action.metavar or action.dest.upper()
    takes = "" if action.nargs == 0 else f" \\fI{roff(str(value))}\\fR"
    if not action.option_strings:
        return f"\\fI{roff(str(action.metavar or action.dest))}\\fR"
    return ", ".join(f"\\fB{roff(option)}\\fR" for option in action.option_strings) + takes


def _names(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings) or str(action.metavar or action.dest)
    takes = bool(action.option_strings) and action.nargs != 0 and not action.choices
    return f"{names} {action.metavar or action.dest.upper()}" if takes else names


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def roff(text: str) -> str:
    """Text that roff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("…", "...").replace("≥", "\\(>=")
    return f"\\&{text}" if text.startswith(".") else text


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
