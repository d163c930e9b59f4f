"""The changes by which Markdown names files and sections that get other names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from posixpath import basename, dirname, join, normpath, relpath
from urllib.parse import quote, unquote

from foldline.backends.errors import PathError
from foldline.backends.outlines.syntax import ParseRefusedError
from foldline.backends.parsers.markdown import read_markdown
from foldline.ide.analysis.model import SourceSpan
from foldline.ide.analysis.prompt_files import OutOfTimeError, deadline
from foldline.ide.checks.diagnostic import Change
from foldline.ide.errors import RenameRefused
from foldline.ide.folder import Folder
from foldline.plugins.instructions.mentions import Kind, mentions
from foldline.plugins.instructions.targets import Tree

_SECONDS = 10.0
_ANCHOR = re.compile(r"#([^\s)>`\"']+)")


def follow(folder: Folder, names: Mapping[str, str], *, links: bool) -> Iterator[Change]:
    """Yield the changes of a folder's Markdown; what meant one thing means that afterwards.

    Raises:
        RenameRefused: A new name is taken, or a file can't be read or changed.
    """
    files, check, path = folder.access.file_backend, deadline(_SECONDS), ""
    words = {basename(one).rpartition("#")[2].lower() for pair in names.items() for one in pair}
    try:
        paths = tuple(stamp.path for stamp in files.walk_folder(".", check=check))
        trees = Tree(paths, str), Tree(tuple(_moved(one, names) for one in paths), str)
        if taken := [new for new in names.values() if trees[0].named(f"/{new}", "")]:
            raise RenameRefused(f"{taken[0]} exists already")
        for path in paths:
            check()
            if not path.endswith((".md", ".mdc", ".mdx", ".markdown")):
                continue
            text, file = files.load(path).text, folder.root / path
            plain = unquote(text).lower()
            if _moved(path, names) != path or any(word in plain for word in words):
                changes = [*_changes(path, text, names, *trees, links=links)]
                if changes and file.exists() and not file.stat().st_mode & 0o222:
                    raise RenameRefused(f"{path} has to change, and can only be read")
                yield from (Change(SourceSpan(str(file), *place), new) for place, new in changes)
    except (PathError, ParseRefusedError, OutOfTimeError) as error:
        why = f"{error}" or f"all Markdown takes more than {_SECONDS:.0f} s"
        raise RenameRefused(f"{path}, which may name it, can't be read: {why}") from error


def _changes(
    path: str, text: str, renamed: Mapping[str, str], before: Tree, after: Tree, *, links: bool
) -> Iterator[tuple[tuple[int, int], str]]:
    markdown, folder, here = read_markdown(text), dirname(path), dirname(_moved(path, renamed))
    targets = dict(markdown.link_targets())
    names = {start: text[start:end].partition("#")[0] for start, end in targets.items()}
    names |= {one.start: one.name for one in mentions(markdown) if one.kind == Kind.PATH}
    for start, name in names.items():
        end, plain = start + len(name), unquote(name) if start in targets else name
        meant = before.named(plain, folder) if name else [path]
        if len(meant) != 1:
            continue
        target = _moved(meant[0], renamed)
        may_change = name and (links or start not in targets)
        is_relative = normpath(join(folder, plain)) == meant[0]
        # Others than foldline find what links and imports name from their folder alone.
        is_strict = is_relative and (start in targets or text[start - 1] == "@")
        is_wrong = is_strict and normpath(join(here, plain)) != target
        if may_change and (is_wrong or after.named(plain, here) != [target]):
            lead = "./" if plain.startswith("./") else "/" * plain.startswith("/")
            # From the folder around it, as dots alone are no name.
            above = relpath(dirname(target) or ".", here or ".")
            ways = [target, normpath(join(above, basename(target)))][:: -1 if is_relative else 1]
            fitting = (way for way in ways if after.named(lead + way, here) == [target])
            for way in islice(fitting, 1):
                new = f"{lead}{way}{'/' * plain.endswith('/')}"
                if start in targets and text[start - 1] != "<":
                    new = re.sub(r"[\s()<>%#?]", lambda one: quote(one[0]), new)
                yield (start, end), new
        anchor = _ANCHOR.match(text, end)
        section = anchor and renamed.get(f"{meant[0]}#{unquote(anchor[1]).lower()}")
        if anchor and section:
            new = section.rpartition("#")[2]
            yield anchor.span(1), quote(new) if "%" in anchor[1] else new


def _moved(path: str, names: Mapping[str, str]) -> str:
    above = path
    while above and above not in names:
        above = dirname(above)
    return f"{names[above]}{path[len(above) :]}" if above else path
