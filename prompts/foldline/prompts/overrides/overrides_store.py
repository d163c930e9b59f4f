"""Overrides on disk: one JSON file per prompt and tag."""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.prompts.errors import PromptValidationError
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
        parts = [*ns.split("/"), key, tag]
        for part in parts:
            if _NAME.fullmatch(part) is None or part.endswith("."):
                raise PromptValidationError(
                    f"{part!r} of {ns}/{key}, tag {tag!r}, cannot name a file; use letters, "
                    "digits, `.`, `_` and `-`, beginning with a letter, digit or `_`."
                )
        path = self.directory.joinpath(*parts[:-1], f"{tag}.json")
        if not path.resolve().is_relative_to(self.directory.resolve()):
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
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise PromptValidationError(f"{path} is not JSON: {error}") from error
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise PromptValidationError(f"{path} is not an overrides file of format {FORMAT}.")
        try:
            override = convert(values, PromptOverride, allow_extra_keys=False)
        except Mismatch as mismatch:
            raise PromptValidationError(f"{path}: {mismatch}") from mismatch
        assert isinstance(override, PromptOverride)
        if (override.ns, override.key, override.tag) != (ns, key, tag):
            raise PromptValidationError(
                f"{path} says it is for {override.ns}/{override.key}, tag {override.tag!r}."
            )
        return override

    def save(
        self, override: PromptOverride, *, template: PromptTemplate[object] | None = None
    ) -> Path:
        """Write the overrides atomically, and return their file.

        Raises:
            PromptValidationError: `template` is given, and refuses one of the texts.
        """
        issues = () if template is None else apply_overrides(template, override).issues
        refused = [f"{issue.what}: {issue.reason}" for issue in issues if issue.kind == "refused"]
        if refused:
            raise PromptValidationError(" ".join(refused))
        path = self.path_for(override.ns, override.key, override.tag)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, **asdict(override)}, indent=2, ensure_ascii=False)
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
        return path

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
        existed = path.exists()
        path.unlink(missing_ok=True)
        return existed
