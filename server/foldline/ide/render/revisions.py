"""A prompt's module, and what it reads of its repository, as they were at a git revision."""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path, PurePosixPath

from foldline.backends.base.untrusted import find_on_path, outside_environment
from foldline.backends.base.waiting import in_thread
from foldline.backends.errors import PathError
from foldline.backends.files.reader import read_bytes
from foldline.backends.formatting.visible import is_text
from foldline.ide.analysis.modules import imports_of
from foldline.ide.errors import IdeError, RevisionError
from foldline.ide.prompts.request import View
from foldline.ide.render.diff import Side
from foldline.ide.render.values import SUFFIXES, find_sources
from foldline.ide.sources.source import PromptSource
from foldline.links import resolved

GIT_SECONDS = 10.0
GIT_MEMORY = 1 << 30
MAX_FILES = 2000
MAX_BYTES = 2_000_000
# Each gives the module files that the one before has read otherwise.
MAX_RENDERS = 4
_CACHES = frozenset({"__pycache__", ".git"})
# A project's files, and what they hold where they have options of previews.
_OPTIONS = {"foldline.toml": b"preview", "pyproject.toml": b"tool.foldline.preview"}
# Modules, texts of `from_file`, and overrides.
_TEXTS = (".py", ".md", ".txt", ".json")
# The mode of a symbolic link, whose content is a path.
_LINK = "120000 "
_DAMAGED = ": see whether a file in its `.git` is a device, a pipe or damaged (`git fsck`)"
# The effects after which something was read that isn't seen.
_STARTED = frozenset(
    {"started a process", "ran a shell command", "forked", "became another program"}
)
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
    """The revisions of `REV` or `REV..REV`; None stands for the files as they are now.

    Raises:
        RevisionError: It is empty, an option, or `REV...REV`.
    """
    if not text.strip() or text.startswith("-"):
        raise RevisionError(f"{text!r} is not the name of a revision: give one, such as HEAD")
    if "..." in text:
        raise RevisionError(
            f"{text}: two revisions are compared as REV..REV; "
            "`git merge-base` names the one that two branches have in common"
        )
    before, dots, after = text.partition("..")
    return before or "HEAD", (after or "HEAD") if dots else None


async def revision_side(source: PromptSource, view: View, revision: str | None) -> Side:
    """The prompt as git has it at a revision; as it is on disk without one.

    What the module reads of the repository is known once it has run: files that the revision has
    otherwise are given to it, until it reads nothing else. What can't be given is named.

    Raises:
        IdeError: Git has no such revision, or the prompt can't be rendered.
    """
    source = replace(source, mode=replace(source.mode, compared=True))
    if revision is None:
        return Side("now", await source.render(view))
    path = source.document.path
    tree = await in_thread(partial(Tree.at, path, revision))
    texts = await in_thread(partial(tree.texts_of, path))
    as_now: list[str] = []
    for _ in range(MAX_RENDERS):
        mode = replace(source.mode, texts=texts, at_revision=True)
        try:
            render = await replace(source, mode=mode).render(view)
        except IdeError as error:
            renamed = "; a renamed variable is found by the prompt's `ns/key`"
            more = renamed if error.kind == "no_prompt" else ""
            error.message = f"at {revision}: {error.message}{more}"
            error.args = (error.message,)
            raise
        values = set(_values_files(source)).difference(texts)
        fresh, as_now = await in_thread(partial(tree.differing, (*render.reads, *values), texts))
        if not fresh:
            break
        texts |= fresh
    if any(effect.message in _STARTED for effect in render.effects):
        as_now.append("what a process that it started read")
    return Side(revision, render, tuple(as_now))


def _values_files(source: PromptSource) -> list[str]:
    """The files that say which values a prompt has, read by us."""
    file, root = source.document.path, source.document.root
    projects = (folder / name for folder in file.parents for name in _OPTIONS)
    declared = [str(project) for project in projects if project.is_relative_to(root)]
    return [*declared, *find_sources(file, root, source.mode.params_file).files]


