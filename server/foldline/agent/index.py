"""`foldline index`: the index of a workspace, which other machines can take."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline import backends
from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.refusals import Refused
from foldline.agent.terminal import json_text, show
from foldline.backends import index as shared
from foldline.backends.errors import PathError
from foldline.backends.formatting.visible import visible
from foldline.links import resolved

if TYPE_CHECKING:
    from argparse import Namespace

    from foldline.agent.verbs import Verbs
    from foldline.backends import WorkspaceIndex

ACTIONS = {
    "status": "say what the index has, and where that comes from",
    "build": "bring it up to date",
    "export": "write the words of the workspace's files to FILE, for other machines",
    "import": "take them from a file, or the newest in a folder",
    "prune": "forget what no workspace has any more",
}
DESCRIPTION = """\
The worktrees and clones of a repository share one index on a machine. What CI exported, others
import: a file's words are then known by its content, and aren't worked out again."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "index", help="build, export, import or prune the index of code", description=DESCRIPTION
    )
    what = "; ".join(f"{name}: {meaning}" for name, meaning in ACTIONS.items())
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="status", help=what)
    parser.add_argument("where", nargs="?", metavar="FILE", help="what is exported or imported")
    parser.add_argument("--root", default=".", metavar="DIR", help="the workspace (default: .)")
    parser.add_argument("--imported", action="store_true", help="prune: forget what was imported")
    parser.add_argument("--json", action="store_true", help="write JSON, for programs")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    if options.where and options.action not in {"export", "import"}:
        raise Refused(f"`index {options.action}` takes no {options.where!r}", kind="usage")
    if options.action == "import" and not options.where:
        raise Refused("name the file or folder to import", kind="usage")
    if options.action == "import" and "://" in options.where:
        raise Refused(
            "an index is imported from a file: fetch the address first, for instance with curl",
            kind="usage",
        )
    try:
        files = backends.LocalFileBackend(options.root)
        with closing(backends.WorkspaceIndex(files, patience=None)) as index:
            result, text = _RUNS[options.action](index, options)
    except PathError as error:
        raise Refused(error.summary, kind="path") from error
    show(json_text(result) if options.json else text)
    return NOTHING if options.action == "status" and not result["files"] else FOUND


def _status(index: WorkspaceIndex, options: Namespace) -> tuple[dict[str, Any], str]:
    status: dict[str, Any] = shared.sharing.index_status(index)
    workspaces = status["workspaces"]
    lines = [
        f"{status['file']}: {status['bytes']:,} bytes",
        f"{status['files']:,} files of this workspace; {status['contents']:,} contents and "
        f"{status['outlines']:,} outlines for {workspaces:,} workspace{'s' * (workspaces != 1)}",
    ]
    for one in status["artefacts"]:
        day = time.strftime("%Y-%m-%d", time.localtime(one["taken"]))
        lines.append(
            f"imported {day}: {one['contents']:,} contents from {visible(one['source'])} "
            f"(sha256 {one['digest'][:12]}…)"
        )
    if not status["files"]:
        lines.append("nothing of this workspace is indexed yet: the first question does it")
    return status, "\n".join(lines)


def _build(index: WorkspaceIndex, options: Namespace) -> tuple[dict[str, Any], str]:
    index.refresh()
    return _status(index, options)


def _export(index: WorkspaceIndex, options: Namespace) -> tuple[dict[str, Any], str]:
    name = resolved(options.root).name or "index"
    file = Path(options.where or f"{name}{shared.artefact.SUFFIX}")
    written = shared.sharing.export_index(index, file)
    result = {"file": str(file), **written._asdict()}
    text = f"{written.contents:,} contents, {written.bytes:,} bytes (sha256 {written.digest})"
    return result, f"{visible(str(file))}: {text}"


def _import(index: WorkspaceIndex, options: Namespace) -> tuple[dict[str, Any], str]:
    source, read, added = shared.sharing.import_index(index, Path(options.where))
    # Now that files are only read, and no question has to wait for that.
    index.refresh()
    result = {"source": source, "added": added, **read._asdict()}
    text = f"{added:,} of {read.contents:,} contents are new (sha256 {read.digest})"
    return result, f"{visible(source)}: {text}"


def _prune(index: WorkspaceIndex, options: Namespace) -> tuple[dict[str, Any], str]:
    result: dict[str, Any] = shared.sharing.prune_index(index, imported=options.imported)
    imported = f", {result['imported']:,} imported contents forgotten" if options.imported else ""
    return result, f"{result['bytes']:,} bytes freed{imported}"


_RUNS = {
    "status": _status,
    "build": _build,
    "export": _export,
    "import": _import,
    "prune": _prune,
}
