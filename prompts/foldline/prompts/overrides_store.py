"""Overrides on disk: one readable JSON file per prompt and tag."""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.files import read_text_file
from foldline.prompts.overrides import PromptOverride, seed_override
from foldline.prompts.values import Mismatch, convert

if TYPE_CHECKING:
    from foldline.prompts.template import PromptTemplate

__all__ = ["OverridesStore"]

FORMAT = 1
MAX_BYTES = 4 << 20
"""More than all texts of a prompt that a model could be given."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class OverridesStore:
    """The overrides of a project, in `.foldline/prompts/overrides/<ns>/<key>/<tag>.json`.

    Files are written whole or not at all, and never outside the store's directory.

    Args:
        root: The project's directory.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.directory = Path(root) / ".foldline" / "prompts" / "overrides"

    def path_for(self, ns: str, key: str, tag: str = "latest") -> Path:
        """The file of one prompt and tag, whether it exists or not.

        Raises:
            PromptValidationError: A name cannot be part of a path, or the path leads outside.
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
        """The tags that exist for a prompt, sorted."""
        directory = self.path_for(ns, key).parent
        return tuple(sorted(path.stem for path in directory.glob("*.json")))

    def load(self, ns: str, key: str, tag: str = "latest") -> PromptOverride | None:
        """The overrides of a prompt under a tag; None if there are none.

        Raises:
            PromptValidationError: The file is not one of overrides, is another prompt's, is too
                large, or is no regular file.
        """
        path = self.path_for(ns, key, tag)
        try:
            text = read_text_file(path, MAX_BYTES)
        except FileNotFoundError:
            return None
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise PromptValidationError(f"{path} is no JSON: {error}") from error
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise PromptValidationError(f"{path} is no overrides file of format {FORMAT}.")
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

    def save(self, override: PromptOverride) -> Path:
        """Write the overrides and give their file; a reader sees the old file or the new one."""
        path = self.path_for(override.ns, override.key, override.tag)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, **asdict(override)}, indent=2, ensure_ascii=False)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return path

    def seed(self, template: PromptTemplate[object], *, tag: str = "latest") -> Path:
        """Write a file with all texts of a prompt, ready to be edited, and give its path.

        Raises:
            PromptValidationError: The file exists already.
        """
        path = self.path_for(template.ns, template.key, tag)
        if path.exists():
            raise PromptValidationError(
                f"{path} exists already; delete it or choose another tag to start afresh."
            )
        return self.save(seed_override(template, tag=tag))

    def delete(self, ns: str, key: str, tag: str = "latest") -> bool:
        """Remove the overrides of a prompt under a tag; whether there were any."""
        path = self.path_for(ns, key, tag)
        existed = path.exists()
        path.unlink(missing_ok=True)
        return existed
