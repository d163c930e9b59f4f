"""The instructions of a repository that a client has when it works on a file, and their cost."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from enum import StrEnum
from functools import cache, cached_property, lru_cache, partial
from itertools import chain, islice
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath, relpath
from typing import Any

from foldline.backends.errors import PathError
from foldline.backends.files.base import FileBackend
from foldline.backends.files.reader import read_json, read_toml
from foldline.backends.formatting.budget import size_of
from foldline.backends.outlines.syntax import ParseRefusedError
from foldline.backends.parsers.markdown import Range
from foldline.ide.checks.summaries import Fold, unclear
from foldline.ide.folder import Folder
from foldline.ide.instructions.document import InstructionFile, instruction_file
from foldline.ide.instructions.features import listed_text
from foldline.ide.instructions.front_matter import fields, globs_of, matches
from foldline.ide.token_counter import TokenCounter
from foldline.plugins.instructions.clients import Client, Rule, project_clients
from foldline.records import record

_IMPORT = re.compile(r"(?<!\S)@((?:\\ |[^\s`])+)")
_MARKS = re.compile(r"#|[.,;:!?)\]}*\"']+\Z")  # Behind an import: a heading, or of a sentence.
_FILE = re.compile(r"(?!\.\./|[~/]).+\.(?:mdc?|txt|rst|json|ya?ml|toml)\Z")  # No package.
_PARAGRAPH = re.compile(r"^(?![#\s-]).+(?:\n\S.*)*", re.MULTILINE)  # No heading.
_ALL = frozenset({"*", "**", "**/*"})
_MOST_FILES = 200
# For questions that aren't about costs: nothing is read for these alone.
_NO_COUNTER = TokenCounter("", exact=False, _count=lambda _: 0)
_MOST_LISTED = 20_000


class When(StrEnum):
    """When a client loads a file: each session pays for `ALWAYS`, a file for `NESTED`, `MATCH`."""

    ALWAYS = "always"
    NESTED = "nested"
    MATCH = "match"
    CHOICE = "choice"


@record
class SectionCost:
    """A section of a loaded file; `line` counts from 1. What is cut off costs nothing."""

    key: str
    number: str
    title: str
    line: int
    tokens: int


@record
class LoadedFile:
    """A file that a client loads.

    Attributes:
        path: From the root, as the client finds it.
        confirmed: False where the client's documentation doesn't say it clearly.
        via: The file that imports it.
        lists: The skills, commands or agents of which these are the names and descriptions.
        size: Of what is read of it, in bytes.
        cut: The section in which the client's limit falls, and the place of the limit in the text.
    """

    path: str
    when: When
    why: str
    source: str
    read: str
    confirmed: bool
    via: str = ""
    lists: tuple[str, ...] = ()
    tokens: int = 0
    size: int = 0
    sections: tuple[SectionCost, ...] = ()
    cut: tuple[str, int] | None = None


@record
class LeftOut:
    """A file that a client doesn't load.

    `by` switches it off, or `via` imports it in vain at `place`; `unmatched`: it's for other files.
    """

    path: str
    why: str
    by: str = ""
    repair: str = ""
    via: str = ""
    place: tuple[int, int] = (0, 0)
    unmatched: bool = False


@record
class Stack:
    """The files that a client loads, in its order, and those that it leaves out.

    Attributes:
        base: The tokens that each session pays.
        added: The tokens that the file adds.
    """

    client: str
    title: str
    note: str
    files: tuple[LoadedFile, ...]
    left_out: tuple[LeftOut, ...]
    base: int
    added: int


def stacks(
    folder: Folder, clients: Iterable[Client], file: str | None = None, start: str = "."
) -> Iterator[Stack]:
    """Yield each client's stack for a `file`, which needn't exist, or without one for a session.

    Paths are from the root: nothing outside it is read. All but editors are started in `start`.
    """
    disk = Files(folder.access.file_backend)
    for client in clients:
        place = "." if client.editor else start
        yield _Stack(disk, folder.counter(), client, file, place).build()


def loaded(folder: Folder, disk: Files, path: str) -> dict[Stack, dict[str, InstructionFile]]:
    """Return the project's clients' stacks for a file, without costs, and the files of each."""
    clients = project_clients(folder, folder.root / path)
    stacks = [_Stack(disk, _NO_COUNTER, client, path, ".").build() for client in clients]
    return {it: {one.path: disk.read(one.path) for one in it.files} for it in stacks}


def unread(disk: Files, stacks: Iterable[Stack], path: str) -> dict[LeftOut, list[str]]:
    """Return what clients don't read of an instruction file or of its imports, with their titles.

    Only what other files of the repository cause, if git doesn't ignore those.
    """
    found = dict[LeftOut, list[str]]()
    for stack in stacks:
        for one in stack.left_out:
            other = one.path if one.via == path else one.by * (one.path == path)
            if other and not disk.rules().for_path(other, is_folder=False):
                found.setdefault(one, []).append(stack.title)
        for title, at in (one.cut for one in stack.files if one.path == path and one.cut):
            why = f"reads no further than this, in {title!r}: its limit"
            found[LeftOut(path, why, place=(at, at))] = [stack.title]
    return found


class Files:
    """The files of a repository at one moment: each is read once for all clients and questions."""

    def __init__(self, backend: FileBackend, _as_of: float = 0) -> None:
        self.backend, self.root, self.rules = backend, backend.root, cache(backend.rules)
        self.real, self.read = cache(backend.resolve_unsaved), cache(self._read)
        self.unclear, walk = cache(self._unclear), partial(backend.walk_folder, no_ignore=True)
        self.below = cache(lambda folder: [*islice(walk(folder), _MOST_LISTED)])

    def _read(self, path: str) -> InstructionFile:
        text = self.backend.load(self.real(path)).text
        file = instruction_file(self.root / path, self.root, text)
        _ = file.sections
        return file

    def _unclear(self, folder: str, glob: str) -> dict[tuple[str, Range], str]:
        """Return what is wrong with the descriptions of skills, by their paths and places."""
        folds = dict[tuple[str, Range], Fold]()
        for at in sorted((self.root / folder).glob(glob)):
            with suppress(PathError, ParseRefusedError):
                skill = self._read(path := at.relative_to(self.root).as_posix())
                text = skill.text[skill.beginning :]
                for one in fields(skill):
                    if one.name == "description" and one.value:
                        folds[path, one.place] = Fold(at.parent.name, one.value, text)
        return unclear(folds)


files_of = lru_cache(maxsize=1)(Files)


@record(slots=False)
class _Stack:
    """One client's stack while it's built; `seen` has the real paths of the files."""

    disk: Files
    counter: TokenCounter
    client: Client
    file: str | None
    start: str
    files: list[LoadedFile] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def build(self) -> Stack:
        """Apply the client's rules to each folder, in its order."""
        turn = -1 if self.client.nearest_first else 1
        for place in (*self.above[::turn], *self.below[::turn]):
            for rule in self.client.rules:
                self._apply(rule, place)
        # What each session has is first, and what is listed behind what is loaded.
        self.files.sort(key=lambda one: (one.when != When.ALWAYS, bool(one.lists)))
        spent = {when: sum(one.tokens for one in self.files if one.when == when) for when in When}
        left = dict.fromkeys(one for one in self.left_out if self._real(one.path) not in self.seen)
        client, costs = self.client, (spent[When.ALWAYS], spent[When.NESTED] + spent[When.MATCH])
        return Stack(client.name, client.title, client.note, tuple(self.files), tuple(left), *costs)

    @cached_property
    def above(self) -> list[str]:
        """The folders from the root down to the start."""
        return _folders(f"{self.start}/_")

    @cached_property
    def below(self) -> list[str]:
        """The folders below the start on the way to the file; none where that is elsewhere."""
        folders = _folders(self.file or "_")
        return folders[len(self.above) :] if self.start in folders else []

    def _apply(self, rule: Rule, place: str) -> None:
        below = place in self.below
        here = {"all": True, "root": place == ".", "start": place == self.start, "below": below}
        here["above"] = not below
        if not here[rule.folders] or (rule.lists and self.counter is _NO_COUNTER):
            return
        names = self._names(rule)
        paths_named = {name: paths for name in names if (paths := self._named(place, name))}
        kept = next(iter(paths_named), "")
        if rule.pick == "kind" and not below:
            kept = next(filter(self._anywhere, names), "")
        for name, paths in paths_named.items():
            rivals = rule.unless if rule.pick == "all" or name == kept else (kept,)
            by = next(filter(None, (self._anywhere(rival, place) for rival in rivals)), "")
            for path in [_joined(place, name.partition("*")[0])] if rule.lists else paths:
                if below and rule.not_below:
                    self._leave_out(path, rule.not_below)
                elif by:
                    self._switch_off(path, by, rule.repair)
                elif rule.lists:
                    self._list(rule, path, paths, place)
                elif any(matches(glob, f"{self.disk.root}/{path}") for glob in self.excluded):
                    self._leave_out(path, "the project's settings exclude it")
                elif file := self._unseen(path):
                    when, why, sure = self._when(rule, file, place)
                    if when is None:
                        self._leave_out(path, why, unmatched=sure)
                    else:
                        self._add(file, self._loaded(rule, path, when, why, sure=sure))

    def _loaded(self, rule: Rule, path: str, when: When, *whys: str, sure: bool) -> LoadedFile:
        why = "; ".join(filter(None, (*whys, rule.about)))
        source, read = rule.source or self.client.source, rule.read or self.client.read
        return LoadedFile(path, when, why, source, read, rule.confirmed and sure)

    def _when(self, rule: Rule, file: InstructionFile, place: str) -> tuple[When | None, str, bool]:
        """When a file is loaded, why, and whether that's sure; of None, whether it's for others."""
        said = {one.name: one for one in fields(file)}
        values = {name: field.value for name, field in said.items()}
        listed, (when, why) = said.get(rule.patterns), self._usual(place)
        globs = list(globs_of(listed.items)) if listed else []
        shown = ", ".join(globs[:5])
        always = not rule.patterns or values.get("alwaysApply") == "true"
        if always or (not globs and rule.without == "always"):
            return when, why, True
        if not globs and values.get("description"):
            return When.CHOICE, "the model may choose it by its description", True
        if not globs:
            return None, "only when a person names it", False
        if listed and listed.is_open:
            return None, f"the list of its `{rule.patterns}` isn't closed", False
        if not rule.anchored and _ALL.intersection(globs):
            return when, f"{rule.patterns}: {shown}", True
        path = relpath(self.file or place, place)
        for glob in globs if self.file else ():
            if matches(glob, path, anchored=rule.anchored):
                return When.MATCH, f"it matches {glob}", True
            if rule.loose and "/" not in glob and matches(glob, path, anchored=False):
                return When.MATCH, f"it matches {glob}, if that holds below the root, too", False
        return None, f"it's for files that match {shown}", True

    def _usual(self, place: str) -> tuple[When, str]:
        """When a file in a folder is loaded that isn't for some files alone, and why."""
        if place in self.below:
            return When.NESTED, f"when a file in {place} is read"
        return When.ALWAYS, ""

    def _list(self, rule: Rule, at: str, paths: Iterable[str], place: str) -> None:
        """Add the names and descriptions of the files in a folder."""
        shown: dict[str, str] = {}
        for path in paths:
            if file := self._unseen(path):
                said = {one.name: one.value for one in fields(file)}
                front, text = file.markdown.front_matter, listed_text(file)
                if not said.get("description"):
                    first = _PARAGRAPH.search(file.text, front.end if front else 0)
                    text = text + first[0] if rule.paragraph and first else ""
                key = f"{rule.lists} {said.get('name', path) if self.client.once else path}"
                if text and key not in self.seen and said.get(rule.hidden) != "true":
                    self.seen.update((key, self._real(path)))
                    shown[path] = text
        if shown:
            what = f"names and descriptions of {len(shown)} {rule.lists}{'s' * (len(shown) > 1)}"
            made = self._loaded(rule, at, *self._usual(place), what, sure=True)
            tokens = self.counter.count("".join(shown.values()))
            self.files.append(replace(made, lists=tuple(shown), tokens=tokens))

    def _anywhere(self, name: str, *places: str) -> str:
        """A file of that name in these folders, by default those above."""
        every = (path for folder in (*places, *self.above) for path in self._named(folder, name))
        return next(every, "")

    def _leave_out(self, path: str, why: str, **more: Any) -> None:
        self.left_out.append(LeftOut(path, why, **more))

    def _switch_off(self, path: str, by: str, repair: str) -> None:
        """Leave out a file that another one replaces."""
        why = f"{by} is read instead"
        if not repair and (file := self.read(path)):
            # A file that imports what is read instead of it hides nothing.
            by = "" if any(by == name for name, *_ in imported(file, path)) else by
        self._leave_out(path, why, by=by, repair=repair)

    @contextmanager
    def _reading(self, path: str, problem: str = "not read here") -> Iterator[None]:
        """Leave a file out where reading it fails."""
        try:
            yield
        except (PathError, ParseRefusedError) as error:
            reason = error.problem if isinstance(error, PathError) else error
            self._leave_out(path, f"{problem}: {reason}")

    def read(self, path: str) -> InstructionFile | None:
        """A file; None, and left out, where it can't be read."""
        with self._reading(path):
            return self.disk.read(path)
        return None

    def _unseen(self, path: str) -> InstructionFile | None:
        return None if self._real(path) in self.seen else self.read(path)

    def _is_file(self, path: str) -> bool:
        """True for an existing file; one outside of the workspace is left out."""
        with self._reading(path):
            real = self.disk.real(path)
            return self.disk.backend.exists(real) and not self.disk.backend.is_folder(real)
        return False

    def _real(self, path: str) -> str:
        try:
            return self.disk.real(path)
        except PathError:
            return path

    def _names(self, rule: Rule) -> tuple[str, ...]:
        """The names of a rule, those that the project sets included."""
        value = self._setting(rule.setting)
        listed = value if isinstance(value, list) else [value]
        names = tuple(one for one in listed if isinstance(one, str) and one)
        return (*rule.files, *names) if rule.joins or not names else names

    @cached_property
    def excluded(self) -> list[str]:
        """Globs of absolute paths that the project's settings exclude."""
        value = self._setting(self.client.excludes)
        return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []

    @cached_property
    def limit(self) -> int | None:
        """The bytes that the client reads of all files together, as the project sets it."""
        value = self._setting(self.client.limit_setting)
        return value if isinstance(value, int) and value >= 0 else self.client.limit

    def _setting(self, setting: tuple[str, str] | None) -> object:
        """The value of a setting in the nearest folder whose file has it."""
        name, keys = setting or ("", "")
        read = read_toml if name.endswith(".toml") else partial(read_json, comments=True)
        folders = self.above[::-1] if self.client.settings == "above" else [self.start]
        for file in filter(self._is_file, (_joined(folder, name) for folder in folders if name)):
            with self._reading(file, "its settings aren't known"):
                value: object = read(self.disk.root / file, root=self.disk.root)
                for key in keys.split("."):
                    value = value.get(key) if isinstance(value, dict) else None
                if value is not None:
                    return value
        return None

    def _named(self, place: str, name: str) -> list[str]:
        """The files of a name or glob in a folder."""
        if "://" in name or name.startswith("~"):
            self._leave_out(name, "outside of the workspace: not read here")
            return []
        path = _joined(place, name)
        fixed = re.split(r"[^/]*[*?\[{,]", path, maxsplit=1)[0].rstrip("/")
        if fixed == path:
            return [path] if self._is_file(path) else []
        globs = list(globs_of([path]))
        listed = islice(self._inside(fixed or "."), _MOST_LISTED)
        inside = (one for one in listed if not one.startswith(".git/"))
        matching = (one for one in inside if any(matches(glob, one) for glob in globs))
        files = list(islice(matching, _MOST_FILES + 1))
        if len(files) > _MOST_FILES:
            self._leave_out(path, f"more than {_MOST_FILES} files match: not all are shown")
        return files[:_MOST_FILES]

    def _inside(self, folder: str, *, is_link: bool = False) -> Iterator[str]:
        """Yield the files below a folder, and below the folders to which links in it lead."""
        with self._reading(folder):
            real = self.disk.real(folder)
            if self.disk.backend.is_folder(real):
                for stamp in self.disk.below(real):
                    yield _joined(folder, stamp.path.removeprefix(f"{real}/"))
                for one in () if is_link else (self.disk.root / real).glob("*"):
                    if one.is_symlink() and one.is_dir():
                        yield from self._inside(_joined(folder, one.name), is_link=True)

    def _add(self, file: InstructionFile, made: LoadedFile, depth: int = 0) -> None:
        """Add a file, and those that it imports."""
        data, limit = file.text.encode("utf-8", "replace"), self.limit
        left = len(data) if limit is None else limit - sum(one.size for one in self.files)
        if left <= 0 < len(data):
            by = next((one.path for one in self.files[::-1] if one.size), "")
            self._leave_out(made.path, f"the limit of {limit:,} bytes is reached before it", by=by)
            return
        self.seen.add(self._real(made.path))
        end = len(data[:left].decode("utf-8", "ignore"))
        costs = _costs(file, end, self.counter, comments=self.client.comments)
        self.files.append(replace(made, **costs))
        if self.client.imports:
            self._import(file, made, depth)

    def _import(self, file: InstructionFile, made: LoadedFile, depth: int) -> None:
        """Add the files that a file imports, and leave out those that it imports in vain."""
        path = made.path
        for written, mark, place in imported(file, path):
            one = written if "\\" in self.client.import_stops else written.replace("\\ ", " ")
            if one.startswith("~"):
                self._leave_out(one, f"{path} imports it: not read here")
            elif not self._is_file(one):
                if _FILE.match(one) and all(one != it.path or it.via for it in self.left_out):
                    why = f"{path} imports it, and it isn't there"
                    self._leave_out(one, why, via=path, place=place)
            elif mark and mark in self.client.import_stops:
                why, repair = f"not imported: in {path}, a `{mark}` follows", "put a space between"
                self._leave_out(one, why, repair=repair, via=path, place=place)
            elif depth == self.client.imports:
                self._leave_out(one, f"imports go {depth} deep")
            elif len(self.files) < _MOST_FILES and (inner := self._unseen(one)):
                why = f"{path} imports it" + (f", if a `{mark}` may follow" if mark else "")
                sure = made.confirmed and not mark
                new = replace(made, path=one, why=why, via=path, confirmed=sure)
                self._add(inner, new, depth + 1)


