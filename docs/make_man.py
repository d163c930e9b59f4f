"""Writes the manual page `docs/man/foldline.1` from the parsers of the command line.

    uv run python docs/make_man.py

A test fails while the page is older than the parsers. The wheel installs it below `share/man`.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.agent.cli import EXAMPLES, GROUPS, add_verbs
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
    "FOLDLINE_INDEX_NETWORK": "Lets foldline index import use the network, as --network does.",
    TRACEBACK: "Shows where foldline itself failed.",
}


def page() -> str:
    """The whole page, in roff."""
    parser = argparse.ArgumentParser(prog="foldline")
    verbs = parser.add_subparsers(prog="foldline")
    add_verbs(verbs)
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
    for name, verb in verbs.choices.items():
        if name in GROUPS:
            lines.append(f".SH {roff(GROUPS[name]).upper()}")
        lines += _verb(name, verb)
    lines.append(".SH EXIT STATUS")
    for status, meaning in STATUSES.items():
        lines += [".TP", f"\\fB{status}\\fR", roff(meaning)]
    lines.append(".SH ENVIRONMENT")
    for names, meaning in ENVIRONMENT.items():
        lines += [".TP", f"\\fB{roff(names)}\\fR", roff(meaning)]
    lines += [".SH EXAMPLES", ".nf"]
    lines += [roff(line.strip()) for line in EXAMPLES.splitlines() if line.startswith("  ")]
    return "\n".join([*lines, ".fi", ""])


def _verb(name: str, verb: argparse.ArgumentParser) -> Iterator[str]:
    usage = re.sub(r"\s+", " ", verb.format_usage()).removeprefix("usage: ").strip()
    yield f".SS {roff(name)}"
    # A list of choices is a word that no line can be filled with.
    yield ".ad l"
    yield f"\\fB{roff(usage.replace('[-h] ', ''))}\\fR"
    yield ".ad b"
    yield ".PP"
    yield roff(" ".join((verb.description or "").split()))
    # argparse has no public way to list them.
    for action in verb._actions:  # noqa: SLF001
        if action.dest == "help":
            continue
        yield ".TP"
        yield _title(action)
        shown = (action.help or "") % {**vars(action), "prog": verb.prog}
        if action.choices:
            shown = f"{shown} ({', '.join(map(str, action.choices))})".strip()
        yield roff(shown)


def _title(action: argparse.Action) -> str:
    value = action.metavar or action.dest.upper()
    takes = "" if action.nargs == 0 else f" \\fI{roff(str(value))}\\fR"
    if not action.option_strings:
        return f"\\fI{roff(str(action.metavar or action.dest))}\\fR"
    return ", ".join(f"\\fB{roff(option)}\\fR" for option in action.option_strings) + takes


def roff(text: str) -> str:
    """Text that roff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("…", "...").replace("≥", "\\(>=")
    return f"\\&{text}" if text.startswith(".") else text


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
