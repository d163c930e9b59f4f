"""`foldline stack`: the instructions that agents have when they work on a file, and their cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foldline.agent.refusals import Refused
from foldline.agent.terminal import json_text, show, show_styled
from foldline.backends.files import repository
from foldline.backends.formatting.visible import visible
from foldline.links import resolved
from foldline.plugins.instructions.clients import Client, all_clients, chosen_clients

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from foldline.agent.verbs import Verbs
    from foldline.backends.formatting.parts import Line
    from foldline.ide.token_counter import TokenCounter
    from foldline.plugins.instructions.stack import LoadedFile, Stack

DESCRIPTION = """\
Shows which of a repository's instruction files each client loads (AGENTS.md, CLAUDE.md, rules …):
in its order, when and why, what they cost in tokens, and what it doesn't read. With FILE, as it
works on that file; otherwise what each session pays. Clients are started where you stand, editors
on the repository. Only files of the repository are read. The rules are those of the clients'
documentation: `--json` has the source of each and when it was read; what a source doesn't say
clearly has a `?`. Of skills and agents, the names and descriptions are counted."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "stack", help="show the instructions that agents load for a file", description=DESCRIPTION
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="a file, new or not, or a folder")
    parser.add_argument(
        "--client",
        nargs="+",
        action="extend",
        metavar="NAME",
        help=f"{', '.join(client.name for client in all_clients())} (default: those of the "
        "setting `clients`, else all)",
    )
    parser.add_argument("--sections", action="store_true", help="show the cost of each section")
    parser.add_argument(
        "--start", metavar="DIR", help="where the client is started (default: this folder)"
    )
    parser.add_argument("--all", action="store_true", help="show each rule for other files, too")
    parser.add_argument(
        "--user", action="store_true", help="name the user's own files, which aren't read"
    )
    parser.add_argument("--json", action="store_true", help="write JSON, for programs")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.agent.scan import repository_of, settings_clients
    from foldline.ide.errors import ToolRefused
    from foldline.ide.structuring import unstructure
    from foldline.ide.workspace import Workspace
    from foldline.plugins.instructions.stack import stacks

    path = resolved(options.file or options.start or ".")
    if options.start and not Path(options.start).is_dir():
        raise Refused(f"{visible(options.start)}: there is no such folder", kind="path")
    root = repository_of(path)
    here = resolved(options.start or ".")
    start = _inside(here, root) if options.start or here.is_relative_to(root) else "."
    file = None if path.is_dir() and not options.file else _inside(path, root)
    if file and path.is_dir():
        file = f"{file}/_"
    named = options.client or settings_clients(options.file or options.start or ".")
    try:
        clients = chosen_clients(named)
    except ToolRefused as error:
        if options.file:
            raise
        raise Refused(f"{error}; a FILE goes before --client") from error
    (folder,) = Workspace.at(root).folders()
    listed = list(stacks(folder, clients, file, start))
    if options.json:
        counter = {"encoding": folder.counter().encoding, "exact": folder.counter().exact}
        show(json_text({**counter, "root": str(root), "file": file, "stacks": unstructure(listed)}))
        return 0
    shown = [one for one in listed if named or one.files or one.left_out]
    others = [one.title for one in listed if one not in shown]
    lines = list(_lines(shown, others, folder.counter(), options, clients))
    if named and not options.client:
        lines.append([("The clients are those of the settings; --client names others.", "dim")])
    if repository.repository_of(root) != root:
        lines.append([(f"No .git: {visible(str(root))} is taken for the repository.", "dim")])
    show_styled(lines, wrap=True)
    return 0


def _inside(path: Path, root: Path) -> str:
    if not path.is_relative_to(root):
        message = f"{visible(str(path))} isn't in the repository {visible(str(root))}"
        raise Refused(message, kind="path")
    return path.relative_to(root).as_posix()


def _lines(
    shown: Sequence[Stack],
    others: Sequence[str],
    counter: TokenCounter,
    options: Namespace,
    clients: Sequence[Client],
) -> Iterator[Line]:
    for stack in shown:
        total = counter.format(stack.base + stack.added)
        added = f" + {counter.format(stack.added)} for this file" if stack.added else ""
        yield [
            (stack.title, "bold"),
            (f"  {total} tokens", "cyan"),
            (f": {counter.format(stack.base)} in each session{added}" if added else "", "dim"),
            (f"  ({visible(stack.note)})" if stack.note else "", "dim"),
        ]
        for one in stack.files:
            yield from _file(one, counter, sections=options.sections)
        other = [one for one in stack.left_out if one.unmatched and not options.all]
        other = other if len(other) > 1 else []
        for left in (one for one in stack.left_out if one not in other):
            yield [
                (f"{'-':>9}  ", "dim"),
                (visible(left.path), ""),
                (visible(f"  {left.why}"), "dim"),
            ]
        if other:
            yield [(f"{'-':>9}  {len(other)} rules for other files (--all)", "dim")]
        yield []
    if any(not one.confirmed for stack in shown for one in stack.files):
        yield [("?: the client's documentation doesn't say clearly that this is loaded.", "dim")]
    for client in clients if options.user else ():
        presence = ((path, Path(path).expanduser().exists()) for path in client.user)
        there = [f"{path} ({'' if is_there else 'not '}there)" for path, is_there in presence]
        there = there or ["no files of its user"]
        yield [(f"{client.title}: {', '.join(there)}", "dim")]
    if not options.user:
        yield [("Files of the user and of an organization aren't shown; --user names them.", "dim")]
    if others:
        yield [(f"Nothing here for {', '.join(others)}.", "dim")]
    if not counter.exact:
        yield [("Estimated: install foldline[tokens] for exact counts.", "dim")]


def _file(one: LoadedFile, counter: TokenCounter, *, sections: bool) -> Iterator[Line]:
    why = {"always": "in each session", "choice": "not counted"}.get(one.when, "")
    cut = f"cut in {one.cut[0]!r} by the client's limit" if one.cut else ""
    doubt = "" if one.confirmed else "?"
    yield [
        (f"{counter.format(one.tokens):>9}  ", "cyan"),
        (visible(f"{one.path}{doubt}"), ""),
        (visible(f"  {'; '.join(filter(None, (why, one.why, cut)))}"), "dim"),
    ]
    for section in one.sections if sections else ():
        indent = "  " * section.key.count(".")
        title = f"{indent}{section.number} {section.title}".rstrip()
        yield [(f"{counter.format(section.tokens):>9}    ", "cyan"), (visible(title), "")]
