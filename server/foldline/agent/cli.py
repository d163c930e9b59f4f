"""The command `foldline`: one module per verb, loaded when the command line begins with that verb.

A verb's module has `register(verbs)`, which adds its parser and sets `run`, a function of the
parsed arguments that returns the exit status, one of `exit_statuses`. It imports its dependencies
when it runs. Errors that it raises are reported here, in one way.
"""

from __future__ import annotations

import os
import re
import sys
from errno import EBADF
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from foldline.version import VERSION

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser, _SubParsersAction
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

    from foldline.agent.refusals import Refused
    from foldline.agent.verbs import Verbs
    from foldline.ide.plugins import Part, Plugins

TITLE = f"foldline {VERSION}"

# The module of each verb, by the headings of the help and in its order. The operations name their
# verbs themselves, and plugins theirs.
HEADINGS: dict[str, dict[str | None, str]] = {
    "Prompts": {
        "new": "new",
        "preview": "preview",
        "check": "check",
        "tokens": "tokens",
        "prompts": "prompts",
    },
    "Code": {None: "code", "context": "context", "index": "index"},
    "Servers": {"serve": "serve", "mcp": "mcp.verb", "install": "install.verb"},
    "First steps": {"tour": "tour", "doctor": "doctor", "completion": "completion"},
}
VERBS = {verb: module for verbs in HEADINGS.values() for verb, module in verbs.items()}
EXAMPLES = """\
Examples:
  foldline tour
  foldline new prompts/support.py
  foldline adopt app/llm.py:SYSTEM_PROMPT
  foldline check prompts
  foldline preview prompts/review.py --open-sections policies
  foldline outline src/app.py
  foldline refs Session --root ../service
  foldline context where are uploads checked

`foldline help COMMAND` has the options of one, `foldline help exit-statuses` what they mean."""

_OPTION = re.compile(r"--[a-z][a-z-]*")


