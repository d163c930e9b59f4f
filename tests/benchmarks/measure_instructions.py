"""What clients load in six public repositories, as the table in `INSTRUCTIONS.md`.

`uv run python -m tests.benchmarks.measure_instructions [--from DIR]` prints it. Each repository is
fetched at its commit, or taken from a clone `DIR/OWNER+NAME`; only its instructions are checked
out.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from foldline.ide.instructions.files import instruction_files
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions.clients import all_clients
from foldline.plugins.instructions.stack import Files, loaded, stacks, unread

if TYPE_CHECKING:
    from foldline.ide.folder import Folder


class Repository(NamedTuple):
    """A repository at a commit, and a file that somebody works on."""

    name: str
    commit: str
    file: str


REPOSITORIES = (
    Repository(
        "pydantic/pydantic-ai",
        "4fda38988f2939fa6ea9cdefcf120693e10ef491",
        "pydantic_ai_slim/pydantic_ai/models/openai.py",
    ),
    Repository(
        "jlowin/fastmcp",
        "b14b137fddc3145d6b4abd0b3a3f1a11dfc370b0",
        "src/fastmcp/server/server.py",
    ),
    Repository(
        "JanDeDobbeleer/oh-my-posh",
        "cdeb43f8e6848461c7cc2c3990fe7f04125805e0",
        "src/cli/print.go",
    ),
    Repository(
        "entireio/cli",
        "f446dcfc09fda981a5c373a5f47c54363761fa6e",
        "cmd/entire/main.go",
    ),
    Repository(
        "genealogix/glx",
        "daf5785cb0f10fa97e0dc4b2a123d17fe5ae02b1",
        "go-glx/types.go",
    ),
    Repository(
        "bytedance/deer-flow",
        "f1f4af99bbf1cffb83a80744bf6e4a44ee8f24be",
        "backend/packages/harness/deerflow/agents/memory/updater.py",
    ),
)
_WANTED = re.compile(
    r"(^|/)((AGENTS|CLAUDE|GEMINI|CONTEXT)[\w.]*\.md|\.cursorrules|opencode\.jsonc?|\.gitignore|.*\.mdc"
    r"|copilot-instructions\.md|.*\.instructions\.md|\.claude/rules/.*\.md|\.gemini/settings\.json"
    r"|\.codex/config\.toml|SKILL\.md|\.\w+/skills/[^/]+|\.\w+/(agents|commands)/.*\.md)$"
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="clones", type=Path, metavar="DIR")
    clones = parser.parse_args().clones
    titles = [client.title for client in all_clients()]
    print(f"| repository, file | {' | '.join(titles)} | not read |")
    print("|---|" + "--:|" * (len(titles) + 1))
    for repository in REPOSITORIES:
        with TemporaryDirectory() as scratch:
            (folder,) = Workspace.at(checked_out(repository, Path(scratch), clones)).folders()
            print(row(repository, folder))


def checked_out(repository: Repository, scratch: Path, clones: Path | None) -> Path:
    """Check out a repository's instruction files at its commit."""
    store, folder = scratch / "store", scratch / "files"
    folder.mkdir()
    if clones is not None:
        store = clones / repository.name.replace("/", "+")
    else:
        address = f"https://github.com/{repository.name}"
        git("init", "-q", "--bare", str(store))
        git(f"--git-dir={store}", "fetch", "-q", "--depth=1", address, repository.commit)
    at = (f"--git-dir={store}", f"--work-tree={folder}")
    listed = git(*at, "ls-tree", "-r", "--name-only", "--full-tree", repository.commit)
    wanted = [path for path in listed.splitlines() if _WANTED.search(path)]
    # Nothing is written into a clone.
    environment = {**os.environ, "GIT_INDEX_FILE": str(scratch / "index")}
    git(*at, "checkout", "-q", repository.commit, "--", *wanted, environment=environment)
    return folder


def git(*arguments: str, environment: dict[str, str] | None = None) -> str:
    """Run git, and return what it prints."""
    command = ["git", *arguments]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout


def row(repository: Repository, folder: Folder) -> str:
    """Return the costs of each client, and how many files another one switches off."""
    costs = [
        f"{stack.base:,} + {stack.added:,}" if stack.added else f"{stack.base:,}"
        for stack in stacks(folder, all_clients(), repository.file)
    ]
    paths = [path.relative_to(folder.root).as_posix() for path in instruction_files(folder)]
    link = f"[{repository.name}](https://github.com/{repository.name}/tree/{repository.commit})"
    disk = Files(folder.access.file_backend)
    left_out = (unread(disk, loaded(folder, disk, path), path) for path in paths)
    found = sum(any(not one.via for one in every) for every in left_out)
    return f"| {link}, `{repository.file}` | {' | '.join(costs)} | {found} of {len(paths)} |"


if __name__ == "__main__":
    main()
