"""What a model sees of a skill: its name always, its text when it's used, its files on demand.

https://agentskills.io/specification ("Progressive disclosure") has these three levels.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - Resolved where it's made JSON.
from contextlib import suppress
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.backends.files.reader import read_text
from foldline.ide import cost_texts
from foldline.ide.instructions.features import costs
from foldline.ide.instructions.files import LARGEST
from foldline.ide.instructions.front_matter import SKILL, fields
from foldline.records import record

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.ide.folder import Folder
    from foldline.ide.instructions.document import InstructionFile
    from foldline.ide.token_counter import TokenCounter


@record
class SkillLevels:
    """The tokens of a skill.

    Attributes:
        always: Of its name and description, which every session has.
        used: Of its text, which comes when the skill is used.
        files: Of each file of its folder that is text: read on demand, if at all.
    """

    always: int
    used: int
    files: Mapping[str, int]

    def sentence(self, counter: TokenCounter) -> str:
        """Return `85 tokens always, 2,104 when used, 5,611 in 4 files on demand`."""
        always = cost_texts.tokens(self.always, counter)
        said = f"{always} always, {counter.format(self.used)} when used"
        if not self.files:
            return said
        count = f"{len(self.files)} file{'' if len(self.files) == 1 else 's'}"
        return f"{said}, {counter.format(sum(self.files.values()))} in {count} on demand"


def skill_levels(
    file: InstructionFile, path: Path, folder: Folder, counter: TokenCounter
) -> SkillLevels | None:
    """Return the costs of a skill, as its folder is on disk; None for other instruction files."""
    if path.name != SKILL:
        return None
    shown = [
        f"{field.name}: {field.value}\n"
        for field in fields(file)
        if field.name in ("name", "description")
    ]
    files, backend = {}, folder.access.file_backend
    for stamp in backend.walk_folder(backend.resolve(str(path.parent))):
        other = folder.root / stamp.path
        with suppress(PathError):
            if other != path:
                text = read_text(other, LARGEST, strict=True)
                files[other.relative_to(path.parent).as_posix()] = counter.count(text)
    return SkillLevels(counter.count("".join(shown)), costs(file, counter).total, files)
