"""What Neovim shows of the example, for its guide: `python -m tests.editors.neovim_screen`."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from .neovim_process import Neovim

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
GUIDE = EXAMPLE.parents[1] / "docs" / "neovim.md"
TRUST = "require('foldline.trust').set(vim.fn.getcwd(), true)\n"
FENCE = re.compile(r"(?<=```text\n).*?(?=```)", re.DOTALL)


def screen(folder: Path) -> str:
    """A copy of the example in `folder`, with its prompt beside it and one section folded."""
    project = folder / "code_reviewer"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("__pycache__"))
    (project / "pyproject.toml").touch()
    with Neovim(folder, "reviewer_prompt.py", cwd=project, init=TRUST) as nvim:
        nvim.command("call search('^guidance =') | normal! zt")
        nvim.command("FoldlinePreview")
        nvim.wait("vim.bo.filetype == 'markdown' and bar():find(' tokens') ~= nil")
        nvim.wait("require('foldline.preview').current().counts.sections == 11")
        nvim.command("call search('^## 3') | foldclose | 1")
        return nvim.screen(140, 26)


def main() -> None:
    """Write the screen into the guide."""
    with tempfile.TemporaryDirectory() as folder:
        shown = screen(Path(folder))
    text = GUIDE.read_text(encoding="utf-8")
    GUIDE.write_text(FENCE.sub(lambda _: shown, text, count=1), encoding="utf-8")


if __name__ == "__main__":
    main()
