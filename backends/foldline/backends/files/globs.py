"""Globs as ripgrep, editors and models write them: `.gitignore` patterns, braces, commas, `!`."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice, pairwise, takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.backends.errors import InvalidArgumentError, MissingPathError, OutsideWorkspaceError
from foldline.backends.files.git_patterns import compile_patterns, encoded, subject_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from foldline.backends.files.base import FileBackend
    from foldline.backends.files.git_patterns import GitPatterns

MAGIC = frozenset("*?[{,!")
_TOKEN = re.compile(r"\[!?\]?[^\]/]{0,255}\]|.", re.DOTALL)
_SPECIAL = re.compile(r"([*?\[\]!#])")
_MOST_PATTERNS = 500
_MOST_BRACES = 50
_MOST_NESTED = 200
_MOST_KINDS = 4


class Glob:
    """The paths that a glob matches: `*.{ts,tsx}`, `*.go,!*_test.go`, `!docs/`, `/src/**/*.py`.

    Each part follows the rules of `.gitignore`: `*.py` matches at any depth, `src/*.ts` from the
    root. A part that exists is that file or folder. What a `!` excludes stays out, in any order;
    parts that only exclude leave everything else. A comma or a brace in a name stands for itself
    as `[,]`, and wherever the text as it is written matches.

    Raises:
        InvalidArgumentError: The text isn't a glob.
    """

    def __init__(self, files: FileBackend, text: str) -> None:
        self.text = text
        written = re.sub(r"\\([,{}])", r"[\1]", text.strip()).replace("\\", "/")
        if written.count("{") > _MOST_BRACES:
            raise InvalidArgumentError("glob", f"has more than {_MOST_BRACES} braces")
        words = written.split()
        if len(words) > 1 and all(MAGIC & set(word) for word in words):
            written = ",".join(words)
        parts = [*islice(alternatives(f"{{{written}}}"), _MOST_PATTERNS + 1)]
        if len(parts) > _MOST_PATTERNS:
            raise InvalidArgumentError("glob", f"stands for more than {_MOST_PATTERNS} patterns")
        named = [part.strip() for part in parts if part.strip(" !")]
        excluded = [_pattern(files, part.lstrip("!")) for part in named if part.startswith("!")]
        self.included = [
            _pattern(files, part, exact=True) for part in named if not part.startswith("!")
        ]
        if not named:
            raise InvalidArgumentError("glob", f"{text!r} is not a glob: it names nothing")
        literal = [_pattern(files, written)] if self.included else []
        self._included = self._compiled([*self.included, *literal])
        self._excluded = self._compiled(excluded)

    def _compiled(self, patterns: Collection[str]) -> PathPatterns | None:
        compiled, malformed = compile_patterns(tuple(patterns))
        if malformed:
            raise InvalidArgumentError(
                "glob", f"{self.text!r} is not a glob: {malformed[0]!r} matches nothing"
            )
        return PathPatterns(compiled) if patterns else None

    def matches(self, path: str) -> bool:
        """Return whether the path, as `walk` gives it, is one of these."""
        if self._included is not None and not self._included.hold(path):
            return False
        return self._excluded is None or not self._excluded.hold(path)

    def near(self, paths: Collection[str]) -> str:
        """Say where such files are, or what the folder has, when none of these paths matches."""
        if not self.included or not paths:
            return "it excludes every file" if paths else "there are no files"
        pattern = self.included[0].strip("/")
        *folders, name = pattern.split("/")
        folder = "/".join(takewhile(MAGIC.isdisjoint, folders))
        below = [path for path in paths if path.startswith(f"{folder}/")] if folder else paths
        if not below:
            existing = {str(above) for path in paths for above in PurePosixPath(path).parents}
            same = sorted(one for one in existing if one.endswith(f"/{folder.rpartition('/')[2]}"))
            near = (*same[:3], *near_names(folder, existing))
            return f"there is no folder {folder}/{did_you_mean(dict.fromkeys(near))}"
        kind = PurePosixPath(name).suffix
        where = Counter(f"{path.rpartition('/')[0]}/" for path in below if path.endswith(kind))
        fact = f"{kind} files are in"
        if not kind or not where or MAGIC & set(kind):
            fact = f"{folder or '.'}/ has"
            where = Counter(PurePosixPath(path).suffix or path.rpartition("/")[2] for path in below)
        counted = (f"{name} ({count})" for name, count in where.most_common(_MOST_KINDS))
        return f"{fact} {', '.join(counted)}"


class PathPatterns:
    """The paths that patterns match, and those below; a later `!` takes some out."""

    def __init__(self, patterns: GitPatterns) -> None:
        self._patterns = patterns
        self._folders = {"": False}

    def hold(self, path: str) -> bool:
        """Return whether a pattern matches the file, or a folder that it's in."""
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            parts = folder.split("/")
            self._folders[folder] = any(
                self._is_matched("/".join(parts[:number]), part, is_folder=True)
                for number, part in enumerate(parts)
            )
        return self._folders[folder] or self._is_matched(folder, name, is_folder=False)

    def _is_matched(self, folder: str, name: str, *, is_folder: bool) -> bool:
        above = encoded(f"{folder}/") if folder else b""
        pattern = self._patterns.last(above, subject_of(name, is_folder=is_folder))
        return pattern is not None and not pattern.shows


def alternatives(text: str) -> Iterator[str]:
    """The text once for each alternative in its braces, if they're as few as people write."""
    tokens = _TOKEN.findall(text)
    depth, cuts = 0, list[int]()
    for at, token in enumerate(tokens):
        depth += (token == "{") - (token == "}" and depth > 0)
        if (depth == 1 and token in "{,") or (cuts and not depth):
            cuts.append(at)
        if cuts and not depth:
            break
    if not cuts or depth or tokens.count("{") > _MOST_NESTED:
        yield text
        return
    head, tail = "".join(tokens[: cuts[0]]), "".join(tokens[cuts[-1] + 1 :])
    for start, end in pairwise(cuts):
        yield from alternatives(head + "".join(tokens[start + 1 : end]) + tail)


def _pattern(files: FileBackend, part: str, *, exact: bool = False) -> str:
    """The pattern from the root, if it's an absolute path in it, or `exact` and one that exists."""
    try:
        if exact:
            return "/" + _SPECIAL.sub(r"\\\1", files.resolve(part, exact=True)).removeprefix(".")
    except (MissingPathError, OutsideWorkspaceError):
        pass
    if not part.startswith("/"):
        return part.removeprefix("./")
    try:
        return f"/{files.resolve_unsaved(part)}{'/' * part.endswith('/')}"
    except OutsideWorkspaceError:
        return part
