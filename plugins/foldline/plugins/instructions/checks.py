"""The checks of an instruction file: stale names, and what clients don't read, or not as meant."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from posixpath import basename, dirname, relpath
from time import monotonic

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.codes import Code, Severity, default_severity
from foldline.ide.checks.diagnostic import Change, Diagnostic, Fix, Related
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
            span, code = SourceSpan(document.analysis.file, *place), Code.UNKNOWN_FRONT_MATTER
            fixes = (Fix(f"Write {meant}", (Change(span, meant),), preferred=True),)
            without = f" Without that, the file is loaded {when}." * (meant == rule.patterns)
            severity = Severity.WARNING if meant else default_severity(code)
            yield Diagnostic(code, severity, message + without, span, fixes if meant else ())


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
    path, folder, relative = Path(document.analysis.file), document.folder, file.path
    if not path.is_relative_to(folder.root):
        return
    is_wanted = document.options.severity.get(Code.STALE_REFERENCE) is not Severity.OFF
    every = mentions(file.markdown) if is_wanted else ()
    stale = stale_mentions(folder.access, relative, file.text, every, seconds=seconds, since=since)
    for one in stale:
        place = SourceSpan(str(path), one.mention.start, one.mention.end)
        # A drawing of folders has the last part alone.
        name, near = (path.removeprefix(one.mention.root) for path in (one.mention.name, one.near))
        head = name.removesuffix(file.text[place.start : place.end])
        new = near.removeprefix(head) if near.startswith(head) else ""
        title = f"Replace {one.mention.name} by {one.near}"
        fixes = (Fix(title, (Change(place, new),)),) if new else ()
        code = Code.STALE_REFERENCE
        yield Diagnostic(code, default_severity(code), one.message, place, fixes)
    # A rule without imports is read as it is.
    asks = not file.has_front_matter or any(imported(file, relative))
    disk = files_of(folder.access.file_backend, min(since, monotonic()))
    stacks = loaded(folder, disk, relative) if asks else {}
    for section, message, other, at in drift(stacks, file, relative):
        place = SourceSpan(str(path), section.start, file.end_of_line(section.start))
        related = Related(SourceSpan(str(folder.root / other), at, at), "This is the other file.")
        code = Code.SECTION_DRIFT
        yield Diagnostic(code, default_severity(code), message, place, related=(related,))
    beside = dirname(dirname(relative)), "*/" * ("/" in relative) + SKILL
    for field, message in disk.unclear(*beside).items() if path.name == SKILL else ():
        if field[0] == relative:
            place, code = SourceSpan(str(path), *field[1]), Code.UNCLEAR_SUMMARY
            yield Diagnostic(code, default_severity(code), message, place)
    tree, code = Targets(folder.access, relative, since).tree, Code.SWITCHED_OFF_INSTRUCTIONS
    said = {one.name: one for one in fields(file)}
    always = "alwaysApply" in said and said["alwaysApply"].value == "true"
    rules = () if always or not said or OF_OTHERS.search(relative) else _rules(document, file)
    for key in sorted(said.keys() & {rule.patterns for _, rule, _ in rules}):
        globs = () if said[key].is_open else tuple(globs_of(said[key].items))
        if globs and not any(tree.matching(glob, dirname(relative)) for glob in globs):
            place = SourceSpan(str(path), *said[key].place)
            message = f"No file here matches `{', '.join(globs)}`: the rule never loads."
            yield Diagnostic(code, default_severity(code), message, place)
    starts = {one.mention.start for one in stale}
    for left, titles in unread(disk, stacks, relative).items():
        clients, start = " and ".join(titles), left.place[0]
        if left.via and start + 1 not in starts:
            yield _of_import(tree, file, path, left, clients)
        elif not left.via and not (left.by and OF_OTHERS.search(relative)):
            verb = "doesn't" if len(titles) == 1 else "don't"
            why = f"{verb} read this file, as there is {left.by}{left.repair and ': '}{left.repair}"
            why = why if left.by else left.why
            place = SourceSpan(str(path), start, file.end_of_line(start))
            yield Diagnostic(code, default_severity(code), f"{clients} {why}", place)


def _of_import(
    tree: Tree, file: InstructionFile, path: Path, left: LeftOut, clients: str
) -> Diagnostic:
    place, code, end = SourceSpan(str(path), *left.place), Code.DEAD_IMPORT, left.place[1]
    if left.repair:
        mark, at = file.text[end], SourceSpan(str(path), end, end)
        message = f"Not imported by {clients}, as a `{mark}` follows: {left.repair}."
        texts = {f"Put a space before `{mark}`": " "}
    else:
        message = f"Nothing is imported by {clients} here: there is no {left.path}."
        named, at = tree.ending(basename(left.path)), place
        near = [relpath(one, dirname(left.via)) for one in named if len(named) == 1]
        texts = {f"Import {one}": f"@{one}" for one in near}
        texts["Put it between backquotes, as a name"] = f"`{file.text[place.start : end]}`"
    fixes = tuple(Fix(title, (Change(at, text),)) for title, text in texts.items())
    return Diagnostic(code, default_severity(code), message, place, fixes)
