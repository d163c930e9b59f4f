"""Resolves the names of a Markdown text in its repository: each to one thing, or to nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, lru_cache, partial
from hashlib import blake2b
from itertools import chain, islice
from math import inf
from pathlib import Path
from posixpath import basename, dirname, join, normpath
from textwrap import dedent
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from foldline.backends import SmartFileAccess
from foldline.backends.base import reading
from foldline.backends.base.languages import is_indexed, language_of
from foldline.backends.base.waiting import waits
from foldline.backends.errors import BackendError, PathError
from foldline.backends.files.base import FileBackend
from foldline.backends.files.git_patterns import compile_patterns
from foldline.backends.files.globs import PathPatterns, alternatives
from foldline.backends.files.listing import FileStamp
from foldline.backends.files.reader import read_toml
from foldline.backends.formatting.parts import counted, text_of
from foldline.backends.formatting.text import symbol_line
from foldline.backends.index.words import definitions
from foldline.backends.models import COMPLETE, SymbolKind
from foldline.backends.outlines.outlines import outline_source
from foldline.backends.outlines.symbols import flatten, is_local
from foldline.backends.outlines.syntax import ParseRefusedError
from foldline.backends.references.hierarchy import Found, fit, imports_of
from foldline.backends.references.meaning import Names
from foldline.ide.analysis.model import Span
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.plugins import Link, Target
from foldline.ide.snapshot import Snapshot
from foldline.plugins.instructions.mentions import COMMANDS, Kind, Mention, mentions, mentions_of
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.features.completion import Completion, CompletionKind

_MOST_BRACES = 50
_MOST_PROPOSED = 100
_UNFINISHED = re.compile(r"(`|\]\(|(?<!\S)@)([\w./@-]*)\Z")
_MOST_LISTED = 5
_LARGEST = 1_000_000
MOST_USING = 16
"""If more files use a name, only those that seem to define it are parsed."""
_OWN = re.compile(r"(?:let|var) [a-z]")
_MOST_KEPT = 1024
# What extends a type doesn't define it.
_EXTENDING = re.compile(r"(?:(?:public|private|fileprivate|unsafe) )?(?:extension|impl)\b").match
_NO_NAMES = frozenset({SymbolKind.TEST, SymbolKind.EXPORT})
is_of_tests = re.compile(
    r"(?:^|/)(?:[\w-]*(?:test|spec|example)[\w-]*|docs|samples)/|(?:^|/)test_|[_.](?:test|spec)\.",
    re.I,
).search
"""Matches paths of tests and examples, whose names mean something only there."""


@record(slots=False)
class Tree:
    """The files of a repository at one moment; a text that can't be read is empty."""

    paths: tuple[str, ...]
    read: Callable[[str], str]

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[str]]:
        """The files and folders by the last part of their paths."""
        every = dict.fromkeys(self.paths)
        for path in self.paths:
            while (path := path.rpartition("/")[0]) and path not in every:
                every[path] = None
        by_name: dict[str, list[str]] = {}
        for path in every:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        return by_name

    def ending(self, name: str) -> list[str]:
        """Return the files and folders whose path is `name`, or ends with it behind a `/`."""
        every = self._by_name.get(basename(name), ()) if name else ()
        return [path for path in every if path == name or path.endswith(f"/{name}")]

    def find(self, mention: Mention, folder: str) -> Sequence[str | Target]:
        """Return what a mention in a file of `folder` may mean; of symbols, the modules alone."""
        match mention.kind:
            case Kind.PATH:
                rest = f"./{mention.name.removeprefix(mention.root)}"
                found = self.named(mention.name, folder)
                return found or (self.named(rest, folder) if mention.root else [])
            case Kind.GLOB:
                return self.matching(mention.name, folder)
            case Kind.COMMAND:
                return self.tasks(mention.name, folder)
        path = mention.dotted.replace(".", "/")
        files = [f"{path}.py", f"{path}/__init__.py"] if "/" in path else []
        return next(filter(None, (self.named(one, "") for one in files)), [])

    def named(self, name: str, folder: str) -> list[str]:
        """Return what a path in a file of `folder` may mean: from there, from the root, by its end.

        The first of these that exists is all.
        """
        bare = name.rstrip("/").removeprefix("/")
        matching = self.ending(bare)
        exact = [join(folder, bare)] * (not name.startswith("/")) + [bare]
        for path in map(normpath, exact):
            if path in matching or path in self.ending(path):
                return [path]
        return [] if name.startswith((".", "/")) and "/" in name else matching

    def matching(self, glob: str, folder: str) -> list[str]:
        """Return the files that a glob means: from `folder`, from the root, or at any depth."""
        written = [*islice(alternatives(glob.removeprefix("./")), _MOST_BRACES)]
        # Each path that matches has the longest part without wildcards of one of them.
        parts = {max(re.split(r"[*?]+|/|\[.*", one), key=len) for one in written}
        some = [path for path in self.paths if any(part in path for part in parts)]
        for start in dict.fromkeys((f"/{folder}/" if folder else "/", "/", "**/")):
            patterns = [start + one.removeprefix("/") for one in written]
            compiled, malformed = compile_patterns(tuple(patterns))
            if malformed:
                return []
            if paths := [*filter(PathPatterns(compiled).hold, some)]:
                return paths
        return []

    def tasks(self, command: str, folder: str) -> list[Target]:
        """Return the tasks that a command means: of the nearest file above `folder`, or of any."""
        program, _, task = command.rpartition(" ")
        tasks = [target for name, target in self.tasks_of(program) if name == task]
        folders = {one: f"{dirname(one.path)}/".removeprefix("/") for one in tasks}
        above = [one for one in tasks if f"{folder}/".startswith(folders[one])]
        return sorted(above, key=lambda one: -len(folders[one]))[:1] or tasks

    def tasks_of(self, program: str) -> Iterator[tuple[str, Target]]:
        """Yield the tasks in all files of a program, as it's written before them, by name."""
        how = _all_tasks()[program.removeprefix("uv run ").split()[0]]
        for path in chain.from_iterable(map(self.ending, how.files)):
            yield from _tasks_in(how, path, self.read(path))
        for script in filter(None, map(re.compile(how.scripts).fullmatch, self.paths)):
            yield script[1].replace("/", ":"), Target(script[0], 0, f"`{script[0]}`")


