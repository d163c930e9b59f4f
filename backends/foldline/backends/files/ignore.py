"""Ignore files: the paths that they hide, by git's rules.

Rules, weakest first: foldline's defaults, git's global excludes, `.git/info/exclude`, then the
`.gitignore` and `.ignore` files from the repository's root down to the path's own folder, `.ignore`
above `.gitignore` of the same folder. Within them, the last pattern that matches decides. What is
below a hidden folder stays hidden. What git tracks is hidden by `.ignore` alone, which isn't git's.

As with git, a malformed pattern matches nothing, and an ignore file that cannot be read hides
nothing: ignoring keeps answers short, it isn't what keeps a file from being read, and one broken
line must not take a workspace away. `IgnoreRules.problems` says what was left out.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from foldline.backends.errors import PathError
from foldline.backends.files.git_index import tracked
from foldline.backends.files.git_patterns import GitPatterns, compile_patterns, encoded, subject_of
from foldline.backends.files.limits import (
    IGNORE_BYTES,
    IGNORE_PATTERNS,
    IGNORE_PATTERNS_IN_ALL,
    IGNORE_WILDCARDS_IN_ALL,
    SETTINGS_BYTES,
)
from foldline.backends.files.reader import read_bytes, read_text
from foldline.backends.files.repository import git_file, git_folder, repository_of
from foldline.backends.formatting.visible import visible
from foldline.records import record

_SHOWN_PATTERN = 40
_WILDCARDS = "*?["
ALWAYS_HIDDEN = frozenset({".git", ".hg", ".svn", ".jj"})
IGNORE_FILES = (".gitignore", ".ignore")
# What decides on the entries of the folder that has it.
RULE_FILES = (".git", *IGNORE_FILES)
DEFAULT_SOURCE = "foldline's defaults"
# Hidden although no ignore file names them; a `!pattern` in one shows them again.
DEFAULTS = (
    "node_modules/",
    "__pycache__/",
    ".venv/",
    ".tox/",
    ".nox/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".idea/",
    ".DS_Store",
    "*.pyc",
    "*.egg-info/",
)
_VERSION_CONTROL = "version control"
_SPECIAL = re.compile(r"[*?\[\\]| \Z")
_IGNORE_CASE = re.compile(r"^[ \t]*ignorecase[ \t]*=[ \t]*(\w+)", re.IGNORECASE | re.MULTILINE)
_EXCLUDES_FILE = re.compile(
    r"^[ \t]*excludesfile[ \t]*=[ \t]*\"?(.+?)\"?[ \t]*\r?$", re.IGNORECASE | re.MULTILINE
)


def read_ignore_file(file: Path, root: Path | None) -> tuple[str, str] | None:
    """The version and the text of an ignore file on disk; None where there is none.

    Raises:
        PathError: There is one, and it is not read.
    """
    if not os.path.lexists(file):
        return None
    data = read_bytes(file, IGNORE_BYTES, root=root).removeprefix(b"\xef\xbb\xbf")
    return ignore_file_version(file), data.decode("utf-8", "surrogateescape")


def rules_version(file: Path) -> str:
    """Fingerprint of what a file of rules says; empty if it is missing."""
    version = ignore_file_version(file)
    return tracked(file, version).version if file.name == "index" else version


def ignore_file_version(file: Path) -> str:
    """Fingerprint of an ignore file's version; empty if the file is missing."""
    try:
        status = file.stat()
    except (OSError, ValueError):
        return ""
    if not stat.S_ISREG(status.st_mode):
        return ""
    return f"{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_size}"


@record
class Ignored:
    """The pattern that hides an entry, the file that has it, and the path; a folder's ends in /."""

    pattern: str
    source: str
    entry: str

    @property
    def cure(self) -> str:
        """The way to look there; what version control has for itself, nothing shows."""
        if self.source == _VERSION_CONTROL:
            return ""
        beside, _, name = self.source.rpartition("/")
        is_near = name in IGNORE_FILES and self.entry.startswith(f"{beside}/")
        folder = f"{beside}/" if is_near else ""
        line = _SPECIAL.sub(r"\\\g<0>", self.entry[len(folder) :])
        return f"the line '!/{line}' in {folder}{IGNORE_FILES[1]} shows it"


