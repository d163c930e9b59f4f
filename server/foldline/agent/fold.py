"""`foldline fold`: an instruction file as a model should get it, with marked sections folded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace

    from foldline.agent.verbs import Verbs
    from foldline.ide.instructions.document import InstructionFile
    from foldline.ide.instructions.fold import Origin
    from foldline.ide.workspace import Workspace

SKILL = Path(__file__).with_name("fold_skill.md")
DESCRIPTION = """\
Prints an instruction file, such as AGENTS.md, with its marked sections folded: a section that has a
line <!-- fold: what it tells --> becomes its heading, that summary, and where to read the rest.
With --write the text goes to a file that says where it comes from, so that --check can tell
whether it is up to date: the exit status is 1 if it isn't."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "fold", help="fold the marked sections of an instruction file", description=DESCRIPTION
    )
    parser.add_argument("file", metavar="FILE", help="the instruction file, or a generated one")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", metavar="OUT", help="write the folded text to OUT")
    what.add_argument(
        "--check", action="store_true", help="say whether FILE, written by --write, is up to date"
    )
    what.add_argument(
        "--unfold", action="store_true", help="print the whole text of FILE, written by --write"
    )
    what.add_argument(
        "--suggest", action="store_true", help="list sections that look like reference"
    )
    parser.add_argument(
        "--open", action="append", default=[], metavar="KEY", help="show this section in full"
    )
    parser.add_argument(
        "--tool", default="", metavar="NAME", help="the client's name for `read_section`"
    )
    parser.add_argument(
        "--root",
        metavar="DIR",
        type=Path,
        help="the folder that the client works in (default: the repository)",
    )
    parser.add_argument(
        "--skill",
        metavar="DIR",
        type=Path,
        help="with --write: also write a skill that reads the sections, into DIR of the client, "
        "such as .claude/skills",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.agent.refusals import Refused
    from foldline.agent.scan import root_of
    from foldline.agent.targets import file_and_name
    from foldline.ide.instructions import fold
    from foldline.ide.workspace import Workspace

    path, _ = file_and_name(options.file)
    # Clients work in repositories: paths in what they load are from there.
    tops = (folder for folder in path.parents if (folder / ".git").exists())
    root = next(tops, root_of(path)) if options.root is None else options.root.resolve()
    workspace = Workspace.at(root)
    file = _read(workspace, root, path, options.tool)
    opened = tuple(file.section(key).key for key in options.open)
    if options.suggest:
        return _suggest(workspace, path, file)
    if options.check or options.unfold:
        origin = fold.origin_of(file.text)
        if origin is None:
            raise Refused(f"{options.file} wasn't written by `foldline fold --write`")
        place = (root / origin.source).resolve()
        if not place.is_relative_to(root):
            raise Refused(f"{options.file} names a source outside of its project: {place}")
        source = _read(workspace, root, place)
        if options.unfold:
            _print(fold.unfold(file.text, source, origin.opened))
            return 0
        return _check(file, source, origin)
    if options.write is None:
        _print(file.render(opened).text)
        return 0
    _write(file, path, Path(options.write), root, opened)
    if options.skill is not None:
        _write_skill(options.skill)
    return 0


def _read(workspace: Workspace, root: Path, path: Path, tool: str = "") -> InstructionFile:
    """Return a file; `tool` is named where it reads the file's sections, too."""
    from foldline.backends.files.reader import read_text
    from foldline.ide.instructions.document import InstructionFile
    from foldline.ide.instructions.files import LARGEST

    text = read_text(path, LARGEST, strict=True)
    if not path.is_relative_to(root):
        return InstructionFile(path.name, text, path.as_posix())
    known = tool if tool and workspace.is_instructions(path) else ""
    return InstructionFile(path.name, text, path.relative_to(root).as_posix(), known)


def _write(
    file: InstructionFile, path: Path, out: Path, root: Path, opened: tuple[str, ...]
) -> None:
    from foldline.agent.install.files import read, replace
    from foldline.agent.refusals import Refused
    from foldline.agent.terminal import show
    from foldline.backends.formatting.visible import visible
    from foldline.ide.instructions import fold

    target, shown = out.resolve(), visible(str(out))
    if not target.is_relative_to(root) or not path.is_relative_to(root):
        raise Refused(f"{shown} and its source have to be in one project; --root DIR names it")
    before = read(target)
    if before is not None and fold.origin_of(before) is None:
        raise Refused(
            f"{shown} wasn't written by `foldline fold`, and is left alone: move it to a place "
            f"that no client loads, such as docs/agents/{target.stem}.full.md, and fold it there"
        )
    made = fold.generate(file, target.relative_to(root).as_posix(), opened)
    replace(target, before, made)
    sizes = (len(text.encode()) for text in (file.text, made))
    show("wrote {}: {:,} bytes of the whole, {:,} folded".format(shown, *sizes))


def _write_skill(folder: Path) -> None:
    from foldline.agent.install.files import read, replace
    from foldline.agent.refusals import Refused
    from foldline.agent.terminal import show
    from foldline.backends.formatting.visible import visible

    text = SKILL.read_text(encoding="utf-8")
    file = folder / "folded-sections" / "SKILL.md"
    before = read(file)
    if before is not None and before.splitlines()[:2] != text.splitlines()[:2]:
        raise Refused(f"{visible(str(file))} is another skill, and is left alone: rename it")
    replace(file, before, text)
    show(f"wrote {visible(str(file))}")


def _check(file: InstructionFile, source: InstructionFile, origin: Origin) -> int:
    from foldline.agent.terminal import complain, show
    from foldline.backends.formatting.visible import visible
    from foldline.ide.instructions import fold

    name, command = visible(file.path), f"`{visible(origin.command)}`"
    if file.text == fold.generate(source, origin.target, origin.opened):
        show(f"{name} is up to date")
        return 0
    if origin.digest != fold.digest_of(source.text):
        complain(f"{name} is out of date: {visible(source.path)} has changed; run {command}")
    else:
        complain(
            f"{name} was changed by hand: `foldline fold {name} --unfold` prints the whole text "
            f"for {visible(source.path)}; then run {command}"
        )
    return 1


def _suggest(workspace: Workspace, path: Path, file: InstructionFile) -> int:
    from foldline.agent.terminal import complain, show
    from foldline.ide.instructions import fold

    counter = workspace.folder(path).counter
    found = list(fold.candidates(file))
    for section in found:
        text = file.whole_text(section)
        line = file.text.count("\n", 0, section.start) + 1
        tokens = counter.format(counter.count(text))
        show(f"{file.path}:{line}: {section.title} ({tokens} tokens)")
    if not found:
        complain("no long section is without directives; mark one yourself, where you know better")
    return 0 if found else 1


def _print(text: str) -> None:
    """Print a text as it is; programs get UTF-8, whatever the locale."""
    from foldline.agent.terminal import is_styled, show

    if is_styled():
        show(text, end="")
    else:
        sys.stdout.buffer.write(text.encode())
