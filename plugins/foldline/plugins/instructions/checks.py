"""The checks of an instruction file: stale names, and what clients don't read, or not as meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from posixpath import basename, dirname, relpath
from time import monotonic

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.codes import Code, Severity
from foldline.ide.checks.diagnostic import Change, Diagnostic, Fix, Related, report
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.instructions.front_matter import SKILL, fields, globs_of, matches, unknown_fields
from foldline.ide.snapshot import Snapshot
from foldline.plugins.instructions.clients import Client, Rule, project_clients
from foldline.plugins.instructions.drift import drift
from foldline.plugins.instructions.mentions import mentions
from foldline.plugins.instructions.stack import LeftOut, files_of, imported, loaded, unread
from foldline.plugins.instructions.stale import OF_OTHERS, stale_mentions
from foldline.plugins.instructions.targets import Targets, Tree


def check(document: Snapshot, file: InstructionFile) -> Iterator[Diagnostic]:
    """Yield the fields of a rule that its client doesn't read."""
    for client, rule, rules in _rules(document, file)[:1]:
        said, whose = {one.name for one in fields(file)}, f"{client.title}'s rules"
        others = {one.patterns: rule.patterns for one in rules if rule.patterns not in said}
        when = "in each session" if rule.without else "only if a person names it"
        for message, place, meant in unknown_fields(file, rule.fields, whose, others):
            span = SourceSpan(document.analysis.file, *place)
            fixes = (Fix(f"Write {meant}", (Change(span, meant),), preferred=True),) * bool(meant)
            without = f" Without that, the file is loaded {when}." * (meant == rule.patterns)
            one = report(Code.UNKNOWN_FRONT_MATTER, message + without, span, fixes)
            yield replace(one, severity=Severity.WARNING) if meant else one


def _rules(document: Snapshot, file: InstructionFile) -> list[tuple[Client, Rule, list[Rule]]]:
    """Return the rules of clients that are for a file, each with all rules."""
    of_path = partial(matches, path=file.path, anchored=False)
    clients = project_clients(document.folder, Path(document.analysis.file))
    rules = [(client, rule) for client in clients for rule in client.rules if rule.fields]
    every = [rule for _, rule in rules]
    return [(*one, every) for one in rules if any(map(of_path, one[1].files))]


def check_repository(
    document: Snapshot, file: InstructionFile, seconds: float, since: float
) -> Iterator[Diagnostic]:
    """Yield what a file's repository says of it; names are looked up as by `stale_mentions`."""
    path, folder = Path(document.analysis.file), document.folder
    if not path.is_relative_to(folder.root):
        return
    at = partial(SourceSpan, str(path))
    stale = [*_stale(document, file, at, seconds, since)]
    yield from stale
    # A rule without imports is read as it is.
    asks = not file.has_front_matter or any(imported(file, file.path))
    disk = files_of(folder.access.file_backend, min(since, monotonic()))
    stacks = loaded(folder, disk, file.path) if asks else {}
    for section, message, other, start in drift(stacks, file, file.path):
        place = at(section.start, file.end_of_line(section.start))
        copy = SourceSpan(str(folder.root / other), start, start)
        related = Related(copy, "This is the other file.")
        yield report(Code.SECTION_DRIFT, message, place, (), related)
    beside = dirname(dirname(file.path)), "*/" * ("/" in file.path) + SKILL
    for (skill, span), message in disk.unclear(*beside).items() if path.name == SKILL else ():
        if skill == file.path:
            yield report(Code.UNCLEAR_SUMMARY, message, at(*span))
    tree = Targets(folder.access, file.path, since).tree
    yield from _without_files(document, file, at, tree)
    starts = {one.place.start for one in stale}
    for left, titles in unread(disk, stacks, file.path).items():
        clients, start = " and ".join(titles), left.place[0]
        if left.via and start + 1 not in starts:
            yield _of_import(file, at, tree, left, clients)
        elif not left.via and not (left.by and OF_OTHERS.search(file.path)):
            verb = "doesn't" if len(titles) == 1 else "don't"
            why = f"{verb} read this file, as there is {left.by}{left.repair and ': '}{left.repair}"
            message = f"{clients} {why if left.by else left.why}"
            place = at(start, file.end_of_line(start))
            yield report(Code.SWITCHED_OFF_INSTRUCTIONS, message, place)


def _stale(
    document: Snapshot, file: InstructionFile, at: partial[SourceSpan], seconds: float, since: float
) -> Iterator[Diagnostic]:
    if document.options.severity.get(Code.STALE_REFERENCE) is Severity.OFF:
        return
    access, every = document.folder.access, mentions(file.markdown)
    for one in stale_mentions(access, file.path, file.text, every, seconds=seconds, since=since):
        place = at(one.mention.start, one.mention.end)
        # A drawing of folders has the last part alone.
        name, near = (path.removeprefix(one.mention.root) for path in (one.mention.name, one.near))
        head = name.removesuffix(file.text[place.start : place.end])
        new = near.removeprefix(head) if near.startswith(head) else ""
        title = f"Replace {one.mention.name} by {one.near}"
        fixes = (Fix(title, (Change(place, new),)),) if new else ()
        yield report(Code.STALE_REFERENCE, one.message, place, fixes)


def _without_files(
    document: Snapshot, file: InstructionFile, at: partial[SourceSpan], tree: Tree
) -> Iterator[Diagnostic]:
    """Yield the globs of a rule that match no file."""
    said = {one.name: one for one in fields(file)}
    always = "alwaysApply" in said and said["alwaysApply"].value == "true"
    rules = () if always or not said or OF_OTHERS.search(file.path) else _rules(document, file)
    for key in sorted(said.keys() & {rule.patterns for _, rule, _ in rules}):
        globs = () if said[key].is_open else tuple(globs_of(said[key].items))
        if globs and not any(tree.matching(glob, dirname(file.path)) for glob in globs):
            message = f"No file that git doesn't ignore matches `{', '.join(globs)}`."
            yield report(Code.SWITCHED_OFF_INSTRUCTIONS, message, at(*said[key].place))


def _of_import(
    file: InstructionFile, at: partial[SourceSpan], tree: Tree, left: LeftOut, clients: str
) -> Diagnostic:
    place, end = at(*left.place), left.place[1]
    if left.repair:
        mark, changed = file.text[end], at(end, end)
        message = f"Not imported by {clients}, as a `{mark}` follows: {left.repair}."
        texts = {f"Put a space before `{mark}`": " "}
    else:
        message = f"Nothing is imported by {clients} here: there is no {left.path}."
        named, changed = tree.ending(basename(left.path)), place
        near = [relpath(one, dirname(left.via)) for one in named if len(named) == 1]
        texts = {f"Import {one}": f"@{one}" for one in near}
        texts["Put it between backquotes, as a name"] = f"`{file.text[place.start : end]}`"
    fixes = tuple(Fix(title, (Change(changed, text),)) for title, text in texts.items())
    return report(Code.DEAD_IMPORT, message, place, fixes)
