"""One way in to the code of a workspace, from the cheapest look at it to whole files."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from foldline.backends import formatting, outlines, ranking, references, search
from foldline.backends.base.near_names import did_you_mean
from foldline.backends.base.waiting import coroutine_of, waits
from foldline.backends.engine import engine_of
from foldline.backends.errors import InvalidArgumentError, PathError, SymbolError
from foldline.backends.fallback import DEFAULT_SECONDS, check_seconds
from foldline.backends.files.local import LocalFileBackend
from foldline.backends.files.tree import build_tree
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.text import sentences
from foldline.backends.formatting.text_pages import page_text
from foldline.backends.index import DEFAULT_PATIENCE, Watcher, WorkspaceIndex
from foldline.backends.models import COMPLETE
from foldline.backends.references.navigation import CodeNavigation
from foldline.backends.references.references_cache import ReferencesCache
from foldline.backends.search.walks import WALK_SECONDS, Scope, Walks, left_out

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from foldline.backends.engine import Engine
    from foldline.backends.files.base import FileBackend
    from foldline.backends.lsp import ServerStatus
    from foldline.backends.models import (
        FileOutline,
        FileText,
        FileTree,
        GrepResults,
        References,
        SearchResults,
        SymbolDetail,
        SymbolDetails,
        SymbolResults,
    )
    from foldline.backends.outlines.analysis import Analysis
    from foldline.backends.outlines.locations import Position
    from foldline.backends.outlines.parsing import Parsing
    from foldline.backends.protocol import MinimalBackend

_SEARCH_SECONDS = 10.0
# Files of a glob whose lines are counted.
_MOST_COUNTED = 500


class SmartFileAccess(CodeNavigation):
    r"""Reads a workspace at the cheapest level that answers: tree, outline, symbol, lines, file.

    The language server backend, where there is one, adds what only it knows
    (`two_tier_references` says how); whatever it raises, the analysis backend answers, and
    `backend` names the one that did. Without an analysis backend, syntax trees answer. Every method
    may be called from several threads.

    A `budget` is in bytes of the answer's text form (`foldline.backends.text`); None sets no limit,
    and `foldline.backends.formatting.budget` has defaults for models. The answer's `cursor` asks
    for what a budget left out.

    >>> import tempfile, pathlib
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (root / "shop.py").write_text("class Cart:\n    def total(self) -> int: ...\n")
    >>> access = SmartFileAccess.for_workspace(root)
    >>> [symbol.signature for symbol in access.get_outline("shop.py")]
    ['class Cart']
    >>> access.read_symbol("shop.py", "Cart.total").body
    '    def total(self) -> int: ...'
    """

    def __init__(
        self,
        file_backend: FileBackend,
        analysis_backend: MinimalBackend | None = None,
        lsp_backend: Engine | MinimalBackend | None = None,
        *,
        index: WorkspaceIndex | None = None,
        parsing: Callable[[], Parsing] | None = None,
        walk_seconds: float | None = WALK_SECONDS,
    ) -> None:
        self._files = file_backend
        self._walks = Walks(file_backend, walk_seconds)
        self._search_seconds = None if walk_seconds is None else _SEARCH_SECONDS
        self._analysis_backend = analysis_backend
        self._parsing = parsing
        # The engine so far; servers are loaded, in trust or not, by a query that may start one.
        self._loaded = engine_of(lsp_backend, file_backend)
        self._servers_trusted: bool | None = None
        self._loading = Lock()
        self._index = index
        self._answers = ReferencesCache()
        self._watcher: Watcher | None = None

    @classmethod
    def for_workspace(
        cls,
        root: str | os.PathLike[str],
        *,
        overlays: Mapping[str, str] | None = None,
        lsp_backend: Engine | MinimalBackend | None = None,
        language_servers: bool = False,
        trusted: bool = False,
        parsing: Callable[[], Parsing] | None = None,
        no_ignore: bool = False,
        patience: float | None = DEFAULT_PATIENCE,
        walk_seconds: float | None = WALK_SECONDS,
        progress: Callable[[int, int], None] | None = None,
    ) -> SmartFileAccess:
        """Access to the files of the disk below `root`; `overlays` are open buffers by path.

        The index that references and searches use is built with the first of them, or earlier in
        the background with `start_indexing`; `patience` is how many seconds a search waits for it
        before it reads what is missing and says `partial: indexing`; with None it waits as long as
        that takes. Without `walk_seconds`, and then too, huge folders are listed to their end.
        `progress` gets the files done and in all. With `no_ignore` nothing is hidden, and no index
        is kept. `parsing` returns where sources are parsed, once the first is.

        With `language_servers`, those found on this machine are started when first needed; in a
        `trusted` workspace also those that may run its code. `close()` stops what runs.
        """
        files = LocalFileBackend(root, no_ignore=no_ignore)
        for path, text in (overlays or {}).items():
            files.set_overlay(path, text)
        index = None if no_ignore else WorkspaceIndex(files, patience=patience, progress=progress)
        walk_seconds = None if patience is None else walk_seconds
        access = cls(
            files, None, lsp_backend, index=index, parsing=parsing, walk_seconds=walk_seconds
        )
        if language_servers and lsp_backend is None:
            access._servers_trusted = trusted
        return access

    @cached_property
    def _engine(self) -> Engine:
        with self._loading:
            trusted, self._servers_trusted = self._servers_trusted, None
            if trusted is not None:
                from foldline.backends.lsp import LSPBackend

                self._loaded = LSPBackend(self._files, trusted=trusted)
            return self._loaded

    @cached_property
    def _analysis(self) -> Analysis:
        """The syntax trees' backend, loaded with the first query that needs it."""
        from foldline.backends.ast_backend import ASTFileAnalysisBackend

        if self._analysis_backend is None:
            parsing = None if self._parsing is None else self._parsing()
            return ASTFileAnalysisBackend(self._files, self._index, parsing)
        return outlines.analysis_of(self._analysis_backend, self._files, self._index)

    @property
    def file_backend(self) -> FileBackend:
        """The files that are read, with their overlays."""
        return self._files

    @property
    def index(self) -> WorkspaceIndex | None:
        """The index of identifiers, where there is one."""
        return self._index

    def start_indexing(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Build or update the index in the background; `progress` replaces our own."""
        if self._index is not None:
            self._index.start(progress)

    def watch(self) -> None:
        """Keep the index up to date from now on, while files change; a server does this once."""
        if self._index is not None and self._watcher is None:
            self._watcher = Watcher(self._files.root, self._index)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop what runs in the background, language servers too. May be called twice."""
        with self._loading:
            self._servers_trusted = None
        self._loaded.close()
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None
        if self._index is not None:
            self._index.close()

    def warm_up(self) -> None:
        """Begin in the background what the first query about names would wait for.

        The language server for most of the files is started, if one may be.
        """
        if self._index is not None:
            self._index.recall()
        self._engine.warm_up()

    @waits
    async def server_status(self) -> tuple[ServerStatus, ...]:
        """The status of the language servers that were used so far."""
        return await coroutine_of(self._loaded.status)()

    @waits
    async def restart_servers(self, name: str | None = None) -> tuple[ServerStatus, ...]:
        """Stop the language servers, or those called `name`; each starts afresh when next asked.

        Returns the status of those that were stopped. Queries that wait for them are answered
        from syntax trees, and their earlier answers are forgotten.
        """
        self._answers = ReferencesCache()
        return await coroutine_of(self._loaded.restart)(name)

    @waits
    async def get_tree(
        self,
        path: str = ".",
        *,
        glob: str | None = None,
        depth: int | None = None,
        query: str | None = None,
        budget: int | None = None,
        cursor: str | None = None,
        no_ignore: bool = False,
    ) -> FileTree:
        """The folder's files with sizes; folders that do not fit are counted, not cut.

        With a `query`, it has the ten files that it is about, as `search_files` ranks them, with
        their ranks. With a `glob`, it has the files that match, with their lines. Of a huge folder,
        these are the files listed within a few seconds, and `coverage` says so.
        """
        start = self._files.resolve_folder(path, no_ignore=no_ignore)
        if depth is not None and depth < 0:
            raise InvalidArgumentError("depth", f"must be 0 or more, not {depth}")
        if self._index is not None and not no_ignore:
            self._index.recall()
        ranked, coverage = None, COMPLETE
        if query is not None:
            ranked_files = await search.rank_files(
                self._files, self._walks, self._index, query, start
            )
            ranked, coverage = [*ranked_files.paths], ranked_files.coverage
        walked = await self._walks.below(start, no_ignore=no_ignore, by_level=True)
        lines_of = None
        if glob is not None:
            scope = Scope(self._files, glob, no_ignore=no_ignore)
            stamps = tuple(stamp for stamp in walked.stamps if scope.holds(stamp.path))
            if not stamps:
                scope.check([stamp.path for stamp in walked.stamps])
            walked = replace(walked, stamps=stamps, ignored=())
            lines_of = self._line_count if len(stamps) <= _MOST_COUNTED else None
        return build_tree(
            start,
            walked.stamps,
            ignored=len(walked.ignored),
            left_out="" if walked.stamps else left_out(self._files, walked),
            coverage=walked.coverage if coverage == COMPLETE else coverage,
            ranked=ranked,
            lines_of=lines_of,
            problems=walked.problems,
            refused=walked.refused,
            depth=depth,
            budget=budget,
            cursor=cursor,
        )

    def _line_count(self, path: str) -> int:
        try:
            return len(self._files.load(path).lines)
        except PathError:
            return 0

    @waits
    async def get_outline(self, file: str, *, query: str | None = None) -> FileOutline:
        """The file's definitions, signatures and imports, without bodies.

        With a `query`, keywords or a text of any length, its `matches` name the definitions that it
        is about, ranked by their names, signatures and bodies. Its text shows the best of them, and
        the names of all others.
        With the name of a class, the text shows the class and what it inherits.
        """
        outline = await references.get_outline(self._files, self._analysis, self._loaded, file)
        if not query or not query.strip():
            return outline
        asked = replace(outline, query=query)
        if formatting.class_parts(asked):
            inherited = await self.names().types.inherited(outline.path, query.strip())
            return replace(asked, inherited=inherited)
        return ranking.with_matches(outline, self._files.read_source(outline.path).lines, query)

    @waits
    async def read_symbol(
        self,
        file: str,
        name: str,
        *,
        query: str | None = None,
        budget: int | None = None,
        cursor: str | None = None,
        seconds: float = DEFAULT_SECONDS,
    ) -> SymbolDetail:
        """The source of one definition: `name`, `Class.method`, or `name[2]` for the second.

        A name that the file only imports is shown from its definition elsewhere, and `notes` says
        so: a language server gets `seconds` to find it; with 0 it is not asked. A class over the
        budget is first shown as its outline, and the cursor asks for the source. With a `query`,
        that outline has what matches it, and of a function over the budget the head and the lines
        that match are shown first.

        Raises:
            SymbolNotFoundError: with the nearest names.
            AmbiguousSymbolError: with the candidates' names.
        """
        detail = await self._symbol(file, name, seconds)
        return formatting.page_symbol(detail, budget, cursor, query)

    async def _symbol(self, file: str, name: str, seconds: float) -> SymbolDetail:
        check_seconds(seconds)
        asked = (self._files, self._analysis, self._loaded, file, name)
        meant: dict[str, Any] = {"servers": lambda: self._engine, "names": self.names()}
        return await references.read_symbol(*asked, **meant, seconds=seconds)

    @waits
    async def read_symbols(
        self,
        file: str,
        names: Sequence[str],
        *,
        query: str | None = None,
        budget: int | None = None,
        seconds: float = DEFAULT_SECONDS,
    ) -> SymbolDetails:
        """The sources of several definitions, as `read_symbol` gives each; they share the budget.

        Small ones are whole, and large ones share what is left. A name of several parts stands for
        all of them: accessors of a property, overloads, a type and its `impl` blocks.

        Raises:
            SymbolError: The file has none of them.
        """
        budgets.check_budget(budget)
        if not names:
            raise InvalidArgumentError("names", "is empty; get_outline lists what the file has")
        details: list[SymbolDetail] = []
        problems: list[SymbolError] = []
        waiting = list(dict.fromkeys(names))
        parts: set[str] = set()
        while waiting:
            name = waiting.pop(0)
            try:
                detail = await self._symbol(file, name, seconds)
                details.append(replace(detail, qualified_name=name) if name in parts else detail)
            except SymbolError as error:
                named_parts = getattr(error, "parts", ())
                parts.update(named_parts)
                waiting[:0] = named_parts
                if not named_parts:
                    problems.append(error)
        if problems and not details:
            raise problems[0]
        return formatting.share_budget(details, problems, budget, query)

    @waits
    async def find_references(
        self,
        name: str,
        scope: str | None = None,
        *,
        budget: int | None = None,
        cursor: str | None = None,
        seconds: float = DEFAULT_SECONDS,
    ) -> References:
        """The uses of `name` in the workspace, or in the file, folder or glob `scope`.

        Grouped by file, those that define the name first and tests last; then, as `text`, the
        lines of other files that have the word. The totals count all,
        unless `coverage` says that files were left out: with a budget, uses that no page could show
        are not looked for.
        A language server, where there is one, gets `seconds` to confirm them, and the confirmed
        ones come first; with 0 it is not asked, and when it is late `coverage` says so.
        """
        since = monotonic()
        budgets.check_budget(budget)
        if self._index is not None:
            self._index.recall()
        check_seconds(seconds)
        if seconds > 0:
            # It starts while these are imported.
            self._engine.warm_up(since)
        first = formatting.first_reference(cursor)
        names = self.names()
        names.check(name)

        asked: dict[str, Any] = {"scope": scope, "seconds": seconds, "since": since}
        asked["most"] = formatting.most_references(first, budget)
        asked["page"] = None if budget is None else (first, budget)

        async def uses(name: str, target: Position | None = None) -> References:
            return await self._references_query(names, name=name, target=target, **asked).run()

        if names.place(name):
            target = await coroutine_of(self.find_position)(None, name)
            answer = await uses(target.name, target)
            if not answer.said and answer.name not in name:
                answer = replace(answer, said=f"{name} is {answer.name}")
        else:
            answer = await uses(word := references.spelled(name))
            if not answer.references and (plain := references.unmarked(word)) != word:
                answer = replace(await uses(plain), said=f"{word} taken for {plain}")
        if not answer.references:
            meant = await names.in_another_case(references.spelled(name))
            if meant is not None:
                answer = replace(await uses(meant.found[0].name), said=meant.said)
            elif not answer.said:
                near = did_you_mean(names.near(answer.name))
                answer = replace(answer, reason=f"{answer.reason}{near}".removeprefix("; "))
            if not answer.references:
                reason = sentences(answer.reason, await self.left_out(scope, of_code=True))
                answer = replace(answer, reason=reason)
        if not first:
            # Of the files with a word, the last answer is kept: code is asked about before texts.
            strings = await references.said_of_strings(answer, self._files, self._index, since)
            answer = await references.with_text(answer, self._files, self._index, since)
            answer = replace(answer, reason=sentences(answer.reason, strings))
        return formatting.page_references(answer, first, budget)

    def read_lines(self, file: str, start: int, end: int, *, no_ignore: bool = False) -> str:
        """The lines `start` to `end`, counted from 1, both included, joined by newlines."""
        return self._files.read_lines(file, start, end, no_ignore=no_ignore)

    def read_file(self, file: str, *, no_ignore: bool = False) -> str:
        """The whole text: the last resort, after outline, symbols and lines."""
        return self._files.read_file(file, no_ignore=no_ignore)

    def read_text(
        self,
        file: str,
        start: int = 1,
        end: int | None = None,
        *,
        budget: int | None = None,
        cursor: str | None = None,
        no_ignore: bool = False,
    ) -> FileText:
        """Whole lines from `start` to `end` or the file's end, as many as the budget holds.

        A file over the size limit needs an `end`.
        """
        return page_text(
            self._files, file, start, end, budget=budget, cursor=cursor, no_ignore=no_ignore
        )

    @waits
    async def search_files(
        self, query: str, *, budget: int | None = None, cursor: str | None = None
    ) -> SearchResults:
        """The files that `query`, some keywords or a text of any length, is about.

        Best first, with reasons: the words of the paths, of the symbols that they define, and of
        the text. A symbol or a path that the query names counts most; a name that exists counts as
        a whole, not by its parts. With a budget, a page has up to eight files and ends where the
        score falls.
        """
        return await search.search_files(
            self._files,
            self._walks,
            self._index,
            self._analysis,
            query,
            budget=budget,
            cursor=cursor,
        )

    @waits
    async def search_symbols(
        self, query: str, *, files: Sequence[str] | None = None
    ) -> SymbolResults:
        """The definitions that `query`, some keywords or a text of any length, is about.

        They are those of `files`, or of the files that match best. Long classes are left out in
        favour of their members.
        """
        return await search.search_symbols(
            self._files, self._walks, self._index, self._analysis, query, within=files
        )

    @waits
    async def grep(
        self,
        pattern: str,
        glob: str | None = None,
        *,
        context: int = 0,
        ignore_case: bool = False,
        show: str = "lines",
        budget: int | None = None,
        cursor: str | None = None,
        no_ignore: bool = False,
    ) -> GrepResults:
        """The lines that match a regular expression, in bounded time whatever the pattern.

        Code comes first, then tests, then other text. Pages of a budget begin with three lines of
        each file. `show` may be `files` or `counts`, which have no lines. Matches span lines where
        the pattern has a newline, and a pattern that matches nothing is taken as plain text.
        Of a huge folder, these are the matches found within a few seconds; `coverage` says so.
        """
        return await search.grep_files(
            self._files,
            self._walks,
            self._index,
            pattern,
            glob,
            context=context,
            ignore_case=ignore_case,
            show=show,
            budget=budget,
            cursor=cursor,
            no_ignore=no_ignore,
            seconds=self._search_seconds,
        )
