"""Overrides on disk: one JSON file per prompt and tag."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING

from foldline.links import resolved
from foldline.prompts.errors import OverrideConflictError, PromptValidationError
from foldline.prompts.files import read_text_file
from foldline.prompts.forms.tags import LATEST
from foldline.prompts.forms.values import Mismatch, convert
from foldline.prompts.overrides.overrides import PromptOverride, apply_overrides, seed_override

if TYPE_CHECKING:
    from foldline.prompts.template import PromptTemplate

FORMAT = 1
MAX_BYTES = 4 << 20
"""Larger than all the texts of any prompt that fits a model."""
LEFT_SECONDS = 600.0
LOCK_SECONDS = 10.0
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class OverridesStore:
    """A project's overrides, in `.foldline/prompts/overrides/<ns>/<key>/<tag>.json`.

    Files are written atomically, and never outside the store's directory.

    Args:
        root: The project's directory.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.directory = Path(root) / ".foldline" / "prompts" / "overrides"

    def path_for(self, ns: str, key: str, tag: str = LATEST) -> Path:
        """Return the file of one prompt and tag, which may not exist.

        Raises:
            PromptValidationError: A name can't be part of a path, or the path leads outside.
        """
        parts = checked_names(ns, key, tag)
        path = self.directory.joinpath(*parts[:-1], f"{tag}.json")
        if not resolved(path).is_relative_to(resolved(self.directory)):
            raise PromptValidationError(
                f"{path} leads outside of the overrides' directory; remove the link in it."
            )
        return path

    def tags(self, ns: str, key: str) -> tuple[str, ...]:
        """Return a prompt's tags, sorted."""
        directory = self.path_for(ns, key).parent
        return tuple(sorted(path.stem for path in directory.glob("*.json")))

    def load(self, ns: str, key: str, tag: str = LATEST) -> PromptOverride | None:
        """Return the overrides of a prompt under a tag; None if there are none.

        Raises:
            PromptValidationError: It isn't a regular file or an overrides file, is another
                prompt's, or is too large.
        """
        path = self.path_for(ns, key, tag)
        try:
            text = read_text_file(path, MAX_BYTES)
        except FileNotFoundError:
            return None
        return read_override(text, str(path), (ns, key, tag))

    def save(
        self,
        override: PromptOverride,
        *,
        template: PromptTemplate[object] | None = None,
        expected: str | EllipsisType | None = ...,
    ) -> Path:
        """Write the overrides atomically, and return their file; see `OverrideStore`.

        Raises:
            PromptValidationError: `template` is given, and refuses one of the texts.
            OverrideConflictError: The file isn't what was `expected`.
            TimeoutError: Another process writes for more than ten seconds.
        """
        check_texts(override, template)
        path = self.path_for(override.ns, override.key, override.tag)
        with self._locked():
            if expected is not ...:
                current = self.load(override.ns, override.key, override.tag)
                written = datetime.fromtimestamp(path.stat().st_mtime if current else 0, UTC)
                changed = f"at {written:%Y-%m-%d %H:%M:%S} UTC"
                check_expected(current, override, expected, changed)
            self._write(path, override)
        return path

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes from writing; a lock of SQLite's ends with its process."""
        # Editors check prompts with this module, and write none.
        import sqlite3

        self.directory.mkdir(parents=True, exist_ok=True)
        file = self.directory / ".lock"
        with closing(sqlite3.connect(file, timeout=LOCK_SECONDS, isolation_level=None)) as lock:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                raise TimeoutError(f"{file}: {error}") from error
            yield

    def _write(self, path: Path, override: PromptOverride) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = text_of(override)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
                file.flush()
                os.fsync(file.fileno())
            # Left by killed writers; the files of running writers are younger.
            oldest = Path(temporary).stat().st_mtime - LEFT_SECONDS
            for left in path.parent.glob(".*.tmp"):
                with suppress(OSError):
                    if left.lstat().st_mtime < oldest:
                        left.unlink()
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def seed(self, template: PromptTemplate[object], *, tag: str = LATEST) -> Path:
        """Write a file with all texts of a prompt, ready to edit, and return its path.

        Raises:
            PromptValidationError: The file already exists.
        """
        path = self.path_for(template.ns, template.key, tag)
        if path.exists():
            raise PromptValidationError(
                f"{path} exists already; delete it or choose another tag to start afresh."
            )
        return self.save(seed_override(template, tag=tag))

    def delete(self, ns: str, key: str, tag: str = LATEST) -> bool:
        """Remove the overrides of a prompt under a tag; returns True if there were any."""
        path = self.path_for(ns, key, tag)
        with self._locked():
            existed = path.exists()
            path.unlink(missing_ok=True)
        return existed