def imported(file: InstructionFile, path: str) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Yield the path behind each `@`, the mark that follows it, and its place."""
    for part in file.markdown.prose:
        for found in _IMPORT.finditer(file.markdown.words(part)):
            written, start = _MARKS.split(found[1])[0], part.start + found.start()
            folder = "" if written.startswith("~") else dirname(path)
            mark = found[1][len(written) :][:1]
            yield _joined(folder, written), mark, (start, start + 1 + len(written))


# Every client reads the same files, and a key changes one of them.
@lru_cache(maxsize=256)
def _costs(
    file: InstructionFile, end: int, counter: TokenCounter, *, comments: bool
) -> dict[str, Any]:
    """Return the costs of a file's text up to `end`, as fields of `LoadedFile`."""
    text, gaps = file.text[:end], () if comments else file.markdown.comments

    def cost(start: int, stop: int) -> int:
        inside = gaps[bisect_left(gaps, (start,)) : bisect_left(gaps, (stop,))]
        edges = [start, *chain.from_iterable(inside), stop]
        kept = (text[one:two] for one, two in zip(edges[::2], edges[1::2], strict=True))
        return counter.count("".join(kept))

    sections = tuple(
        SectionCost(one.key, one.number, one.title, file.line(one.start), cost(one.start, one.own))
        for one in file.sections
    )
    cut = [(one.title, end) for one in file.sections if one.start <= end < len(file.text)]
    costs = {"tokens": cost(file.beginning, end), "size": size_of(text), "sections": sections}
    return {**costs, "cut": cut[-1] if cut else None}


def _folders(path: str) -> list[str]:
    """Return the folders from the root down to that of a path."""
    return [str(folder) for folder in PurePosixPath(path).parents][::-1]


def _joined(folder: str, name: str) -> str:
    return normpath(join(folder, name))