def command() -> NoReturn:
    """Run this process' command line, and end the process."""
    status = main()
    from foldline.ide.lifecycle import end_process

    end_process(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _reported(words)
    except KeyboardInterrupt:
        from foldline.agent.exit_statuses import INTERRUPTED

        return INTERRUPTED
    except BrokenPipeError:
        from foldline.agent.exit_statuses import CLOSED

        # Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return CLOSED


def _reported(words: list[str]) -> int:
    """Run a command line, and report its errors."""
    try:
        if sys.stdout is None:
            raise OSError(EBADF, "standard output is closed")
        try:
            return run_words(words)
        finally:
            # Flush here, where a full disk is still reported.
            sys.stdout.flush()
            if words[:1] != ["doctor"]:  # That lists them.
                _report_plugins()
    except BrokenPipeError:
        raise
    except Exception as error:
        from foldline.agent.refusals import report

        return report(error, words)


def _report_plugins() -> None:
    """Name the plugins that were left out, if any were asked."""
    if (module := sys.modules.get("foldline.ide.plugins")) is not None and module.is_loaded():
        from foldline.agent.terminal import complain

        for problem in installed().problems:
            complain(f"foldline: {problem}")


def run_words(words: list[str]) -> int:
    """Run one command line and return its exit status; errors are raised."""
    if words[:1] == ["--version"]:
        # Answered here: the parser takes as long to load as Python does.
        print(TITLE)  # noqa: T201
        return 0
    if "_ARGCOMPLETE" in os.environ:
        from foldline.agent.completion import complete, words_so_far

        complete(_parser(next(iter(words_so_far()), None))[0])
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
        if words[0] == "exit-statuses":
            from foldline.agent.exit_statuses import table

            print(table())  # noqa: T201
            return 0
    first = words[0] if words else None
    parser, verbs = _parser(first)
    if first is None:
        parser.print_help(sys.stderr)
        return 2
    if not first.startswith("-") and first not in verbs.choices:
        raise _unknown(f"there is no command {first!r}", first, verbs.choices, "foldline --help")
    options, unknown = parser.parse_known_args(words)
    if unknown:
        verb = next(word for word in words if word in verbs.choices)
        option_names = _OPTION.findall(verbs.choices[verb].format_help())
        name = unknown[0].partition("=")[0]
        if name in option_names:
            from foldline.agent.refusals import Refused

            raise Refused(f"write {name} behind `foldline {verb}`", kind="usage")
        what = f"`foldline {verb}` takes no {name!r}"
        raise _unknown(what, name, option_names, f"foldline {verb} --help")
    try:
        return int(options.run(options))
    except Exception as error:
        from foldline.agent.refusals import fault_of_plugin

        if (fault := fault_of_plugin(options.part, error)) is None:
            raise
        raise fault from error


def _unknown(what: str, name: str, names: Iterable[str], page: str) -> Refused:
    from foldline.agent.refusals import Refused
    from foldline.backends.base.near_names import near_names

    near = near_names(name, names)[:1]
    meant = "".join(f"did you mean `{name}`? " for name in near)
    message = f"{what}: {meant}`{page}` lists what there is."
    return Refused(message, kind="usage", data={"near": near})


def _parser(first: str | None) -> tuple[ArgumentParser, _SubParsersAction[Any]]:
    import argparse

    class Parser(argparse.ArgumentParser):
        """Reports wrong command lines as all other errors are reported."""

        def error(self, message: str) -> NoReturn:
            from foldline.agent.refusals import Refused

            page = f"`{self.prog} --help` says what it takes"
            raise Refused(f"{message}; {page}", kind="usage")

        def _check_value(self, action: Action, value: str) -> None:
            if action.choices is not None and value not in action.choices:
                what = f"{value!r} isn't one of {', '.join(action.choices)}"
                raise _unknown(what, value, action.choices, f"{self.prog} --help")

    parser = Parser(
        prog="foldline",
        usage="foldline [-h] [--version] COMMAND ...",
        description="Shows prompts and code folded, and unfolds what is asked for.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=TITLE)
    verbs = parser.add_subparsers(
        prog="foldline", metavar="COMMAND", required=True, help=argparse.SUPPRESS
    )
    listing = Listing(verbs)
    add_verbs(listing, first)
    parser.epilog = listing.text()
    return parser, verbs


class Listing:
    """Adds verbs, and lists them below headings for the help."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs
        self.rows: dict[str, list[tuple[str, str]]] = {}
        self.heading = ""
        self.part: Part | None = None

    def add_parser(self, name: str, *, help: str, description: str) -> ArgumentParser:  # noqa: A002
        self.rows.setdefault(self.heading, []).append((name, help))
        parser = self._verbs.add_parser(name, help=help, description=description)
        parser.set_defaults(part=self.part)
        return parser

    def text(self) -> str:
        width = max(len(name) for rows in self.rows.values() for name, _ in rows)
        lines = []
        for heading, rows in self.rows.items():
            lines += ["", f"{heading}:", *(f"  {name:{width}}  {what}" for name, what in rows)]
        return "\n".join([*lines[1:], "", EXAMPLES])


def add_verbs(verbs: Listing, first: str | None = None) -> None:
    """Add the parser of the verb `first`.

    Where there is no such verb, the help or an error lists all of them, so that all are added.
    """
    if first and first in VERBS:
        _module(first).register(verbs)
    elif first and (operation := _module(None).operation_of(first)):
        _module(None).add_operation(verbs, operation)
    elif not (first and _add_plugins(verbs, first)):
        for heading, modules in HEADINGS.items():
            verbs.heading = heading
            for verb in modules:
                _module(verb).register(verbs)
        _add_plugins(verbs)


def _add_plugins(verbs: Listing, first: str | None = None) -> bool:
    """Add the plugins' verbs, or the one called `first`; True if there are any."""
    brought, added = installed(), False
    for part in brought.parts(lambda plugin: plugin.verbs):
        if first in (None, part.name):
            verbs.part = part
            added |= brought.use(part, partial(_register, part, verbs)) or False
    verbs.part = None
    return added


def _register(part: Part, verbs: Listing, module: Any) -> bool:
    verbs.heading = part.plugin.heading
    module.register(verbs)
    if part.name not in (name for name, _ in verbs.rows.get(verbs.heading, ())):
        raise LookupError(f"`{part.module}` registers no verb `{part.name}`")
    return True


def installed() -> Plugins:
    """Return the plugins, those left out whose verb the house has."""
    from foldline.ide.plugins import plugins

    brought = plugins()
    if any(not part.entry.ours for part in brought.parts(lambda plugin: plugin.verbs)):
        from foldline.ide.operations import OPERATIONS

        verbs = {*filter(None, VERBS), *(operation.verb for operation in OPERATIONS), "help"}
        brought.reserve("verbs", verbs)
    return brought


def _module(verb: str | None) -> Any:
    return import_module(f"foldline.agent.{VERBS[verb]}")
