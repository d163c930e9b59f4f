"""Carries out `foldline fold`: prints, writes and compares folded files."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from foldline.agent.install import files as edited
from foldline.agent.refusals import Refused
from foldline.agent.scan import repository_of
from foldline.agent.targets import file_and_name, path_from_here
from foldline.agent.terminal import complain, is_styled, show
from foldline.backends.files.reader import read_bytes, read_text
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions import document
from foldline.ide.instructions.files import LARGEST
from foldline.ide.workspace import Workspace
from foldline.links import resolved
from foldline.plugins.instructions import fold

SKILL = Path(__file__).with_name("fold_skill.md")
BOM = "\ufeff"
"""The byte order mark, which a reader of text leaves out."""


def run(options: Namespace) -> int:
    path, _ = file_and_name(options.file)
    mark = BOM * read_bytes(path, LARGEST).startswith(BOM.encode())
    # Clients work in repositories: paths in what they load are from there.
    root = repository_of(path) if options.root is None else resolved(options.root)
    if not root.is_dir():
        raise Refused(f"--root {options.root}: there is no such folder")
    workspace = Workspace.at(root)
    file = _read(workspace, root, path, options.tool or "")
    if options.suggest:
        return _suggest(workspace, path, file)
    if options.check or options.unfold:
        origin = document.origin_of(file.text)
        if origin is None:
            raise Refused(f"{options.file} wasn't written by `foldline fold --write`")
        source_path = resolved(root / origin["source"])
        if not source_path.is_relative_to(root):
            raise Refused(f"{options.file} names a source outside of its project: {source_path}")
        source = _read(workspace, root, source_path)
        if options.unfold:
            _print(mark + fold.unfold(file.text, source))
            return 0
        return _check(file, source, changed=origin["digest"] != fold.digest_of(source.text))
    if options.skill and options.write is None:
        raise Refused("--skill goes with --write OUT: it reads the sections that OUT folds")
    if options.write is None:
        opened = [one for key in options.open_sections for one in file.opening(key)]
        _print(mark + file.render(opened).text)
        return 0
    if options.tool:
        raise Refused("--tool is for printed text: a written file names lines alone")
    target = resolved(options.write)
    if not (target.is_relative_to(root) and path.is_relative_to(root)):
        raise Refused(f"{target} and its source have to be in one project; --root DIR names it")
    if target == path:
        raise Refused(f"{options.write} is the file to fold: --write names another one")
    text = mark + fold.generate(file, target.relative_to(root).as_posix())
    _write(
        target,
        text,
        is_ours=lambda before: document.origin_of(before.removeprefix(BOM)) is not None,
        instead=f"move it to a place that no client loads, such as docs/agents/{target.stem}"
        ".full.md, and fold it there",
    )
    if options.skill is not None:
        skill = SKILL.read_text(encoding="utf-8")
        name = skill.splitlines()[1]
        file_of_skill = resolved(options.skill) / "folded-sections" / "SKILL.md"
        _write(file_of_skill, skill, is_ours=lambda before: name in before, instead="rename it")
    return 0


def _read(workspace: Workspace, root: Path, path: Path, tool: str = "") -> document.InstructionFile:
    """Return a file; `tool` is named where it reads the file's sections, too."""
    file = document.instruction_file(path, root, read_text(path, LARGEST, strict=True))
    client = tool if tool and workspace.folder(path).instructs(path) else ""
    return replace(file, tool=client, has_front_matter=False)


def _write(file: Path, text: str, *, is_ours: Callable[[str], bool], instead: str) -> None:
    shown = visible(path_from_here(file))
    before = edited.read(file)
    if before is not None and not is_ours(before):
        raise Refused(f"{shown} wasn't written by `foldline fold`, and is left alone: {instead}")
    edited.replace(file, before, text)
    show(f"wrote {shown}: {len(text.encode()):,} bytes")


def _check(
    file: document.InstructionFile, source: document.InstructionFile, *, changed: bool
) -> int:
    name = visible(file.path)
    if file.text == fold.generate(source, file.path):
        show(f"{name} is up to date")
        return 0
    command = visible(fold.command_for(source.path, file.path))
    why = f"is out of date: {visible(source.path)} has changed"
    if not changed:
        try:
            fold.unfold(file.text, source)
            message = f"put what `foldline fold {name} --unfold` prints into {visible(source.path)}"
        except ToolRefused as error:
            message = visible(str(error))
        why = f"was changed by hand: {message}"
    complain(f"{name} {why}, and run `{command}`")
    return 1


def _suggest(workspace: Workspace, path: Path, file: document.InstructionFile) -> int:
    counter = workspace.folder(path).counter(path)
    sections: list[document.InstructionSection] = []
    for section in file.sections:
        inside = sections and section.start < sections[-1].end
        if not inside and fold.is_reference(file, section):
            sections.append(section)
    for section in sections:
        tokens = counter.format(counter.count(file.whole_text(section)))
        show(f"{file.path}:{file.line(section.start)}: {section.title} ({tokens} tokens)")
    if not sections:
        complain("no long section is without directives; mark one yourself, where you know better")
    return 0 if sections else 1


def _print(text: str) -> None:
    """Print a text as it is; programs get UTF-8, whatever the locale."""
    if is_styled():
        show(text, end="")
    else:
        sys.stdout.buffer.write(text.encode())
