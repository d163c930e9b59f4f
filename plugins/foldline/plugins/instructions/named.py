"""The instruction files and prompts that name a definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from foldline.backends import SmartFileAccess
from foldline.backends.errors import PathError
from foldline.backends.files.base import FileBackend
from foldline.backends.models import NamedIn, ReferenceKind, References
from foldline.backends.outlines.syntax import ParseRefusedError
from foldline.ide.analysis.project import Project
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.instructions.files import instructs
from foldline.plugins.instructions.mentions import Kind, Mention, mentions, mentions_of
from foldline.plugins.instructions.targets import Targets

_MOST_FILES = 50


def named(
    access: SmartFileAccess, found: References, texts: Iterable[str], modules: Iterable[str]
) -> Iterator[NamedIn]:
    """Yield the places in instruction files and prompts that name what is referred to.

    They are among these texts and modules. They are no uses: nothing else counts them. Names that
    may mean another definition are left out.
    """
    backend, word = access.file_backend, found.name.rpartition(".")[2]
    files = [path for path in texts if instructs(backend.root / path, backend.root)]
    code = [path for path in modules if path.endswith(".py")]
    for paths, read in ((files, _in_file), (code, _in_prompts)):
        for path in paths[:_MOST_FILES]:
            if some := [*read(backend, path, word)]:
                yield from _meant(access, found, path, some)


def _in_file(files: FileBackend, path: str, word: str) -> Iterator[tuple[Mention, NamedIn]]:
    """Yield the mentions of a word in an instruction file, with their places."""
    with suppress(PathError, ParseRefusedError):
        file = InstructionFile(path, files.load(path).text)
        for one in mentions(file.markdown):
            if one.kind == Kind.SYMBOL and one.word == word:
                around = (part.key for part in file.sections if part.start <= one.start < part.own)
                yield one, NamedIn(path, file.line(one.start), next(around, ""))


def _in_prompts(files: FileBackend, path: str, word: str) -> Iterator[tuple[Mention, NamedIn]]:
    """Yield the mentions of a word in a module's prompts, with their places."""
    analysis = Project(files.root).analysis(str(files.root / path))
    if analysis is not None:
        for one, span in mentions_of(analysis):
            if one.kind == Kind.SYMBOL and one.word == word:
                yield one, NamedIn(path, analysis.text.count("\n", 0, span.start) + 1, "")


def _meant(
    access: SmartFileAccess, found: References, path: str, some: Sequence[tuple[Mention, NamedIn]]
) -> Iterator[NamedIn]:
    """Yield the places of the mentions that mean a definition whose uses these are."""
    targets, kind = Targets(access, path), ReferenceKind.DEFINITION
    defined = {(use.path, use.line) for use in found if use.kind == kind and use.tier != "another"}
    for mention, span in some:
        meant = {(one.path, one.line) for one in targets.symbols(mention)}
        if meant & defined or (not meant and mention.dotted == found.name):
            yield span