def links(document: Snapshot) -> Iterator[Link]:
    """Yield what an instruction file, or the texts of a module's prompts, name."""
    file, folder = document.instructions, document.folder
    path = Path(document.analysis.file)
    # Making it may walk the folder.
    targets = cache(lambda: Targets(folder.access, path.relative_to(folder.root).as_posix()))
    every = () if file is None else mentions(file.markdown)
    own = ((one, Span(one.start, one.end)) for one in every)
    for mention, place in mentions_of(document.analysis) if file is None else own:
        yield Link(place, partial(lambda one: targets().of(one), mention))


def propose(access: SmartFileAccess, file: InstructionFile, offset: int) -> tuple[Completion, ...]:
    """Return what completes the name before an offset: in a code span, a link or behind an `@`.

    Paths are completed by a folder at a time.
    """
    from foldline.ide.features.completion import Completion, CompletionKind

    line = file.text.rfind("\n", 0, offset) + 1
    before = file.text[line:offset]
    in_code, files = before.count("`") % 2 == 1, access.file_backend
    # A letter more makes a task of one that is just begun.
    if in_code and (command := COMMANDS.fullmatch(f"{before.rpartition('`')[2]}x")):
        begun = command[2][:-1]
        tasks = Targets(access, file.path).tree.tasks_of(command[1])
        fitting = dict.fromkeys(name for name, _ in tasks if name.startswith(begun))
        span = Span(offset - len(begun), offset)
        return tuple(Completion(one, CompletionKind.NAME, one, span) for one in fitting)
    unfinished = _UNFINISHED.search(before)
    if unfinished is None or (unfinished[1] == "`" and not in_code):
        return ()
    begun, folder = unfinished[2], dirname(file.path)
    every: dict[str, CompletionKind] = {}
    for start in dict.fromkeys((f"{folder}/" if folder else "", "")):
        for one in files.walk_folder("."):
            if one.path.startswith(start + begun):
                name, below, _ = one.path[len(start) + len(begun) :].partition("/")
                kind = CompletionKind.FOLDER if below else CompletionKind.FILE
                every.setdefault(begun + name + below, kind)
    index = access.index if unfinished[1] == "`" and "/" not in begun else None
    if begun and index is not None:
        names = sorted(name for name in index.last_defined() if name.startswith(begun))
        every |= dict.fromkeys(names[:_MOST_PROPOSED], CompletionKind.NAME)
    span = Span(line + unfinished.start(2), offset)
    return tuple(Completion(one, every[one], one, span) for one in islice(every, _MOST_PROPOSED))