@dataclass(frozen=True)
class Tree:
    """The files of a repository at a revision, by their paths below `top`.

    Attributes:
        files: Regular files, and links to some of them.
        links: The files that links lead to.
    """

    top: Path
    commit: str
    revision: str
    files: frozenset[str]
    links: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, file: Path, revision: str) -> Tree:
        """The tree of the repository around a file.

        Raises:
            RevisionError: It is in no repository, or the revision is unknown.
        """
        if "\0" in revision or not is_text(revision):
            raise RevisionError(f"{revision!r} is not the name of a revision")
        top = Path(_git(file.parent, "rev-parse", "--show-toplevel").strip())
        commit_of = f"{revision}^{{commit}}"
        arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", commit_of)
        try:
            commit = _git(top, *arguments).strip()
        except RevisionError as error:
            raise RevisionError(f"{top} has no revision {revision!r}") from error
        listed = _git(top, "ls-tree", "-r", "-z", "--full-tree", commit).split("\0")
        rows = [row.partition("\t") for row in listed if row]
        tree = cls(top.resolve(), commit, revision, frozenset(name for _, _, name in rows))
        return tree._with_links({name for mode, _, name in rows if mode.startswith(_LINK)})

    def _with_links(self, links: Set[str]) -> Tree:
        """The tree with files in place of links, without those that lead elsewhere."""
        files, ends = self.files - links, dict[str, str]()
        for name, data in self.contents(links).items() if links else ():
            end = posixpath.normpath(posixpath.join(posixpath.dirname(name), os.fsdecode(data)))
            if end in files:
                ends[name] = end
        return replace(self, files=files | ends.keys(), links=ends)

    def texts_of(self, file: Path) -> dict[str, str]:
        """The texts of `file`, the values beside it, and all that it imports, by path.

        Texts that the disk hasn't are among them: nothing else tells that they would be read.

        Raises:
            RevisionError: The revision does not hold it.
        """
        start = resolved(file).relative_to(self.top).as_posix()
        if start not in self.files:
            raise RevisionError(
                f"{start} is not in {self.revision}: a renamed file is compared where it was, "
                "so move it back to compare it, or name a revision that has it"
            )
        beside = (file.with_name(f"{file.stem}.preview{suffix}") for suffix in SUFFIXES)
        names = {start, *(one.relative_to(self.top).as_posix() for one in beside)} & self.files
        readable = (name for name in sorted(self.files) if name.endswith(_TEXTS))
        gone = (name for name in readable if not (self.top / name).exists())
        wanted = {*names, *islice(gone, MAX_FILES // 2)}
        texts: dict[str, str] = {}
        while wanted and len(texts) + len(wanted) <= MAX_FILES:
            contents = self.contents(wanted).items()
            fresh = {name: text for name, data in contents if (text := _decoded(data)) is not None}
            texts |= fresh
            wanted = {
                path
                for name, text in fresh.items()
                for level, dotted in imports_of(text)
                for path in _files_of(dotted, level, PurePosixPath(name), self.files)
            } - texts.keys()
        return {str(self.top / name): text for name, text in texts.items()}

    def contents(self, names: Iterable[str]) -> dict[str, bytes]:
        """The contents of files.

        Raises:
            RevisionError: This clone does not hold them.
        """
        asked = sorted(names)
        ends = (self.links.get(name, name) for name in asked)
        wanted = "".join(f"{self.commit}:{name}\n" for name in ends)
        stream = run_git(self.top, ("cat-file", "--batch"), wanted)
        texts = {}
        for name, data in zip(asked, contents_in(stream), strict=True):
            if data is None:
                raise RevisionError(
                    f"{name} of {self.commit[:12]} is not in this clone, which holds a part of the "
                    "repository: check the revision out, or fetch all of it"
                )
            texts[name] = data
        return texts

    def differing(
        self, reads: Iterable[str], given: Mapping[str, str]
    ) -> tuple[dict[str, str], list[str]]:
        """Of files read from the disk, those to give as the revision has them, and the others.

        Both only where the revision has something else. A file that was given and is read all the
        same is read by other means than imports and `from_file`.
        """
        names: dict[str, str] = {}
        as_now: list[str] = []
        for path in sorted(reads):
            real = os.path.realpath(path)
            name = os.path.relpath(real, self.top).replace(os.sep, "/")
            if name.startswith("../") or not _CACHES.isdisjoint(name.split("/")):
                continue
            if os.path.isdir(real):
                prefix = "" if name == "." else f"{name}/"
                inside = (one[len(prefix) :] for one in self.files if one.startswith(prefix))
                entries = {one.partition("/")[0] for one in inside}
                if entries != {one.name for one in Path(real).iterdir()} - _CACHES:
                    as_now.append(f"the names in {name}/")
            else:
                names[name] = real
        then = self.contents(names.keys() & self.files)
        fresh: dict[str, str] = {}
        for name, path in sorted(names.items()):
            data, text, now = then.get(name), _decoded(then.get(name, b"")), None
            with suppress(PathError):
                now = read_bytes(path, MAX_BYTES)
            options = _OPTIONS.get(posixpath.basename(name))
            # Of a project's file, only options of previews count.
            if data == now or (options and options not in (data or b"") + (now or b"")):
                continue
            if data is None or text is None or path in given or options:
                as_now.append(name)
            else:
                fresh[path] = text
        return fresh, as_now


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def contents_in(stream: bytes) -> Iterator[bytes | None]:
    """Yield the contents of an answer of `git cat-file --batch`; None for what the clone lacks."""
    at = 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        size = stream[at:end].rsplit(b" ", 1)[1]
        at = end + 1
        if size.isdigit():
            yield stream[at : at + int(size)]
            at += int(size) + 1
        else:
            yield None


def _files_of(
    dotted: str, level: int, importer: PurePosixPath, files: frozenset[str]
) -> Iterator[str]:
    """The files that are run to import a module: its own, and those of the packages around it."""
    parts = dotted.split(".") if dotted else []
    if level:
        above = importer.parents
        yield from _in_folder(above[min(level, len(above)) - 1], parts, files)
        return
    # As where the prompt runs: beside the module, in the folders above it, and in their `src`.
    for folder in importer.parents:
        yield from _in_folder(folder, parts, files)
        yield from _in_folder(folder / "src", parts, files)


def _in_folder(folder: PurePosixPath, parts: list[str], files: frozenset[str]) -> Iterator[str]:
    for depth in range(len(parts) + 1):
        path = folder.joinpath(*parts[:depth])
        modules = [path.with_name(f"{path.name}.py")] if depth else []
        yield from (str(one) for one in (path / "__init__.py", *modules) if str(one) in files)


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
        with subprocess.Popen(
            [git, "-C", str(folder), *OPTIONS, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        ) as process:
            try:
                _limit_memory(process.pid)
                data = stdin.encode("utf-8", "surrogateescape")
                output, errors = process.communicate(data, seconds)
            finally:
                process.kill()
    except subprocess.TimeoutExpired as error:
        raise RevisionError(f"git gave no answer within {seconds:g} s{_DAMAGED}") from error
    if process.returncode not in codes:
        problem = errors.decode("utf-8", "replace").strip() or f"exit status {process.returncode}"
        hint = _DAMAGED if "ut of memory" in problem else ""
        raise RevisionError(f"git {arguments[0]}: {problem}{hint}")
    return output


def lacking(folder: Path) -> str:
    """Return what a clone is if it lacks a part of its history: `shallow`, `partial` or empty."""
    with suppress(RevisionError):
        if run_git(folder, ("rev-parse", "--is-shallow-repository"), outside=folder) == b"true\n":
            return "shallow"
        promised = ("config", "--get-regexp", r"^remote\..*\.promisor$")
        if run_git(folder, promised, outside=folder, codes=(0, 1)):
            return "partial"
    return ""


def _limit_memory(process: int) -> None:
    """Let git fail before the machine has no memory left; what it maps of packs doesn't count."""
    with suppress(ImportError, AttributeError, OSError, ValueError):  # Not Linux; a lower limit.
        import resource

        resource.prlimit(process, resource.RLIMIT_DATA, (GIT_MEMORY, GIT_MEMORY))


@lru_cache(maxsize=16)
def _git_and_environment(
    outside: Path | None, environ: tuple[tuple[str, str], ...]
) -> tuple[str, dict[str, str]]:
    """Return git's path, and the environment for it; a history is read by hundreds of commands."""
    git = find_on_path("git", outside=outside)
    if git is None:
        raise RevisionError("git was not found: revisions cannot be read")
    environment = dict(environ) if outside is None else outside_environment(outside)
    return str(git), {
        **{name: value for name, value in environment.items() if name not in OF_A_REPOSITORY},
        **ENVIRONMENT,
    }
