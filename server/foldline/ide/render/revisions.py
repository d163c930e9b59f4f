"""A prompt's module, and what it imports of its repository, as they were at a git revision."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from foldline.backends.base.untrusted import find_on_path, outside_environment
from foldline.backends.base.waiting import in_thread
from foldline.backends.formatting.visible import is_text
from foldline.ide.errors import RevisionError
from foldline.ide.render import execution
from foldline.ide.render.diff import Side

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from foldline.ide.prompts.request import View
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.workspace import Workspace

GIT_SECONDS = 10.0
MAX_FILES = 2000
# Reading objects runs no hook or filter of the repository; nothing may be fetched for it. What
# compares trees also reads the index, and with it asks a monitor. A file of names may be a device.
_NONE = ("core.fsmonitor", "core.attributesFile", "mailmap.file")
OPTIONS = ("--no-pager", *(part for name in _NONE for part in ("-c", f"{name}=")))
ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",  # Older versions know no `GIT_NO_LAZY_FETCH`.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
# They name a repository, which is not that of the file: hooks of git, for one, run with them.
OF_A_REPOSITORY = (
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
)


def parse_range(text: str) -> tuple[str, str | None]:
    """The revisions of `REV` or `REV..REV`; None stands for the files as they are now."""
    before, dots, after = text.partition("..")
    return before or "HEAD", (after or "HEAD") if dots else None


async def revision_side(
    workspace: Workspace, target: PromptTarget, view: View, revision: str | None
) -> Side:
    """The prompt as git has it at a revision; as it is on disk without one.

    Raises:
        IdeError: Git has no such revision, or the prompt can't be rendered.
    """
    texts: dict[str, str] = {}
    if revision is not None:
        texts = await in_thread(partial(texts_at, target.document.path, revision))
    render = await execution.render(workspace, target, replace(view, texts=texts))
    return Side(revision or "now", render)


def texts_at(file: Path, revision: str) -> dict[str, str]:
    """The texts of `file` and of all that it imports of its repository, by path.

    Raises:
        RevisionError: It is in no repository, or the revision is unknown or does not hold it.
    """
    from foldline.ide.analysis.modules import imports_of

    if "\0" in revision or not is_text(revision):
        raise RevisionError(f"{revision!r} is not the name of a revision")
    top = Path(_git(file.parent, "rev-parse", "--show-toplevel").strip())
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    try:
        commit = _git(top, *arguments).strip()
    except RevisionError as error:
        raise RevisionError(f"{top} has no revision {revision!r}") from error
    listed = _git(top, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit).split("\0")
    files = frozenset(name for name in listed if name.endswith(".py"))
    start = file.resolve().relative_to(top.resolve()).as_posix()
    if start not in listed:
        raise RevisionError(f"{start} is not in {revision}")
    texts: dict[str, str] = {}
    wanted = {start}
    while wanted and len(texts) + len(wanted) <= MAX_FILES:
        fresh = _contents(top, commit, sorted(wanted))
        texts |= fresh
        wanted = {
            found
            for name, text in fresh.items()
            for level, dotted in imports_of(text)
            for found in _files_of(dotted, level, PurePosixPath(name), files)
        } - texts.keys()
    return {str(top / name): text for name, text in texts.items()}


def _contents(top: Path, commit: str, names: Iterable[str]) -> dict[str, str]:
    asked = list(names)
    stream = run_git(top, ("cat-file", "--batch"), "".join(f"{commit}:{name}\n" for name in asked))
    texts = {}
    for name, text in zip(asked, texts_in(stream), strict=True):
        if text is None:
            raise RevisionError(
                f"{name} of {commit[:12]} is not in this clone, which holds a part of the "
                "repository: check the revision out, or fetch all of it"
            )
        texts[name] = text
    return texts


def texts_in(stream: bytes) -> Iterator[str | None]:
    """Yield the texts of an answer of `git cat-file --batch`; None for what the clone lacks."""
    at = 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        size = stream[at:end].rsplit(b" ", 1)[1]
        at = end + 1
        if size.isdigit():
            yield stream[at : at + int(size)].decode("utf-8", "replace")
            at += int(size) + 1
        else:
            yield None


def _files_of(
    dotted: str, level: int, importer: PurePosixPath, files: frozenset[str]
) -> Iterator[str]:
    """The files that are run to import a module: its own, and those of the packages around it."""
    parts = dotted.split(".") if dotted else []
    if level:
        folder = importer.parent
        for _ in range(level - 1):
            folder = folder.parent
        yield from _in_folder(folder, parts, files)
        return
    # As where the prompt runs: beside the module, in the folders above it, and in `src`.
    for folder in (*importer.parents, PurePosixPath("src")):
        found = list(_in_folder(folder, parts, files))
        if found:
            yield from found
            return


def _in_folder(folder: PurePosixPath, parts: list[str], files: frozenset[str]) -> Iterator[str]:
    for depth in range(len(parts) + 1):
        path = folder.joinpath(*parts[:depth])
        candidates = [path / "__init__.py"]
        if depth:
            candidates.append(path.with_name(f"{path.name}.py"))
        for candidate in candidates:
            if str(candidate) in files:
                yield str(candidate)


def _git(folder: Path, *arguments: str) -> str:
    return run_git(folder, arguments).decode("utf-8", "surrogateescape")


def run_git(
    folder: Path,
    arguments: tuple[str, ...],
    stdin: str = "",
    *,
    outside: Path | None = None,
    seconds: float = GIT_SECONDS,
    codes: Collection[int] = (0,),
) -> bytes:
    """Return the output of a git command that reads objects, within some seconds.

    With `outside`, neither git nor its environment comes from the project around that folder. It
    may end with one of `codes`.

    Raises:
        RevisionError: It failed, took too long, or there is no git.
    """
    git, environment = _git_and_environment(outside, tuple(os.environ.items()))
    seconds = min(seconds, GIT_SECONDS)
    try:
        done = subprocess.run(
            [git, "-C", str(folder), *OPTIONS, *arguments],
            input=stdin.encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=seconds,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RevisionError(f"git gave no answer within {seconds:g} s") from error
    if done.returncode not in codes:
        said = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
        raise RevisionError(f"git {arguments[0]}: {said}")
    return done.stdout


@lru_cache(maxsize=16)
def _git_and_environment(
    outside: Path | None, environ: tuple[tuple[str, str], ...]
) -> tuple[str, dict[str, str]]:
    """Return git's path, and the environment for it; a history is read by hundreds of commands."""
    git = find_on_path("git", outside=outside)
    if git is None:
        raise RevisionError("git was not found: revisions cannot be read")
    known = dict(environ) if outside is None else outside_environment(outside)
    return str(git), {
        **{name: value for name, value in known.items() if name not in OF_A_REPOSITORY},
        **ENVIRONMENT,
    }