class _Symbols(NamedTuple):
    """Resolved names as of a time: `found` keeps what was asked for while `code` holds."""

    as_of: float
    tree: Tree
    code: tuple[FileStamp, ...]
    names: Names
    thorough: Names
    found: dict[str, Sequence[Found]]
    has: dict[str, bool]
    defined: list[frozenset[str]]
    digest: bytes


_symbols: WeakKeyDictionary[SmartFileAccess, _Symbols] = WeakKeyDictionary()


class Targets:
    """Targets of the mentions of one text in a workspace, as of now, or of `since` or later."""

    def __init__(self, access: SmartFileAccess, path: str, since: float = inf) -> None:
        self.access = access
        self._folder = dirname(path)
        self._of_tests = is_of_tests(path)
        kept, now = _symbols.get(access), monotonic()
        is_complete = kept is not None and kept.names.types.coverage == COMPLETE
        if kept is None or not is_complete or kept.as_of < since:
            stamps = tuple(access.file_backend.walk_folder("."))
            tree = Tree(tuple(stamp.path for stamp in stamps), partial(_text, access.file_backend))
            code = tuple(stamp for stamp in stamps if is_indexed(stamp.path))
            if kept is None or kept.code != code or not is_complete:
                both = access.names(thorough=False), access.names()
                for names in both:
                    names.types.began = min(since, names.types.began)
                kept = _Symbols(now, tree, code, *both, {}, {}, [], b"")
            digest = blake2b(repr(stamps).encode("utf-8", "replace")).digest()
            kept = _symbols[access] = kept._replace(as_of=now, tree=tree, digest=digest)
        self.tree, self.digest = kept.tree, kept.digest
        self._symbols, self.as_of = kept, kept.names.types.began

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names that the index knows as defined."""
        kept, index = self._symbols, self.access.index
        if kept.defined or index is None:
            return kept.defined[0] if kept.defined else frozenset()
        # This brings the index up to date.
        coverage = index.files_with("_", since=self.as_of, defined=True).coverage
        defined = frozenset(index.last_defined())
        kept.defined.extend([defined] if coverage == COMPLETE else [])
        return defined

    def has(self, mention: Mention) -> bool:
        """Return whether a mention certainly means something, as far as that's fast to tell."""
        name, known = mention.dotted, self._symbols.has
        if self.tree.find(mention, self._folder):
            return True
        if mention.kind == Kind.SYMBOL and name not in known:
            known[name] = (name in self.defined) or any(
                defines(path, self.tree.read(path), mention) for path in self._likely(mention.word)
            )
        return mention.kind == Kind.SYMBOL and known[name]

    def _likely(self, word: str) -> Iterator[str]:
        """Yield files that may define a word: some define it in ways that the index misses."""
        if (index := self.access.index) is not None:
            yield from index.last_defining(word)[:MOST_USING] if word in self.defined else ()
            using = sorted(filter(is_indexed, index.last_holding(word)))
            yield from using if len(using) <= MOST_USING else ()

    def of(self, mention: Mention) -> Target | None:
        """Return the one thing that a mention means; None for nothing, or for several."""
        if mention.kind == Kind.SYMBOL and (symbols := self.symbols(mention)):
            return _symbol(symbols)
        target = self.tree.find(mention, self._folder)
        if mention.kind == Kind.GLOB and target:
            return _glob([str(path) for path in target])
        if len(target) != 1:
            return None
        return one if isinstance(one := target[0], Target) else self._path(one, mention.line)

    def exists(self, mention: Mention, homes: Iterable[str] = ()) -> bool:
        """Return whether anything has a name that `has` finds nothing for, ignored by git or not.

        What git ignores is made by a program, and names that code imports are a library's. Of the
        files that had it, `homes`, the name is looked for first.
        """
        name, index, word = mention.name, self.access.index, mention.word
        since, types = self.as_of, self._symbols.names.types
        if mention.kind == Kind.PATH:
            backend = self.access.file_backend
            with suppress(PathError):
                if any(map(backend.exists, (join(self._folder, name), name))):
                    return True
            return any(map(backend.rules().for_path, homes))
        if mention.kind != Kind.SYMBOL or index is None:
            return False
        using = index.files_with(word, since=since)
        if using.coverage == COMPLETE and not using.paths:
            return False
        files = index.files_with(word, since=since, defined=True).paths
        if any(defines(path, self.tree.read(path), mention) for path in (*homes, *files)):
            return True
        first = mention.dotted.partition(".")[0]
        some = () if first in self.defined else index.files_with(first, since=since).paths
        if any(any(imports_of(types.read(path)[0], first)) for path in some[:MOST_USING]):
            return True
        # This parses files that may tell.
        return self._meaning(mention.dotted, word)

    def symbols(self, mention: Mention) -> tuple[Found, ...]:
        """Return the parts of the one definition that a symbol's name means; else nothing."""
        *owner, word = mention.dotted.split(".")
        every = [one for one in self._defining(mention.dotted) if one.name.split(".")[-1] == word]
        if not owner:
            # A member alone is named by many words, and so is a function such as `New`.
            plain = word.istitle() and not mention.called
            every = [one for one in every if "." not in one.name and (one.is_type or not plain)]
            # A variable of a module's own is another's name as likely.
            every = [one for one in every if not _OWN.match(one.located.symbol.signature)]
        if not self._of_tests and not word.lower().startswith("test"):
            every = [one for one in every if not is_of_tests(one.path)]
        return tuple(every) if len({(one.path, one.name) for one in every}) == 1 else ()

    @waits
    async def _defining(self, name: str) -> Sequence[Found]:
        """Return the definitions that a name means, of members only with their owner."""
        *_, owner, word = ["", *name.split(".")]
        defined = self.defined
        if name not in self._symbols.found:
            defining: Sequence[Found] = ()
            types = self._symbols.names.types
            with suppress(BackendError):
                if not defined or not defined.isdisjoint((word, owner)):
                    defining = await types.defining(name, thorough=False)
                defining = defining or types.fitting(self._likely(word), name)
                if not defining and owner and (not defined or owner in defined):
                    defining = (await self._symbols.names.meaning(name)).found
            self._symbols.found[name] = defining
        return self._symbols.found[name]

    @waits
    async def _meaning(self, name: str, word: str) -> bool:
        """Return whether a name means something; in another case it's another name."""
        try:
            meant = await self._symbols.thorough.meaning(name)
        except BackendError:
            return False
        lasts = [one.last for one in meant.found]
        return bool(meant.gap) or any(one == word or one.lower() != word.lower() for one in lasts)

    def _path(self, path: str, line: int) -> Target:
        stamp = self.access.file_backend.stamp(path)
        if stamp is not None and not self.access.file_backend.is_folder(path):
            return Target(path, line, f"`{path}`, {stamp.size:,} bytes")
        below = sum(one.startswith(f"{path}/") for one in self.tree.paths)
        return Target(path, 0, f"`{path}/`, {counted(below, 'file')}")


