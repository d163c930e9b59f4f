"""Measure the names in instruction files: what they resolve to, and which are stale.

`resolve CLONES` compares with the labels in `instruction_mentions.jsonl`, `stale CLONES` runs over
all revisions of the files in `HISTORIES`, and `innocent CLONES` over Markdown that instructs no
agent. `CLONES` is a folder with a clone of each repository, named as its last part.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from foldline.backends import SmartFileAccess
from foldline.ide.errors import RevisionError
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.instructions.files import is_instructions
from foldline.plugins.instructions.history import History, history_of
from foldline.plugins.instructions.mentions import Mention, mentions
from foldline.plugins.instructions.stale import Search, StaleMention, stale_mentions
from foldline.plugins.instructions.targets import Targets

LABELS = Path(__file__).parent / "instruction_mentions.jsonl"
HISTORIES = {
    "jlowin/fastmcp": ("AGENTS.md", "CLAUDE.md", ".cursor/rules/core-mcp-objects.mdc"),
    "entireio/cli": ("CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md"),
    "genealogix/glx": (
        "CLAUDE.md",
        "glx/CLAUDE.md",
        "go-glx/CLAUDE.md",
        "specification/CLAUDE.md",
    ),
    "JanDeDobbeleer/oh-my-posh": (
        "AGENTS.md",
        ".github/copilot-instructions.md",
        ".agents/skills/segment-create/SKILL.md",
    ),
    "pydantic/pydantic-ai": (
        "AGENTS.md",
        "CLAUDE.md",
        "docs/AGENTS.md",
        "tests/AGENTS.md",
        "pydantic_ai_slim/pydantic_ai/AGENTS.md",
        "pydantic_ai_slim/pydantic_ai/models/AGENTS.md",
        "pydantic_ai_slim/pydantic_ai/.agents/skills/building-pydantic-ai-agents/SKILL.md",
    ),
}
INNOCENT = ("caddy", "gin", "trpc", "core", "textual", "httpx", "ripgrep")
MOST_OF_ONE = 10
SECONDS = 120.0


class _AtRevision:
    """Targets as they are in a revision instead of the folder."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.tree = search.history.tree(search.history.head)

    def of(self, mention: Mention) -> bool:
        """Return whether the revision has it, by one meaning or several."""
        return self.exists(mention)

    has = of

    def exists(self, mention: Mention, _: Iterable[str] = ()) -> bool:
        """Return whether the revision has it."""
        return bool(self._search.homes(len(self._search.history.commits) - 1, mention))


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def stale(clones: Path) -> None:
    """Print the mentions that were stale in a revision, with the commits that ended them."""
    revisions = checked = 0
    for address, paths in HISTORIES.items():
        clone = clones / address.rpartition("/")[2]
        top = history_of(clone, SECONDS).top
        for path in paths:
            seen: dict[tuple[str, str], list[str]] = {}
            said: dict[tuple[str, str], StaleMention] = {}
            for revision in _git(clone, "log", "--format=%H", "--", path).split()[::-1]:
                try:
                    text = _git(clone, "show", f"{revision}:{path}")
                except subprocess.CalledProcessError:
                    continue  # Removed.
                if text.count("\n") < 2:
                    continue  # A link to another file.
                revisions += 1
                history = History(top, revision)
                history.end = sys.maxsize
                file = InstructionFile(path, text)
                targets = Targets(SmartFileAccess.for_workspace(clone), path)
                search = Search(history, targets, path, text)
                search.targets = _AtRevision(search)  # type: ignore[assignment]
                every = list(mentions(file.markdown))
                checked += len(every)
                try:
                    missing = [one for one in every if not search.targets.exists(one)]
                    found = list(search.stale(missing))
                except (RevisionError, KeyError) as error:
                    print(f"{address} {path} {revision[:8]}: {error}")
                    continue
                for one in found:
                    key = (one.mention.name, one.commit.hash if one.commit else "")
                    seen.setdefault(key, []).append(revision[:8])
                    said[key] = one
            for key, where in seen.items():
                print(
                    f"{address} {path}: {said[key].message} (in {len(where)}, from {where[0]})",
                    flush=True,
                )
    print(f"{revisions} revisions, {checked} mentions")


def resolve(clones: Path) -> None:
    """Print how many labelled mentions mean what they were labelled with."""
    labels = [json.loads(row) for row in LABELS.read_text(encoding="utf-8").splitlines()]
    counts: Counter[str] = Counter()
    for address, path in dict.fromkeys((one["address"], one["path"]) for one in labels):
        clone = clones / address.rpartition("/")[2]
        some = [one for one in labels if (one["address"], one["path"]) == (address, path)]
        head = _git(clone, "rev-parse", "HEAD").strip()
        if head != some[0]["commit"]:
            print(f"{address} is at {head[:8]}, labelled at {some[0]['commit'][:8]}")
        text = (clone / path).read_text(encoding="utf-8")
        targets = Targets(SmartFileAccess.for_workspace(clone, patience=None), path)
        found = {
            (text.count("\n", 0, one.start) + 1, one.name): targets.of(one)
            for one in mentions(InstructionFile(path, text).markdown)
        }
        for one in some:
            target = found.get((one["line"], one["mention"]))
            place = target and f"{target.path}:{target.line}"
            wanted, verdict = one.get("target"), one["verdict"]
            kind = "right" if place == wanted and verdict != "something" else "missed"
            if place is not None and place != wanted:
                kind = "wrong"
            elif place is None and kind == "right":
                kind = "rightly nothing"
            counts[kind] += 1
            if kind in ("missed", "wrong"):
                print(f"{kind}: {address} {path}:{one['line']} {one['mention']} -> {place}")
    linked = counts["right"] + counts["wrong"]
    print(f"{counts.total()} mentions: {dict(counts)}")
    print(f"links: {counts['right'] / linked:.3f} right")


def innocent(clones: Path) -> None:
    """Print what would be stale in Markdown that instructs nobody; the check looks at none."""
    files = found = checked = 0
    for name in INNOCENT:
        clone = clones / name
        access = SmartFileAccess.for_workspace(clone, patience=None)
        listed = _git(clone, "ls-files", "*.md").splitlines()
        paths = [path for path in listed if not is_instructions(path)][:MOST_OF_ONE]
        for path in paths:
            text = (clone / path).read_text(encoding="utf-8", errors="replace")
            every = mentions(InstructionFile(path, text).markdown)
            files, checked = files + 1, checked + len(every)
            for one in stale_mentions(access, path, text, every, seconds=SECONDS):
                found += 1
                print(f"{name} {path}: {one.message}")
    print(f"{files} files, {checked} mentions: {found} would be stale, 0 are checked")


if __name__ == "__main__":
    commands = {"innocent": innocent, "resolve": resolve, "stale": stale}
    commands[sys.argv[1]](Path(sys.argv[2]))
