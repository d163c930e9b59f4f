"""The changes by which Markdown names files and sections that get other names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
# Links may lead out of the root.
_DEEP = "/_" * 64


def follow(folder: Folder, names: Mapping[str, str]) -> Iterator[Change]:
    """Yield the changes of a folder's Markdown; what meant one thing means that afterwards.

    Raises:
        RenameRefused: A file that may have to change can't be read.
    """
    files, check, path = folder.access.file_backend, deadline(_SECONDS), ""
    words = {basename(one).rpartition("#")[2].lower() for pair in names.items() for one in pair}
    try:
        paths = tuple(stamp.path for stamp in files.walk_folder(".", check=check))
        trees = Tree(paths, str), Tree(tuple(_moved(one, names) for one in paths), str)
        for path in paths:
            check()
            if path.endswith((".md", ".mdc", ".mdx", ".markdown")):
                text = files.load(path).text
                plain = unquote(text).lower()
                if _moved(path, names) != path or any(word in plain for word in words):
                    for start, end, new in _changes(path, text, names, *trees):
                        yield Change(SourceSpan(str(folder.root / path), start, end), new)
    except (PathError, ParseRefusedError, OutOfTimeError) as error:
        why = f"{error}" or f"all Markdown takes more than {_SECONDS:.0f} s"
        raise RenameRefused(f"{path}, which may name it, can't be read: {why}") from error


def relative(written: str, path: str, folder: str) -> str:
    """Return a path from the root as a name from a folder, in the style of one that is written."""
    new = relpath(join(_DEEP, path), join(_DEEP, folder))
    start = "./" * (written.startswith("./") and len(written) > len("./"))
    return start + new + "/" * written.endswith("/")


def _changes(
    path: str, text: str, renamed: Mapping[str, str], before: Tree, after: Tree
) -> Iterator[tuple[int, int, str]]:
    markdown, folder, here = read_markdown(text), dirname(path), dirname(_moved(path, renamed))
    links = dict(markdown.link_targets())
    names = {start: text[start:end].partition("#")[0] for start, end in links.items()}
    paths = (one for one in mentions(markdown) if one.kind == Kind.PATH)
    # In drawings, a name is a part of its path.
    names |= {one.start: one.name for one in paths if text.startswith(one.name, one.start)}
    for start, name in names.items():
        end, plain = start + len(name), unquote(name) if start in links else name
        meant = before.named(plain, folder) if name else [path]
        if len(meant) != 1:
            continue
        target, is_relative = _moved(meant[0], renamed), normpath(join(folder, plain)) == meant[0]
        # Others than foldline find what links and imports name from their folder alone.
        is_strict = is_relative and (start in links or text[start - 1] == "@")
        is_kept = normpath(join(here, plain)) == target or not is_strict
        if name and not (is_kept and after.named(plain, here) == [target]):
            from_root = "/" * plain.startswith("/") + target + "/" * plain.endswith("/")
            ways = [from_root, relative(plain, target, here)][:: -1 if is_relative else 1]
            new = next((way for way in ways if after.named(way, here) == [target]), "")
            if start in links and text[start - 1] != "<":
                new = re.sub(r"[\s()<>%#?]", lambda one: quote(one[0]), new)
            elif text[start - 1] == "@":
                new = new.replace(" ", "\\ ")
            if new:
                yield start, end, new
        anchor = _ANCHOR.match(text, end)
        if anchor and (section := renamed.get(f"{meant[0]}#{unquote(anchor[1]).lower()}")):
            new = section.rpartition("#")[2]
            yield *anchor.span(1), quote(new) if "%" in anchor[1] else new


def _moved(path: str, names: Mapping[str, str]) -> str:
    above = path
    while above and above not in names:
        above = dirname(above)
    return f"{names[above]}{path[len(above) :]}" if above else path