def _text(files: FileBackend, path: str) -> str:
    """Return the text of a file; of what can't be read, and what is large, nothing."""
    text = files.text_of(path) or ""
    return text if len(text) <= _LARGEST else ""


@lru_cache(maxsize=_MOST_KEPT)
def names_in(path: str, text: str) -> frozenset[str]:
    """Return the dotted names that a code file defines, without those inside of functions."""
    data = text.replace("\r\n", "\n").encode("utf-8", "replace")
    try:
        outline = outline_source(language_of(path, data[:128]), data, guarded=True)
    except ParseRefusedError:
        return likely_names(path, text)
    every = (one for one in flatten(outline.symbols) if not is_local(one))
    own = (one for one in every if not _EXTENDING(one.symbol.signature))
    return frozenset(one.qualified_name for one in own if one.symbol.kind not in _NO_NAMES)


@lru_cache(maxsize=_MOST_KEPT)
def likely_names(path: str, text: str) -> frozenset[str]:
    """Return words that a code file seems to define, as fast as that can be told."""
    names = definitions(path, text.encode("utf-8", "replace"))
    return frozenset(name.decode("utf-8", "replace") for name in names)


def defines(path: str, text: str, mention: Mention) -> bool:
    """Return whether a code file defines what a symbol's name means."""
    name, word = mention.dotted, mention.word
    every = (one for one in names_in(path, text) if one.endswith(word))
    return any(fit(path, one, name) is not None for one in every)


