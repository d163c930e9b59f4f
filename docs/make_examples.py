"""Runs the commands that the pages show, and writes what they print into the pages.

    uv run python docs/make_examples.py

A tutorial is worked through as a reader would, in an empty folder; a page that says
`<!-- run in FOLDER -->`, in a copy of that folder. The commands of `console` blocks are run in
order. Three things besides commands happen there:

- A block after a paragraph that ends with `` `FILE`: `` is that file: it is written, or, if it is
  there already, the block becomes what it contains.
- `<!-- FILE: OLD -> NEW -->` is what the text asks the reader to change.
- A command that ends with `# …` isn't run.

A test fails while a page differs from what its commands print.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent

_STEP = re.compile(
    r"^```console\n(?P<console>.*?)^```$"
    r"|`(?P<file>[\w./]+)`[^`\n]*:\n\n```(?P<language>\w*)\n(?P<content>.*?)^```$"
    r"|<!-- (?P<changed>[\w./]+): (?P<old>.*?) -> (?P<new>.*?) -->",
    re.MULTILINE | re.DOTALL,
)
_WHERE = re.compile(r"<!-- run in (\S+) -->")
_NOT_RUN = re.compile(r"#\s*…$")


def pages() -> tuple[Path, ...]:
    """The pages whose commands are run."""
    run = (page for page in DOCS.glob("*.md") if _WHERE.search(page.read_text(encoding="utf-8")))
    return (*sorted((DOCS / "tutorials").glob("*.md")), *sorted(run))


def written(page: Path) -> str:
    """The text of a page, with what its commands print today."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        # A name that may be shown, and is the same everywhere.
        root = Path(folder) / "demo"
        if where := _WHERE.search(text):
            shutil.copytree(
                DOCS.parent / where[1], root, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            root.mkdir()
        return _STEP.sub(lambda step: _done(step, root), text)


def _done(step: re.Match[str], root: Path) -> str:
    if step["console"] is not None:
        return f"```console\n{_run(step['console'], root)}```"
    if step["changed"]:
        file = root / step["changed"]
        before = file.read_text(encoding="utf-8")
        if step["old"] not in before:
            raise ValueError(f"{step['changed']} has no {step['old']!r}")
        file.write_text(before.replace(step["old"], step["new"]), encoding="utf-8")
        return step[0]
    file = root / step["file"]
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(step["content"], encoding="utf-8")
    return step[0].replace(step["content"], file.read_text(encoding="utf-8"))


def _run(block: str, root: Path) -> str:
    """The commands of a block, each with what it prints."""
    shown = []
    for line in block.splitlines():
        if not line.startswith("$ "):
            continue
        shown.append(line)
        if _NOT_RUN.search(line):
            continue
        done = subprocess.run(
            ("bash", "-c", line.removeprefix("$ ")),
            cwd=root,
            env=_environment(root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        shown += done.stdout.splitlines()
    return "".join(f"{line}\n" for line in shown)


def _environment(root: Path) -> dict[str, str]:
    """This Python's programs, no colours, and none of this machine's settings."""
    person = {"NAME": "Reader", "EMAIL": "reader@example.com"}
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(root.parent),
        "VIRTUAL_ENV": sys.prefix,
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        # The reader has no other plugins than foldline's.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        **{
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in person.items()
        },
    }


if __name__ == "__main__":
    for page in pages():
        page.write_text(written(page), encoding="utf-8")
        sys.stdout.write(f"{page}\n")
