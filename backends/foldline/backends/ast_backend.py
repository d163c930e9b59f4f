"""Outlines, symbols and references from syntax trees: needs no set-up and is never down."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from foldline.backends import references as by_name
from foldline.backends.base.languages import language_of
from foldline.backends.base.path_kinds import is_test_path
from foldline.backends.base.waiting import coroutine_of, waits
from foldline.backends.errors import InvalidArgumentError, PathError, SymbolNotFoundError
from foldline.backends.files.source import Source, count_lines, from_text
from foldline.backends.formatting.text import files_text, sentences
from foldline.backends.models import (
    COMPLETE,
    CUT_SHORT,
    FileOutline,
    Reference,
    ReferenceKind,
    References,
)
from foldline.backends.outlines.outline_cache import OutlineCache
from foldline.backends.outlines.parsing import Parsed, Parsing, Refused
from foldline.backends.outlines.symbols import detail_of, locate
from foldline.backends.references.references_cache import FileUses, UsesCache
from foldline.backends.references.spelling import is_name, key_of, token_of, word_of
from foldline.backends.search.walks import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from foldline.backends.files.base import FileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.models import SymbolDetail
    from foldline.backends.parsers.outline_builder import Outline
    from foldline.backends.references.bases import FileTypes

NAME = "ast"
# How many files are parsed before the references in them are counted.
_FIRST_BATCH = 8
# In how many files with a name all definitions are looked for.
_MOST_SEEN = 16


class ASTFileAnalysisBackend:
    """The analysis that always answers, from tree-sitter, and from indentation without a grammar.

    With an index, references look only into files that hold the word; without one, into all.
    """

    name = NAME

    def __init__(
        self,
        files: FileBackend,
        index: WorkspaceIndex | None = None,
        parsing: Parsing | None = None,
    ) -> None:
        self._files = files
        self._index = index
        self._parsing = parsing or Parsing()
        self._cache = OutlineCache(index)
        self._uses = UsesCache()

    @property
    def knows_types(self) -> bool:
        """True if `defining_files` finds every file that defines a type."""
        return self._index is not None

    def get_outline(self, file_path: str, *, source: str | None = None) -> FileOutline:
        """The file's definitions, however broken the rest of it is."""
        return self._outline(self._source(file_path, source))

    def read_symbol(
        self, file_path: str, symbol_name: str, *, source: str | None = None
    ) -> SymbolDetail | None:
        """One definition with its decorators and leading comments; None where there is none.

        Raises:
            AmbiguousSymbolError: with the candidates' names.
        """
        read = self._source(file_path, source)
        outline = self._outline(read)
        try:
            located = locate(read.path, outline.symbols, symbol_name)
        except SymbolNotFoundError:
            return None
        return detail_of(located, read, NAME, reason=outline.reason)

    @waits
    async def find_references(
        self,
        symbol_name: str,
        scope: str | None = None,
        *,
        source: str | None = None,
        since: float | None = None,
        most: int | None = None,
        labelled: set[str] | None = None,
    ) -> References:
        """The identifiers that are the last part of `symbol_name`, in code only.

        Files that define it come first, tests last. `source` stands for the text of `scope`, which
        is then a file. `since`, a `time.monotonic`, is when the caller asked: files that were
        checked after it for another part of the same query are not checked again.

        With `most`, no file is parsed after the first that have as many references together; the
        coverage says how many were left. These first files are those of the whole answer, except
        that the index says which define the name. With `labelled` files, uses in others that don't
        define the name may have no kind.
        """
        name = key_of(symbol_name.rpartition(".")[2].strip()) or symbol_name.strip()
        if not is_name(name):
            raise InvalidArgumentError("name", f"{symbol_name!r} is not an identifier")
        within = Scope(self._files, scope)
        if source is not None and scope is not None:
            texts = [from_text(self._files.resolve(scope), source)]
            return _gathered(name, scope, self._search(texts, name))
        paths, coverage, notes = await self._candidates(name, within, since)
        if not paths:
            within.check()
        # A single file needs no order.
        defining = set(self.files_defining(name, paths, since) if len(paths) > 1 else ())
        ordered = sorted(paths, key=lambda path: (is_test_path(path), path not in defining, path))
        labelled = None if labelled is None else labelled | defining
        references: list[Reference | Refused] = []
        parsed, size = 0, len(paths) if most is None else _FIRST_BATCH
        while parsed < len(paths) and (most is None or len(references) < most):
            batch = ordered[parsed : parsed + size]
            references += self._search(self._loaded(batch), name, labelled)
            parsed, size = parsed + len(batch), 2 * size
        if parsed < len(paths):
            left = f"{CUT_SHORT} {len(paths) - parsed} more files; give a scope"
            coverage = left if coverage == COMPLETE else f"{coverage}; {left}"
        # Pages follow each other only if each has the order in which files are parsed.
        places = {path: at for at, path in enumerate(ordered)} if self._index else None
        return _gathered(name, scope, references, coverage=coverage, notes=notes, places=places)

    def _loaded(self, paths: Iterable[str]) -> Iterator[Source]:
        for path in paths:
            # Gone, or not text: it has no identifiers now.
            with suppress(PathError):
                yield self._files.load(path)

    @waits
    async def defining_files(
        self, name: str, owner: str = "", since: float | None = None
    ) -> tuple[list[str], str]:
        """Files that seem to define the name now, with `owner` in their text or their paths.

        As of `since` or later, with the coverage of the index. Without one, the list is empty.
        """
        if self._index is None:
            return [], COMPLETE
        files_with = coroutine_of(self._index.files_with)
        since = time.monotonic() if since is None else since
        if not (word := word_of(name)):
            return await coroutine_of(self.writing_files)(name), COMPLETE
        paths, coverage, _ = await files_with(word, since=since, defined=True)
        if not word_of(owner) or not paths:
            # Some definitions are seen in trees alone.
            every = (await files_with(word, since=since)).paths if paths else ()
            others = {*every} - {*paths} if len(every) <= _MOST_SEEN else ()
            return [*paths, *sorted(others)], coverage
        within, completeness, _ = await files_with(word_of(owner), since=since)
        related = {*within}
        defining = [path for path in paths if path in related or f"/{owner}" in f"/{path}"]
        return defining, coverage if completeness == COMPLETE else completeness

    @waits
    async def writing_files(self, name: str, since: float | None = None) -> list[str]:
        """All files that define the name or assign to it; those with the name are parsed."""
        if not is_name(name):
            return []
        kinds = {ReferenceKind.DEFINITION, ReferenceKind.WRITE}
        uses = await coroutine_of(self.find_references)(name, since=since)
        return list(dict.fromkeys(use.path for use in uses if use.kind in kinds))

    def definitions_in(self, path: str, name: str) -> list[Reference]:
        """The definitions of a name in a file that the index or a walk gave."""
        uses = self._search(self._loaded([path]), name)
        definitions = [use for use in uses if isinstance(use, Reference)]
        return [use for use in definitions if use.kind == ReferenceKind.DEFINITION]

    def files_defining(
        self, name: str, within: Iterable[str] | None = None, since: float | None = None
    ) -> list[str]:
        """Code, or what of it is `within`, that seemed to define the name when last indexed."""
        if self._index is None:
            return []
        scope_paths = None if within is None else {*within}
        paths = self._index.last_defining(word_of(name), scope_paths, since)
        return [path for path in paths if by_name.can_have_references(language_of(path))]

    async def _candidates(
        self, name: str, within: Scope, since: float | None
    ) -> tuple[list[str], str, tuple[str, ...]]:
        if within.single_file is not None:
            return [within.single_file], COMPLETE, ()
        word = word_of(name)
        if self._index is None or not word:
            paths = [stamp.path for stamp in within.walk()]
            # The index has no operators.
            paths = [path for path in paths if word or token_of(language_of(path), name)]
            paths = [path for path in paths if by_name.can_have_references(language_of(path))]
            return paths, COMPLETE, ()
        candidates = await coroutine_of(self._index.files_with)(word, since=since)
        paths = [path for path in candidates.paths if within.holds(path)]
        return paths, candidates.coverage, tuple(note for note in candidates.notes if note)

    def types_in(self, path: str) -> FileTypes | None:
        """The types of a file with their bases; None where it isn't read, or has none to know."""
        for source in self._loaded([path]):
            language = language_of(path, data := source.parse_data)
            if by_name.unseen_in(language) is not None:
                return self._parsing.types(Parsed(path, language, data))
        return None

    def _search(
        self, sources: Iterable[Source], name: str, labelled: set[str] | None = None
    ) -> Iterator[Reference | Refused]:
        from foldline.backends.references.references import tokens_in_source

        word = (word_of(name) or name).encode("utf-8", "replace")
        kept = self._uses.get(name)
        files: dict[str, FileUses] = {}
        digests: dict[str, bytes] = {}
        tokens: list[Reference] = []

        def unknown() -> Iterator[Parsed]:
            for source in sources:
                data = source.parse_data
                language = language_of(source.path, data)
                if word not in data or not by_name.can_have_references(language):
                    continue
                parsed, file = Parsed(source.path, language, data), kept.get(source.path)
                digest = parsed.digest()
                if file is not None and file.digest == digest:
                    files[source.path] = file
                elif (
                    labelled is not None
                    and source.path not in labelled
                    and (uses := tokens_in_source(*parsed, name)) is not None
                ):
                    tokens.extend(uses)
                else:
                    digests[source.path] = digest
                    yield parsed

        by_path: dict[str, list[Reference]] = {}
        for item in self._parsing.references(unknown(), name):
            if isinstance(item, Refused):
                del digests[item.path]
                yield item
            else:
                by_path.setdefault(item.path, []).append(item)
        for path, digest in digests.items():
            files[path] = FileUses(digest, tuple(by_path.get(path, ())))
        self._uses.keep(name, files)
        yield from tokens
        for file in files.values():
            yield from file.uses

    def _source(self, path: str, text: str | None) -> Source:
        if text is None:
            return self._files.read_source(path)
        return from_text(self._files.resolve_unsaved(path), text)

    def _outline(self, source: Source) -> FileOutline:
        language, parsed = self._parsed(source)
        return FileOutline(
            source.path,
            language,
            tuple(parsed.imports),
            parsed.symbols,
            count_lines(source.parse_data),
            parsed.docstring,
            tuple(parsed.exports),
            sentences(parsed.reason, source.note),
            NAME,
        )

    def _parsed(self, source: Source) -> tuple[str, Outline]:
        data = source.parse_data
        language = language_of(source.path, data)
        key, outline = self._cache.get(language, data)
        if outline is None:
            outline = self._parsing.outline(Parsed(source.path, language, data))
            self._cache.keep(key, data, outline)
        return language, outline