def checked_names(ns: str, key: str, tag: str) -> list[str]:
    """Return the parts of a prompt's name and its tag, each fit for a file's name.

    Raises:
        PromptValidationError: One isn't.
    """
    parts = [*ns.split("/"), key, tag]
    for part in parts:
        if _NAME.fullmatch(part) is None or part.endswith("."):
            raise PromptValidationError(
                f"{part!r} of {ns}/{key}, tag {tag!r}, cannot name a file; use letters, "
                "digits, `.`, `_` and `-`, beginning with a letter, digit or `_`."
            )
    return parts


def read_override(text: str, where: str, names: tuple[str, str, str]) -> PromptOverride:
    """Return the overrides in a stored text, which are those of `names`: ns, key and tag.

    Raises:
        PromptValidationError: They aren't.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PromptValidationError(f"{where} is not JSON: {error}") from error
    if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
        raise PromptValidationError(f"{where} is not an overrides file of format {FORMAT}.")
    try:
        override = convert(values, PromptOverride, allow_extra_keys=False)
    except Mismatch as mismatch:
        raise PromptValidationError(f"{where}: {mismatch}") from mismatch
    assert isinstance(override, PromptOverride)
    if (override.ns, override.key, override.tag) != names:
        raise PromptValidationError(
            f"{where} says it is for {override.ns}/{override.key}, tag {override.tag!r}."
        )
    return override


def text_of(override: PromptOverride) -> str:
    """Return the text that `read_override` reads.

    Raises:
        PromptValidationError: It has more bytes than are read.
    """
    values = {"format": FORMAT, **asdict(override)}
    text = json.dumps(values, indent=2, ensure_ascii=False)
    if re.search("[\ud800-\udfff]", text):
        # UTF-8 has none.
        text = json.dumps(values, indent=2)
    if len(text.encode()) >= MAX_BYTES:
        raise PromptValidationError(f"The overrides have more than {MAX_BYTES:,} bytes.")
    return text


def check_texts(override: PromptOverride, template: PromptTemplate[object] | None) -> None:
    """Raise a `PromptValidationError` where the template refuses a text."""
    issues = () if template is None else apply_overrides(template, override).issues
    refused = [f"{issue.what}: {issue.reason}" for issue in issues if issue.kind == "refused"]
    if refused:
        raise PromptValidationError(" ".join(refused))


def check_expected(
    current: PromptOverride | None, override: PromptOverride, expected: str | None, changed: str
) -> None:
    """Raise an `OverrideConflictError` where what is stored isn't what was expected.

    Args:
        current: What is stored.
        override: What is to be stored.
        expected: The hash that `current` should have.
        changed: Who wrote `current`, and when.
    """
    if expected == (None if current is None else current.content_hash):
        return
    theirs, ours = _texts(current), _texts(override)
    names = sorted(name for name in theirs.keys() | ours if theirs.get(name) != ours.get(name))
    what = "were deleted" if current is None else f"have changed ({changed})"
    raise OverrideConflictError(
        f"The overrides of {override.ns}/{override.key}, tag {override.tag!r}, {what} since you "
        f"read them. Yours differ in {', '.join(names)}. Load them again, make your change to "
        "those, and save with their `content_hash`."
    )


def _texts(override: PromptOverride | None) -> dict[str, object]:
    if override is None:
        return {}
    sections = {".".join(section.path): section for section in override.sections}
    return {**sections, **{tool.name: tool for tool in override.tools}}