@record
class _Rules:
    """The patterns of one file.

    They are relative to the folder `base`, which ends in a slash; or, where that is above the
    workspace, `prefix` leads from there to it.
    """

    base: str
    prefix: str
    source: str
    matcher: GitPatterns

    def above(self, folder: str) -> bytes:
        """The path of a folder with its slash, as the patterns see it."""
        path = f"{folder}/"[len(self.base) :] if folder else ""
        return encoded(self.prefix + path)


class IgnoreRules:
    """The ignore files of one workspace as they are when a folder is first asked about."""

    def __init__(
        self,
        root: Path,
        read: Callable[[Path, Path | None], tuple[str, str] | None] = read_ignore_file,
    ) -> None:
        self._root = root
        self._read_file = read
        self._patterns_left = IGNORE_PATTERNS_IN_ALL
        self._wildcards_left = IGNORE_WILDCARDS_IN_ALL
        # A sentence for each line that was left out of the ignore files.
        self.problems: list[str] = []
        # Every ignore file that was found in the workspace, and what is looked at outside of it.
        self.versions: dict[str, str] = {}
        self._outside = _outside(root)
        repository = repository_of(root)
        config = repository and git_file(repository, "config")
        self._any_case = config is not None and _has_any_case(config)
        files = [*(source.file for source in self._outside), *_git_configurations()]
        files += [config] if config else []
        self._above = {str(file): ignore_file_version(file) for file in files}
        # Folder (relative, "" the root) -> rules that apply to its entries, strongest first.
        self._by_folder: dict[str, tuple[_Rules, ...]] = {}
        # Folder -> the repository that it's in.
        self._repositories: dict[str, _Repository | None] = {"": _repository_around(root)}
        # Folder -> the pattern that hides what git doesn't track in it.
        self._hiding: dict[str, Ignored | None] = {"": None}

    @property
    def above(self) -> dict[str, str]:
        """The versions of what is looked at outside of the workspace, and of what git tracks."""
        repository = self._repositories[""]
        if repository is None:
            return self._above
        file = repository.file
        return {**self._above, str(file): tracked(file, repository.version).version}

    def for_entry(self, folder: str, name: str, *, is_folder: bool) -> Ignored | None:
        """The pattern that hides the entry `name` of `folder`, which itself is not hidden."""
        if name in ALWAYS_HIDDEN:
            return Ignored(name, _VERSION_CONTROL, name)
        decided = self._decided(folder, name, is_folder=is_folder)
        rule = self._hiding_in(folder) or decided
        # `.ignore` isn't git's, and hides what git tracks, too.
        if rule is None or (decided and decided.source.rpartition("/")[2] == IGNORE_FILES[1]):
            return decided
        return None if self._is_tracked(folder, name) else rule

    def _decided(self, folder: str, name: str, *, is_folder: bool) -> Ignored | None:
        """The pattern that is about an entry, if it hides it."""
        subject = subject_of(name, is_folder=is_folder)
        for rules in self._rules(folder):
            if pattern := rules.matcher.last(rules.above(folder), subject):
                path = f"{folder}/{name}" if folder else name
                entry = path + "/" * is_folder
                return None if pattern.shows else Ignored(pattern.line, rules.source, entry)
        return None

    def _hiding_in(self, folder: str) -> Ignored | None:
        """The pattern that hides a folder, of which only what git tracks is shown."""
        for inner in _outermost_first(folder, self._hiding):
            above, _, name = inner.rpartition("/")
            self._hiding[inner] = self._hiding[above] or self._decided(above, name, is_folder=True)
        return self._hiding[folder]

    def _is_tracked(self, folder: str, name: str) -> bool:
        """Return whether git tracks the entry, or anything in it."""
        self._rules(folder)
        repository = self._repositories[folder]
        if repository is None:
            return False
        base, prefix, file, version = repository
        tracked_paths = tracked(file, version)
        if tracked_paths.problem and tracked_paths.problem not in self.problems:
            self.problems.append(tracked_paths.problem)
        path = f"{folder}/{name}" if folder else name
        return tracked_paths.holds(encoded(prefix + path[len(base) :]))

    def hidden(self, folder: str, entries: Sequence[tuple[str, bool]]) -> set[str]:
        """Names of the hidden entries of `folder`, which isn't hidden itself.

        `entries` are pairs: a name, and True if it is a folder.
        """
        kinds = dict(entries)
        likely = {*kinds}
        if not (self._any_case or self._hiding_in(folder)):
            likely = {*(ALWAYS_HIDDEN & kinds.keys())}
            subjects = {subject_of(name, is_folder=kinds[name]): name for name in kinds}
            for rules in self._rules(folder):
                likely |= rules.matcher.likely(rules.above(folder), subjects)
            prefix = f"{folder}/" if folder else ""
            shown = (name for name in kinds.keys() - likely if kinds[name])
            self._hiding.update((prefix + name, None) for name in shown)
        return {name for name in likely if self.for_entry(folder, name, is_folder=kinds[name])}

    def for_path(self, path: str, *, is_folder: bool = False) -> Ignored | None:
        """The pattern that hides `path` or one of the folders above it."""
        parts = path.split("/")
        folder = ""
        for index, name in enumerate(parts):
            inner = is_folder or index < len(parts) - 1
            if rule := self.for_entry(folder, name, is_folder=inner):
                return rule
            folder = f"{folder}/{name}" if folder else name
        return None

    def enter(self, folder: str, names: Collection[str]) -> None:
        """Take note of what `folder` holds, so that it is not searched for ignore files again."""
        self._rules(folder, [name for name in reversed(RULE_FILES) if name in names])

    def _rules(
        self, folder: str, rule_files: Iterable[str] = tuple(reversed(RULE_FILES))
    ) -> tuple[_Rules, ...]:
        for inner in _outermost_first(folder, self._by_folder):
            upper = inner.rpartition("/")[0]
            above = self._by_folder[upper] if inner else self._rules_above()
            folder_rules: list[_Rules] = []
            if inner:
                self._repositories[inner] = self._repositories[upper]
            for name in rule_files if inner == folder else reversed(RULE_FILES):
                if name == ".git":
                    self._enter_repository(inner)
                    continue
                shown = f"{inner}/{name}" if inner else name
                base = f"{inner}/" if inner else ""
                file = self._root / inner / name
                if rules := self._read(file, shown, root=self._root, base=base):
                    folder_rules.append(rules)
            self._by_folder[inner] = (*folder_rules, *above)
        return self._by_folder[folder]

    def _enter_repository(self, folder: str) -> None:
        """Take note of what a repository in the workspace tracks."""
        # To look up the links on the way costs all of the path: only where there is something.
        is_there = folder and os.path.lexists(self._root / folder / ".git")
        if is_there and (index := git_file(self._root / folder, "index")) is not None:
            version = ignore_file_version(index)
            self._repositories[folder] = _Repository(f"{folder}/", "", index, version)
            self.versions[str(index)] = tracked(index, version).version

    def _read(
        self, file: Path, source: str, *, root: Path | None, base: str = "", prefix: str = ""
    ) -> _Rules | None:
        """The rules of a file, which `root` must hold if it is given."""
        try:
            patterns = self._read_file(file, root)
        except PathError as error:
            self.versions[str(file)] = ignore_file_version(file)
            self.problems.append(f"{visible(source)} {error.problem}: nothing of it counts")
            return None
        self.versions[str(file)] = patterns[0] if patterns else ""
        if patterns is None:
            return None
        lines = tuple(
            line
            for line in patterns[1].split("\n")
            if line.strip(" \r") and not line.startswith("#")
        )
        most = min(IGNORE_PATTERNS, self._patterns_left)
        if len(lines) > most:
            self.problems.append(
                f"{visible(source)} has {len(lines):,} patterns: the first {most:,} of them count"
            )
            lines = lines[:most]
        lines = self._within_wildcards(lines, source)
        self._patterns_left -= len(lines)
        if not lines:
            return None
        matcher, malformed = compile_patterns(lines, any_case=self._any_case)
        if malformed:
            first = f"{malformed[0][:_SHOWN_PATTERN]!r}"
            more = f" and {len(malformed) - 1:,} more" if len(malformed) > 1 else ""
            self.problems.append(
                f"{visible(source)}: the malformed pattern {first}{more} matches nothing"
            )
        return _Rules(base, prefix, source, matcher)

    def _within_wildcards(self, lines: tuple[str, ...], source: str) -> tuple[str, ...]:
        """The first of the patterns, as many as have no more wildcards than are left."""
        for number, line in enumerate(lines):
            wildcards = sum(map(line.count, _WILDCARDS))
            if wildcards > self._wildcards_left:
                self.problems.append(
                    f"{visible(source)} has too many wildcards, the limit of all ignore files is "
                    f"{IGNORE_WILDCARDS_IN_ALL:,}: its first {number:,} patterns count"
                )
                return lines[:number]
            self._wildcards_left -= wildcards
        return lines

    def _rules_above(self) -> tuple[_Rules, ...]:
        """The rules from outside the workspace folder, strongest first."""
        kept = [
            rules
            for file, root, prefix in self._outside
            if (rules := self._read(file, str(file), root=root, prefix=prefix))
        ]
        return (*kept, _Rules("", "", DEFAULT_SOURCE, compile_patterns(DEFAULTS)[0]))


