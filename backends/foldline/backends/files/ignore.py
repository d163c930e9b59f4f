"""Ignore files: the paths that they hide, by git's rules.

Rules, weakest first: foldline's defaults, git's global excludes, `.git/info/exclude`, then the
`.gitignore` and `.ignore` files from the repository's root down to the path's own folder, `.ignore`
above `.gitignore` of the same folder. Within them, the last pattern that matches decides. What is
below a hidden folder stays hidden.

As with git, a malformed pattern matches nothing, and an ignore file that cannot be read hides
nothing: ignoring keeps answers short, it isn't what keeps a file from being read, and one broken
line must not take a workspace away. `IgnoreRules.problems` says what was left out.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.errors import PathError
from foldline.backends.files.limits import (
    IGNORE_BYTES,
    IGNORE_PATTERN_CHARACTERS,
    IGNORE_PATTERNS,
    IGNORE_PATTERNS_IN_ALL,
    IGNORE_WILDCARDS_IN_ALL,
    SETTINGS_BYTES,
)
from foldline.backends.files.reader import read_text
from foldline.backends.files.repository import git_folder, repository_of
from foldline.backends.formatting.visible import visible
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    from foldline.backends.base.bounded_regex import AnyLine

_SHOWN_PATTERN = 40
_WILDCARDS = "*?["
ALWAYS_HIDDEN = frozenset({".git", ".hg", ".svn", ".jj"})
IGNORE_FILES = (".gitignore", ".ignore")
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
    return ignore_file_version(file), read_text(file, IGNORE_BYTES, root=root)


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
    """The pattern that hides a path, and the file it stands in."""

    pattern: str
    source: str


@record
class _Rules:
    """The patterns of one file.

    They are relative to the folder `base`, which ends in a slash; or, where that is above the
    workspace, `prefix` leads from there to it.
    """

    base: str
    prefix: str
    source: str
    matchers: tuple[_Matcher, ...]

    def decide(self, path: str) -> tuple[bool, str] | None:
        subject = self.prefix + path[len(self.base) :]
        if not subject.isascii():
            # A name may hold bytes that are no text, and the matcher takes UTF-8 only.
            subject = subject.encode("utf-8", "replace").decode()
        for matcher in self.matchers:
            result = matcher.spec.check_file(subject)
            if result.include is not None and result.index is not None:
                return result.include, matcher.patterns[result.index]
        return None

    def likely(self, folder: str, entries: Sequence[tuple[str, bool]]) -> Iterable[int]:
        """The numbers of the entries that may match; most folders have none, seen at once."""
        above = self.prefix + f"{folder}/"[len(self.base) :] if folder else self.prefix
        text = "\n".join(
            f"{above}{name}/" if is_folder else above + name for name, is_folder in entries
        )
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
        found: set[int] = set()
        for matcher in self.matchers:
            numbers = matcher.any_line.numbers(text)
            if numbers is None or text.count("\n") >= len(entries):
                return range(len(entries))
            found |= numbers
        return found


class _Matcher(NamedTuple):
    """Successive patterns of one file, compiled together.

    `any_line` matches in each line with a path that one of them matches.
    """

    patterns: tuple[str, ...]
    spec: GitIgnoreSpec
    any_line: AnyLine


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
        files = (*(place.file for place in self._outside), *_git_configurations())
        self.above = {str(file): ignore_file_version(file) for file in files}
        # Folder (relative, "" the root) -> rules that apply to its entries, strongest first.
        self._by_folder: dict[str, tuple[_Rules, ...]] = {}

    def for_entry(self, folder: str, name: str, *, is_folder: bool) -> Ignored | None:
        """The pattern that hides the entry `name` of `folder`, which itself is not hidden."""
        if name in ALWAYS_HIDDEN:
            return Ignored(name, "version control")
        path = f"{folder}/{name}" if folder else name
        subject = f"{path}/" if is_folder else path
        for rules in self._rules(folder):
            if decision := rules.decide(subject):
                hidden, pattern = decision
                return Ignored(pattern, rules.source) if hidden else None
        return None

    def hidden(self, folder: str, entries: Sequence[tuple[str, bool]]) -> set[str]:
        """Names of the hidden entries of `folder`, which isn't hidden itself.

        `entries` are pairs: a name, and True if it is a folder.
        """
        likely = {number for number, (name, _) in enumerate(entries) if name in ALWAYS_HIDDEN}
        for rules in self._rules(folder) if entries else ():
            likely.update(rules.likely(folder, entries))
        return {
            name
            for name, is_folder in (entries[number] for number in likely)
            if self.for_entry(folder, name, is_folder=is_folder) is not None
        }

    def for_path(self, path: str, *, is_folder: bool = False) -> Ignored | None:
        """The pattern that hides `path` or one of the folders above it."""
        parts = path.split("/")
        folder = ""
        for index, name in enumerate(parts):
            inner = is_folder or index < len(parts) - 1
            if found := self.for_entry(folder, name, is_folder=inner):
                return found
            folder = f"{folder}/{name}" if folder else name
        return None

    def enter(self, folder: str, names: Collection[str]) -> None:
        """Take note of what `folder` holds, so that it is not searched for ignore files again."""
        self._rules(folder, [name for name in reversed(IGNORE_FILES) if name in names])

    def _rules(
        self, folder: str, ignore_files: Iterable[str] = tuple(reversed(IGNORE_FILES))
    ) -> tuple[_Rules, ...]:
        known = self._by_folder.get(folder)
        if known is None:
            above = self._rules(folder.rpartition("/")[0]) if folder else self._rules_above()
            own: list[_Rules] = []
            for name in ignore_files:
                shown = f"{folder}/{name}" if folder else name
                base = f"{folder}/" if folder else ""
                file = self._root / folder / name
                if rules := self._read(file, shown, root=self._root, base=base):
                    own.append(rules)
            known = self._by_folder[folder] = (*own, *above)
        return known

    def _read(
        self, file: Path, source: str, *, root: Path | None, base: str = "", prefix: str = ""
    ) -> _Rules | None:
        """The rules of a file, which `root` must hold if it is given."""
        try:
            found = self._read_file(file, root)
        except PathError as error:
            self.versions[str(file)] = ignore_file_version(file)
            self.problems.append(f"{visible(source)} {error.problem}: nothing of it counts")
            return None
        self.versions[str(file)] = found[0] if found else ""
        if found is None:
            return None
        lines = tuple(
            line for line in found[1].splitlines() if line.strip() and not line.startswith("#")
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
        matchers, malformed = _compile(lines)
        if malformed:
            first = f"{malformed[0][:_SHOWN_PATTERN]!r}"
            more = f" and {len(malformed) - 1:,} more" if len(malformed) > 1 else ""
            self.problems.append(
                f"{visible(source)}: the malformed pattern {first}{more} matches nothing"
            )
        return _Rules(base, prefix, source, matchers)

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
        found = [
            rules
            for file, root, prefix in self._outside
            if (rules := self._read(file, str(file), root=root, prefix=prefix))
        ]
        return (*found, _default_rules())


class _Outside(NamedTuple):
    """An ignore file outside the workspace, or of git's own, which `root` must hold if given.

    `prefix` leads from its folder to the workspace.
    """

    file: Path
    root: Path | None
    prefix: str


def _outside(root: Path) -> list[_Outside]:
    """The ignore files outside the workspace that may have rules for it, the strongest first."""
    found: list[_Outside] = []
    repository = repository_of(root)
    if repository is not None:
        folder = root
        while folder != repository:
            folder = folder.parent
            prefix = root.relative_to(folder).as_posix() + "/"
            found += [
                _Outside(folder / name, repository, prefix) for name in reversed(IGNORE_FILES)
            ]
        git, holder = repository / ".git", repository
        if not git.is_dir():
            with suppress(OSError, PathError, RuntimeError, ValueError):
                git = holder = git_folder(repository)
        found.append(_Outside(git / "info" / "exclude", holder, _prefix(root, repository)))
    # The user's own, which may be a link to anywhere.
    found.append(_Outside(_global_excludes(), None, ""))
    return found


# `a/**` is what `a` holds, not the folder itself: a later `!b` may bring back a file in it.
_INSIDE = re.compile(r"([^/*\\])/\*\*\Z")
# pathspec's patterns also match below a folder. Ours are asked about each folder on the way, and a
# `!b` shows a folder `b`, but nothing in it that another pattern hides.
_ENDS = (("(?:(?P<ps_d>/)|$)", "/?$"), ("(?P<ps_d>/)", "/$"))


@lru_cache(maxsize=4096)
def _compile(lines: tuple[str, ...]) -> tuple[tuple[_Matcher, ...], tuple[str, ...]]:
    """The patterns compiled, the strongest first, and those that are malformed."""
    from foldline.backends.base.bounded_regex import ignore_pattern

    patterns: list[tuple[str, GitIgnoreSpecPattern]] = []
    malformed: list[str] = []
    for line in lines:
        try:
            if len(line) > IGNORE_PATTERN_CHARACTERS:
                raise ValueError("no path is longer")
            pattern = ignore_pattern(_INSIDE.sub(r"\1/**/*", line))
            if pattern.regex is not None:
                text = pattern.regex.pattern
                for below, end in _ENDS:
                    text = text.replace(below, end)
                pattern.regex = re.compile(text)
            patterns.append((line, pattern))
        except Exception:
            malformed.append(line)
    matchers: list[_Matcher] = []
    _compile_together(patterns, matchers, malformed)
    return tuple(matchers), tuple(malformed)


def _compile_together(
    patterns: Sequence[tuple[str, GitIgnoreSpecPattern]],
    matchers: list[_Matcher],
    malformed: list[str],
) -> None:
    """Append matchers of all patterns, the last patterns first.

    Engines have limits on what they compile at once: what is too much is halved.
    """
    from foldline.backends.base.bounded_regex import AnyLine, compile_ignore_patterns

    if not patterns:
        return
    try:
        any_line = AnyLine([pattern for _, pattern in patterns])
        spec = compile_ignore_patterns([pattern for _, pattern in patterns])
    except Exception:
        if len(patterns) == 1:
            malformed.append(patterns[0][0])
            return
        middle = len(patterns) // 2
        _compile_together(patterns[middle:], matchers, malformed)
        _compile_together(patterns[:middle], matchers, malformed)
    else:
        matchers.append(_Matcher(tuple(line for line, _ in patterns), spec, any_line))


@lru_cache(maxsize=1)
def _default_rules() -> _Rules:
    return _Rules("", "", "foldline's defaults", _compile(DEFAULTS)[0])


def _prefix(root: Path, repository: Path) -> str:
    return "" if root == repository else root.relative_to(repository).as_posix() + "/"


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
