"""Carries out `foldline fold`: prints folded files, and moves sections to other files and back."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from posixpath import dirname

from foldline.agent.install import files as edited
from foldline.agent.refusals import Refused
from foldline.agent.scan import repository_of, settings_clients
from foldline.agent.targets import file_and_name
from foldline.agent.terminal import complain, is_styled, show
from foldline.backends.base.languages import UNKNOWN, language_of
from foldline.backends.files.reader import read_bytes, read_text
from foldline.ide.folder import Folder
from foldline.ide.instructions.document import InstructionFile, InstructionSection, instruction_file
from foldline.ide.instructions.files import LARGEST, instruction_files
from foldline.ide.instructions.front_matter import SKILL, faults, matches
from foldline.ide.workspace import Workspace
from foldline.links import resolved
from foldline.plugins.instructions import fold
from foldline.plugins.instructions.clients import chosen_clients
from foldline.plugins.instructions.moving import Changes, Mover, Places
from foldline.plugins.instructions.stack import stacks

BOM = "\ufeff"
"""The byte order mark, which a reader of text leaves out."""


def run(options: Namespace) -> int:
    path, _ = file_and_name(options.file)
    if language_of(path.name) not in (UNKNOWN, "markdown"):
        raise Refused(f"{options.file} isn't Markdown: `fold` takes files such as AGENTS.md")
    # Clients work in repositories: paths in what they load are from there.
    root = repository_of(path) if options.root is None else resolved(options.root)
    if not path.is_relative_to(root) or not root.is_dir():
        raise Refused(f"--root {options.root}: that's no folder around {options.file}")
    workspace = Workspace.at(root)
    file = instruction_file(path, root, read_text(path, LARGEST, strict=True))
    if options.suggest:
        return _suggest(workspace, path, file)
    if bool(options.to_rule) != bool(options.paths):
        raise Refused("--to-rule and --paths go together")
    if options.unfold or options.to or options.to_rule or options.to_skill:
        return _move(options, workspace.folders()[0], file)
    if options.section or options.client or options.dry_run:
        raise Refused("--to, --to-rule, --to-skill or --unfold is missing: it says what to do")
    tool = options.tool if options.tool and workspace.folder(path).instructs(path) else ""
    file = replace(file, tool=tool, has_front_matter=False)
    opened = [one for key in options.open_sections for one in file.opening(key)]
    text = BOM * read_bytes(path, LARGEST).startswith(BOM.encode()) + file.render(opened).text
    if is_styled():
        show(text, end="")
    else:
        # Programs get UTF-8, whatever the locale.
        sys.stdout.buffer.write(text.encode())
    return 0


def _move(options: Namespace, folder: Folder, file: InstructionFile) -> int:
    root, files = folder.root, folder.access.file_backend
    paths = [stamp.path for stamp in files.walk_folder(".")]
    if options.paths and not any(matches(glob, path) for glob in options.paths for path in paths):
        raise Refused(f"--paths {' '.join(options.paths)}: no file that git doesn't ignore matches")
    # Other Markdown may link to what moves.
    names = {path for path in paths if path.endswith(".md")}
    names |= {one.relative_to(root).as_posix() for one in instruction_files(folder)}
    mover, places = Mover(files, file.path, names), Places()
    chosen = [file.section(key) for key in options.section]
    options.client = options.client or settings_clients(options.file)
    if options.unfold:
        changes = mover.unfold([section.key for section in chosen])
    else:
        sections = [section for section in file.sections if section in chosen] or file.folded
        for section in (section for section in sections if not section.summary):
            place = f"{file.path}:{file.line(section.start)}"
            raise Refused(f"{place} has no mark: write <!-- fold: what it tells --> below it")
        if not sections:
            raise Refused(f"{file.path} marks no section: try --suggest")
        places = _places(options, folder, file, sections)
        changes = mover.fold(places)
        for name, head in (one for copies in places.values() for one in copies):
            _check_place(folder, file.path, name, head)
    written = list[edited.Change]()
    # What moves is never nowhere.
    for name in sorted(changes, key=lambda name: (name == file.path) is not options.unfold):
        before, text = edited.read(root / name, root), changes[name]
        written.append((root / name, before, text and BOM * (before or "").startswith(BOM) + text))
    costs = "\n".join(_costs(options, folder, file, changes, places))
    edited.write(written, root, dry_run=options.dry_run)
    for path in [path for path, _, text in written if text is None and not options.dry_run]:
        with suppress(OSError):
            os.removedirs(path.parent)
    show(costs)
    return 0


def _check_place(folder: Folder, home: str, name: str, head: str) -> None:
    root, rules = folder.root, folder.access.file_backend.rules()
    own, hidden = (rules.for_path(one, is_folder=False) for one in (home, name))
    if (hidden and not own) or repository_of(root / name) != repository_of(root):
        why = f"`{hidden.pattern}` of {hidden.source} hides it" if hidden else "it's in another"
        raise Refused(f"{name} is in no commit of this repository: {why}; name another file")
    before = edited.read(root / name, root)
    if head and before is not None:
        raise Refused(f"{name} already exists: choose another name, or add to it by --to {name}")
    if name.endswith(SKILL):
        skill = instruction_file(root / name, root, before or head)
        for _, fault, _ in faults(skill, root / name):
            raise Refused(f"{name}: {fault}")


def _places(
    options: Namespace,
    folder: Folder,
    file: InstructionFile,
    sections: Sequence[InstructionSection],
) -> Places:
    """Return where each section goes."""
    if options.to:
        target = resolved(options.to)
        is_fit = target.is_relative_to(folder.root) and target.suffix in (".md", ".mdc")
        if not is_fit or target == folder.root / file.path:
            raise Refused(f"--to {options.to}: name another file in {folder.root}, as DIR/NAME.md")
        path = target.relative_to(folder.root).as_posix()
        return {section: [(path, "")] for section in sections}
    rule, name = options.to_rule, options.to_rule or options.to_skill
    if not re.fullmatch(r"\w[\w-]*", name):
        raise Refused(f"{name!r} isn't a name: letters, digits and hyphens")
    exists, ways = folder.access.file_backend.exists, list[list[tuple[str, str]]]()
    for client in chosen_clients(options.client):
        if options.client or any(map(exists, client.signs or client.own)):
            sure = [one for one in client.rules if one.confirmed]
            fit = [one for one in sure if (one.patterns if rule else one.lists == "skill")]
            paths = [(path, one.patterns) for one in fit for path in one.files if "*" in path]
            ways.append([(re.sub(r"\*+(/\*)?(?=[./])", "{}", path), key) for path, key in paths])
    chosen: list[tuple[str, str]] = []
    while every := [one for way in ways if not {*way}.intersection(chosen) for one in way]:
        # One file may serve several clients; then a folder that is there is the team's.
        every.sort(key=lambda one: not exists(dirname(one[0].format(""))))
        chosen.append(max(every, key=every.count))
    if rule and not chosen:
        raise Refused("name the client: --client claude-code, copilot or cursor")
    globs, joined = json.dumps(options.paths), ",".join(options.paths)
    heads = {"paths": f"paths: {globs}", "globs": f"globs: {joined}\nalwaysApply: false"}
    places = Places()
    for section in sections:
        slug = re.sub(r"[\W_]+", "-", file.short_key(section))
        full = name if rule or len(sections) == 1 else f"{name}-{slug}"[:64].strip("-")
        about = json.dumps(section.summary, ensure_ascii=False)
        heads[""] = f"name: {full}\ndescription: {about}"
        places[section] = [
            (path.format(full), f"---\n{heads.get(key, f'{key}: {json.dumps(joined)}')}\n---\n")
            for path, key in chosen or [(".agents/skills/{}/SKILL.md", "")]
        ]
    return places


def _costs(
    options: Namespace, folder: Folder, file: InstructionFile, changes: Changes, places: Places
) -> Iterator[str]:
    """Yield what each client that loads a file pays before and after, and where that is more."""
    files, counter = folder.access.file_backend, folder.counter()
    count, shown, clients = counter.count, counter.format, chosen_clients(options.client)
    around = dirname(file.path)
    beside = f"{around}/_" if around else None
    when = f"for files in {around}" if around else "in each session"
    before = list(stacks(folder, clients, beside))
    for name, text in changes.items():
        files.set_overlay(name, text or "")
    moved = shown(sum(count(file.whole_text(section)) for section in places))
    for old, new in zip(before, stacks(folder, clients, beside), strict=True):
        if any(loaded.path == file.path for loaded in old.files):
            paid, cost = old.base + old.added, new.base + new.added
            more = ", which is no less" * (bool(places) and cost >= paid)
            rest = f"; {moved} on demand" * bool(places)
            yield f"{old.title}: {shown(paid)} -> {shown(cost)} tokens {when}{more}{rest}"
    for section, copies in places.items():
        if order := fold.order_in(file.text[section.body : section.end]):
            what = f'{section.key} may contain an order ("{order} …")'
            yield f"{what}: a client that hasn't loaded it won't follow it."
        left = f"Folded: {section.summary}" + copies[0][1] * copies[0][0].endswith(SKILL)
        if count(left) >= count(file.text[section.body : section.end]):
            yield f"{section.key} costs no less folded: remove its mark."


def _suggest(workspace: Workspace, path: Path, file: InstructionFile) -> int:
    counter, end = workspace.folder(path).counter(path), -1
    for section in file.sections:
        if section.start >= end and fold.is_reference(file, section):
            end = section.end
            tokens = counter.format(counter.count(file.whole_text(section)))
            show(f"{file.path}:{file.line(section.start)}: {section.title} ({tokens} tokens)")
    if end < 0:
        complain("no long section is without directives; mark one yourself, where you know better")
    return int(end < 0)
