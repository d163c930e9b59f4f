"""`foldline stack`: the instructions that agents have when they work on a file, and their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.agent.refusals import Refused
from foldline.agent.terminal import json_text, show, show_styled
from foldline.backends.files import repository
from foldline.backends.formatting.visible import visible
from foldline.links import resolved
from foldline.plugins.instructions.clients import all_clients, chosen_clients

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from foldline.agent.verbs import Verbs
    from foldline.backends.formatting.parts import Line
    from foldline.ide.token_counter import TokenCounter
    from foldline.plugins.instructions.stack import Stack

DESCRIPTION = """\
Shows which of a repository's instruction files each client loads (AGENTS.md, CLAUDE.md, rules …):
in its order, when and why, what they cost in tokens, and what it doesn't read. With FILE, as it
works on that file; otherwise what each session pays. Clients are started where you stand, editors
on the repository. Only files of the repository are read. The rules are those of the clients'
documentation: `--json` has the source of each and when it was read; what a source doesn't say
clearly has a `?`. Of skills and agents, only names and descriptions count."""


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
        "setting `clients`, else all); after FILE",
    )
    parser.add_argument("--sections", action="store_true", help="show the cost of each section")
    parser.add_argument(
        "--start", metavar="DIR", help="where the client is started (default: this folder)"
    )
    parser.add_argument("--all", action="store_true", help="show each rule for other files, too")
    parser.add_argument("--json", action="store_true", help="write JSON, for programs")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.agent.scan import repository_of, settings_clients
    from foldline.ide.structuring import unstructure
    from foldline.ide.workspace import Workspace
    from foldline.plugins.instructions.stack import stacks

    here = resolved(options.start or ".")
    path = resolved(options.file) if options.file else here
    root = repository_of(path)
    is_inside = here.is_relative_to(root)
    if options.start and not (is_inside and here.is_dir()):
        problem = f"not a folder in {visible(str(root))}"
        raise Refused(f"--start {visible(options.start)}: {problem}", kind="path")
    start = here.relative_to(root).as_posix() if is_inside else "."
    work = path / "_" if path.is_dir() else path
    file = work.relative_to(root).as_posix() if options.file else None
    settings = () if options.client else settings_clients(str(path))
    clients = chosen_clients(options.client or settings)
    (folder,) = Workspace.at(root).folders()
    listed, counter = list(stacks(folder, clients, file, start)), folder.counter()
    if options.json:
        counted = {"encoding": counter.encoding, "exact": counter.exact}
        show(json_text({**counted, "root": str(root), "file": file, "stacks": unstructure(listed)}))
        return 0
    named = options.client or settings
    shown = [one for one in listed if named or one.files or one.left_out]
    others = ", ".join(one.title for one in listed if one not in shown)
    doubts = [one for stack in shown for one in stack.files if not one.confirmed]
    bare = repository.repository_of(root) != root
    notes = [
        (doubts, "?: the client's documentation doesn't say clearly that this is loaded."),
        (True, "User-level and organization-level files aren't read."),
        (others, f"Nothing here for {others}."),
        (not counter.exact, "Estimated: install foldline[tokens] for exact counts."),
        (settings, "The clients are those of the settings; --client names others."),
        (bare, f"No .git: {visible(str(root))} is taken for the repository."),
    ]
    lines = [line for stack in shown for line in _lines(stack, counter, options)]
    show_styled([*lines, *([(text, "dim")] for told, text in notes if told)], wrap=True)
    return 0


def _lines(stack: Stack, counter: TokenCounter, options: Namespace) -> Iterator[Line]:
    added = f" + {counter.format(stack.added)} for this file" if stack.added else ""
    yield [
        (stack.title, "bold"),
        (f"  {counter.format(stack.base + stack.added)} tokens", "cyan"),
        (f": {counter.format(stack.base)} in each session{added}" if added else "", "dim"),
        (f"  ({visible(stack.note)})" if stack.note else "", "dim"),
    ]
    for one in stack.files:
        when = {"always": "in each session", "choice": "not counted"}.get(one.when)
        cut = one.cut and f"cut in {one.cut[0]!r} by the client's limit"
        doubt = "" if one.confirmed else "?"
        yield _row(counter.format(one.tokens), f"{one.path}{doubt}", when, one.why, cut)
        for section in one.sections if options.sections else ():
            indent = "  " * (section.key.count(".") + 1)
            title = f"{indent}{section.number} {section.title}".rstrip()
            yield _row(counter.format(section.tokens), title)
    other = [one for one in stack.left_out if one.unmatched and not options.all]
    other = other if len(other) > 1 else []
    yield from (_row("-", one.path, one.why) for one in stack.left_out if one not in other)
    if other:
        yield _row("-", f"{len(other)} rules for other files (--all)")
    yield []


def _row(cost: str, name: str, *about: str | None) -> Line:
    said = "; ".join(filter(None, about))
    number = (f"{cost:>9}  ", "dim" if cost == "-" else "cyan")
    return [number, (visible(name), ""), (visible(f"  {said}" if said else ""), "dim")]
