"""Which paths ignore files hide, by git's rules.

Rules, weakest first: foldline's defaults, git's global excludes, `.git/info/exclude`, then the
`.gitignore` and `.ignore` files from the repository's root down to the path's own folder, `.ignore`
above `.gitignore` of the same folder. Within them, the last pattern that matches decides. What is
below a hidden folder stays hidden.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from pathspec import GitIgnoreSpec

ALWAYS_HIDDEN = frozenset({".git", ".hg", ".svn", ".jj"})
IGNORE_FILES = (".gitignore", ".ignore")
# What no ignore file needs to name; a `!pattern` in one brings it back.
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
_EXCLUDES_FILE = re.compile(r"^\s*excludesfile\s*=\s*\"?(.+?)\"?\s*$", re.IGNORECASE | re.MULTILINE)


def read_ignore_file(file: Path) -> tuple[str, str] | None:
    """The version and the text of an ignore file on disk; None where there is none."""
    version = ignore_file_version(file)
    if not version:
        return None
    try:
        return version, file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def ignore_file_version(file: Path) -> str:
    """What tells one version of an ignore file from another; empty where there is none."""
    try:
        status = file.stat()
    except (OSError, ValueError):
        return ""
    if not stat.S_ISREG(status.st_mode):
        return ""
    return f"{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_size}"


@dataclass(frozen=True, slots=True)
class Ignored:
    """The pattern that hides a path, and the file it stands in."""

    pattern: str
    source: str


@dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns of one file; `base` is the folder they are relative to, with a final slash."""

    base: str
    source: str
    patterns: tuple[str, ...]
    spec: GitIgnoreSpec

    def decide(self, path: str) -> tuple[bool, str] | None:
        subject = path[len(self.base) :]
        if not subject.isascii():
            # A name may hold bytes that are no text, and the matcher takes UTF-8 only.
            subject = subject.encode("utf-8", "replace").decode()
        result = self.spec.check_file(subject)
        if result.include is None or result.index is None:
            return None
        return result.include, self.patterns[result.index]


class IgnoreRules:
    """The ignore files of one workspace as they are when a folder is first asked about."""

    def __init__(
        self, root: Path, read: Callable[[Path], tuple[str, str] | None] = read_ignore_file
    ) -> None:
        self._root = root
        self._read_file = read
        # Every ignore file that was looked for outside the workspace or found in it.
        self.versions: dict[str, str] = {}
        self._above = self._rules_above()
        # Folder (relative, "" the root) -> rules that apply to its entries, strongest first.
        self._by_folder: dict[str, tuple[_Rules, ...]] = {}

    def for_entry(self, folder: str, name: str, *, is_folder: bool) -> Ignored | None:
        """What hides the entry `name` of `folder`, which itself is not hidden."""
        if name in ALWAYS_HIDDEN:
            return Ignored(name, "version control")
        path = f"{folder}/{name}" if folder else name
        subject = f"{path}/" if is_folder else path
        for rules in self._rules(folder):
            if decision := rules.decide(subject):
                hidden, pattern = decision
                return Ignored(pattern, rules.source) if hidden else None
        return None

    def for_path(self, path: str, *, is_folder: bool = False) -> Ignored | None:
        """What hides `path` or one of the folders above it."""
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
            above = self._above if not folder else self._rules(folder.rpartition("/")[0])
            own: list[_Rules] = []
            for name in ignore_files:
                shown = f"{folder}/{name}" if folder else name
                base = f"{folder}/" if folder else ""
                if rules := self._read(self._root / folder / name, base, shown):
                    own.append(rules)
            known = self._by_folder[folder] = (*own, *above)
        return known

    def _read(self, file: Path, base: str, source: str, prefix: str = "") -> _Rules | None:
        found = self._read_file(file)
        self.versions[str(file)] = found[0] if found else ""
        if found is None:
            return None
        lines = tuple(
            line for line in found[1].splitlines() if line.strip() and not line.startswith("#")
        )
        return _compile(lines, base, source, prefix) if lines else None

    def _rules_above(self) -> tuple[_Rules, ...]:
        """The rules from outside the workspace folder, strongest first."""
        found: list[_Rules] = []
        repository = _repository_of(self._root)
        if repository is not None:
            folder = self._root
            while folder != repository:
                folder = folder.parent
                prefix = self._root.relative_to(folder).as_posix() + "/"
                found.extend(
                    rules
                    for name in reversed(IGNORE_FILES)
                    if (rules := self._read(folder / name, "", str(folder / name), prefix))
                )
            exclude = repository / ".git" / "info" / "exclude"
            if rules := self._read(exclude, "", str(exclude), _prefix(self._root, repository)):
                found.append(rules)
        excludes = _global_excludes()
        if rules := self._read(excludes, "", str(excludes)):
            found.append(rules)
        found.append(_default_rules())
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _PrefixedRules(_Rules):
    """Rules of a folder above the workspace: paths gain the way down to it."""

    prefix: str = ""

    def decide(self, path: str) -> tuple[bool, str] | None:
        result = self.spec.check_file(self.prefix + path)
        if result.include is None or result.index is None:
            return None
        return result.include, self.patterns[result.index]


@lru_cache(maxsize=4096)
def _compile(lines: tuple[str, ...], base: str, source: str, prefix: str = "") -> _Rules:
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    from foldline.backends.bounded_regex import compile_ignore_patterns

    try:
        spec = compile_ignore_patterns([GitIgnoreSpecPattern(line) for line in lines])
    except GitIgnorePatternError:
        # As git does: a malformed pattern matches nothing, the others still count.
        lines = tuple(line for line in lines if _is_well_formed(line))
        spec = compile_ignore_patterns([GitIgnoreSpecPattern(line) for line in lines])
    if prefix:
        return _PrefixedRules(base, source, lines, spec, prefix)
    return _Rules(base, source, lines, spec)


def _is_well_formed(line: str) -> bool:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore import GitIgnorePatternError

    try:
        GitIgnoreSpec.from_lines([line])
    except GitIgnorePatternError:
        return False
    return True


@lru_cache(maxsize=1)
def _default_rules() -> _Rules:
    return _compile(DEFAULTS, "", "foldline's defaults")


def _prefix(root: Path, repository: Path) -> str:
    return "" if root == repository else root.relative_to(repository).as_posix() + "/"


def _repository_of(root: Path) -> Path | None:
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            return folder
    return None


def _global_excludes() -> Path:
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    for file in (Path.home() / ".gitconfig", configuration / "git" / "config"):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if match := _EXCLUDES_FILE.search(text):
            return Path(match.group(1)).expanduser()
    return configuration / "git" / "ignore"