def _glob(paths: Sequence[str]) -> Target:
    listed = "\n".join(f"- `{path}`" for path in paths[:_MOST_LISTED])
    more = "\n- …" * (len(paths) > _MOST_LISTED)
    about = f"{counted(len(paths), 'file')}\n{listed}{more}"
    return Target(paths[0] if len(paths) == 1 else "", 0, about)


def _symbol(found: Sequence[Found]) -> Target:
    one = found[0]
    shown = text_of(symbol_line(one.located.symbol, 0, docstring=True))
    return Target(one.path, one.line, f"```\n{shown}\n```\n`{one.path}:{one.line}`")


@record
class _Tasks:
    """Where a program has its tasks; `tasks.toml` says what the fields mean."""

    files: tuple[str, ...]
    tables: tuple[str, ...] = ()
    rule: str = ""
    scripts: str = ""


@cache
def _all_tasks() -> Mapping[str, _Tasks]:
    file = Path(__file__).with_name("tasks.toml")
    return reading.read(read_toml(file), dict[str, _Tasks])[0] or {}


@lru_cache(maxsize=64)
def _tasks_in(how: _Tasks, path: str, text: str) -> tuple[tuple[str, Target], ...]:
    """Return the tasks of a file by name, each with the lines that define it."""
    lines, tasks = text.split("\n"), list[tuple[str, Target]]()
    for name, first, last in _rules(how.rule, lines) if how.rule else _keys(how, path, text):
        written = dedent("\n".join(lines[first - 1 : last][:_MOST_LISTED]))
        about = f"```{language_of(path)}\n{written}\n```\n`{path}:{first}`"
        tasks.append((name, Target(path, first, about)))
    return tuple(tasks)


def _keys(how: _Tasks, path: str, text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the keys and the tables in some tables of a JSON, TOML or YAML file."""
    data = text.replace("\r\n", "\n").encode("utf-8", "replace")
    with suppress(ParseRefusedError):
        for symbol in outline_source(language_of(path), data, guarded=True).symbols:
            table, _, name = symbol.name.rpartition(".")
            if symbol.name in how.tables:
                yield from ((one.name, one.line, one.line_end) for one in symbol.children)
            elif table in how.tables:
                yield name.strip("\"'"), symbol.line, symbol.line_end


def _rules(rule: str, lines: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the names in lines that begin a rule, with the line below each."""
    for number, line in enumerate(lines, 1):
        if match := re.match(rule, line):
            yield from ((name, number, number + 1) for name in match[1].split())