def _outermost_first(folder: str, known: Container[str]) -> list[str]:
    """A folder and those above it that aren't known: no call goes as deep as paths do."""
    unknown: list[str] = []
    while folder not in known:
        unknown.append(folder)
        if not folder:
            break
        folder = folder.rpartition("/")[0]
    return unknown[::-1]


class _Repository(NamedTuple):
    """A repository's index: what is in the folder `base` stands in it behind `prefix`."""

    base: str
    prefix: str
    file: Path
    version: str


def _repository_around(root: Path) -> _Repository | None:
    """The repository of the workspace."""
    if (repository := repository_of(root)) and (index := git_file(repository, "index")):
        return _Repository("", _prefix(root, repository), index, ignore_file_version(index))
    return None


class _Outside(NamedTuple):
    """An ignore file outside the workspace, or of git's own, which `root` must hold if given.

    `prefix` leads from its folder to the workspace.
    """

    file: Path
    root: Path | None
    prefix: str


def _outside(root: Path) -> list[_Outside]:
    """The ignore files outside the workspace that may have rules for it, the strongest first."""
    outside: list[_Outside] = []
    repository = repository_of(root)
    if repository is not None:
        folder = root
        while folder != repository:
            folder = folder.parent
            prefix = root.relative_to(folder).as_posix() + "/"
            outside += [
                _Outside(folder / name, repository, prefix) for name in reversed(IGNORE_FILES)
            ]
        git, holder = repository / ".git", repository
        if not git.is_dir():
            with suppress(OSError, PathError, RuntimeError, ValueError):
                git = holder = git_folder(repository)
        outside.append(_Outside(git / "info" / "exclude", holder, _prefix(root, repository)))
    # The user's own, which may be a link to anywhere.
    outside.append(_Outside(_global_excludes(), None, ""))
    return outside


def _prefix(root: Path, repository: Path) -> str:
    return "" if root == repository else root.relative_to(repository).as_posix() + "/"


def _has_any_case(config: Path) -> bool:
    """Return whether letters have no case to git, by a repository's configuration."""
    with suppress(PathError):
        values = _IGNORE_CASE.findall(read_text(config, SETTINGS_BYTES))
        return bool(values) and values[-1].lower() in {"true", "yes", "on", "1"}
    return False


def _global_excludes() -> Path:
    for file in _git_configurations():
        try:
            text = read_text(file, SETTINGS_BYTES)
        except PathError:
            continue
        if match := _EXCLUDES_FILE.search(text):
            return Path(match.group(1)).expanduser()
    return _git_configurations()[1].with_name("ignore")


def _git_configurations() -> tuple[Path, Path]:
    """The files of git's configuration that may name the user's own excludes."""
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return Path.home() / ".gitconfig", configuration / "git" / "config"