def _gathered(
    name: str,
    scope: str | None,
    found: Iterable[Reference | Refused],
    *,
    coverage: str = COMPLETE,
    notes: tuple[str, ...] = (),
    places: Mapping[str, int] | None = None,
) -> References:
    """The references by file: in the order of `places`, or those that define the name first."""
    found = list(found)
    references = by_name.settled(uses := [item for item in found if not isinstance(item, Refused)])
    refused = [item for item in found if isinstance(item, Refused)]
    gaps = [coverage if coverage != COMPLETE else ""]
    if refused:
        others = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        gaps.append(f"without {refused[0].path}{others}")
        notes = (*notes, f"{refused[0].path}: {refused[0].reason}")
    if broken := {use.path for use in uses if use.tier == by_name.BROKEN}:
        gaps.append(f"what doesn't parse in {files_text(len(broken))} is read as text")
    coverage = sentences(*gaps) or COMPLETE
    defining = {use.path for use in references if use.kind == ReferenceKind.DEFINITION}
    references.sort(
        key=lambda use: (
            places.get(use.path, 0) if places else 0,
            *(use.test, not places and use.path not in defining, use.path, use.line, use.column),
        )
    )
    if not references and coverage == COMPLETE:
        where = f" below {scope}" if scope else ""
        notes = (f"no code{where} mentions `{name}`", *notes)
    return References(
        name,
        tuple(references),
        len(references),
        len({use.path for use in references}),
        scope,
        None,
        "; ".join(notes),
        NAME,
        coverage,
    )
