"""Names that were right when their line was written, found with the commit that ended them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from foldline.backends import SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.index.builder import IndexBuilder
from foldline.backends.index.workspace import WorkspaceIndex
from foldline.backends.outlines.outlines import outline_source
from foldline.backends.parsers.markdown import read_markdown
from foldline.backends.references.meaning import Names
from foldline.ide.checks.codes import Code
from foldline.ide.errors import RevisionError
from foldline.ide.render import revisions
from foldline.plugins.instructions import stale
from foldline.plugins.instructions.history import History, history_of
from foldline.plugins.instructions.mentions import mentions
from foldline.plugins.instructions.stale import Search, stale_mentions
from foldline.plugins.instructions.targets import Targets, names_in

from .conftest import check_repository

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.backends.parsers.outline_builder import Outline
    from foldline.backends.references.meaning import Meaning
    from foldline.plugins.instructions.history import Verdict
    from foldline.plugins.instructions.mentions import Mention


class Repository:
    """A repository whose commits are made one day after the other."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.days = 0
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        day = f"2026-01-{self.days + 1:02}T12:00:00+00:00"
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(self.root), *arguments],
            capture_output=True,
            check=True,
            text=True,
            env={"GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day, "PATH": "/usr/bin:/bin"},
        )
        return done.stdout

    def write(self, files: dict[str, str | None]) -> None:
        for path, text in files.items():
            file = self.root / path
            if text is None:
                file.unlink()
                if not any(file.parent.iterdir()):
                    file.parent.rmdir()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def commit(self, subject: str, files: dict[str, str | None]) -> str:
        self.write(files)
        self.days += 1
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        return self.git("rev-parse", "HEAD").strip()

    def stale(self, path: str = "AGENTS.md") -> list[tuple[str, str, str]]:
        text = (self.root / path).read_text(encoding="utf-8")
        access = SmartFileAccess.for_workspace(self.root, patience=None)
        found = stale_mentions(access, path, text, mentions(read_markdown(text)))
        return [
            (one.mention.name, one.commit.hash if one.commit else "", one.near) for one in found
        ]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "repository").mkdir()
    return Repository(tmp_path / "repository")


CODE = "class Cart:\n    def total(self): ...\n\n\ndef open_cart(): ...\n"


def test_a_symbol_is_stale_with_the_commit_that_ended_it(repository: Repository) -> None:
    repository.commit(
        "start", {"cart.py": CODE, "AGENTS.md": "Use `Cart.total` and `open_cart()`.\n"}
    )
    repository.commit("more", {"other.py": "x = 1\n"})
    ended = repository.commit("rename it", {"cart.py": CODE.replace("open_cart", "open_carts")})
    repository.commit("even more", {"other.py": "x = 2\n"})
    assert repository.stale() == [("open_cart", ended, "open_carts")]
    text = (repository.root / "AGENTS.md").read_text(encoding="utf-8")
    (found,) = check_repository(repository.root, "AGENTS.md", text)
    assert found.code is Code.STALE_REFERENCE
    assert found.message == (
        f"`open_cart` existed when this line was written; {ended[:8]} of 2026-01-04 "
        "removed it: rename it; did you mean `open_carts`?"
    )
    ((change,),) = [fix.changes for fix in found.fixes]
    assert found.fixes[0].title == "Replace open_cart by open_carts"
    assert text[change.place.start : change.place.end] == "open_cart"
    assert change.text == "open_carts"


def test_paths_globs_and_commands_are_stale_too(repository: Repository) -> None:
    text = "`lib/a.py`, `docs/`, `*.proto`\n`make lint`, `lib/b.py`\n"
    repository.commit(
        "start",
        {
            "AGENTS.md": text,
            "lib/a.py": "one = 1\ntwo = 2\n" * 9,
            "lib/b.py": "",
            "docs/a.md": "",
            "x.proto": "",
            "Makefile": "lint:\n\truff\n",
        },
    )
    moved = repository.commit("move", {"lib/a.py": None, "src/a.py": "one = 1\ntwo = 2\n" * 9})
    gone = repository.commit("remove", {"docs/a.md": None, "x.proto": None, "Makefile": "a:\n"})
    assert repository.stale() == [
        ("lib/a.py", moved, "src/a.py"),
        ("docs/", gone, ""),
        ("*.proto", gone, ""),
        ("make lint", gone, ""),
    ]


def test_paths_in_commands_drawings_and_plain_text_are_stale_too(repository: Repository) -> None:
    """A drawing may begin with the name of the repository; its fix is the last part."""
    text = (
        "Run `go test ./pkg/cart/...`; the code is in pkg/cart/cart.go.\n\n"
        "```\nshop/\n├── pkg/\n│   ├── cart/   # carts\n│   └── kept.go\n└── main.go\n```\n"
        "```go\n// pkg/cart/cart.go\n```\n```sh\ncd pkg/cart && go run main.go ../none/here\n```\n"
    )
    code = "package cart\n\nfunc New() {}\n"
    files = {"pkg/cart/cart.go": code, "pkg/kept.go": "", "main.go": "package main\n"}
    repository.commit("start", {"AGENTS.md": text, **files})
    moved = {"pkg/cart/cart.go": None, "pkg/basket/cart.go": code, "main.go": None}
    ended = repository.commit("move", {**moved, "start.go": "package main\n"})
    assert repository.stale() == [
        ("./pkg/cart", ended, "pkg/basket"),
        ("pkg/cart/cart.go", ended, "pkg/basket/cart.go"),
        ("shop/pkg/cart", ended, "pkg/basket"),
        ("shop/main.go", ended, "start.go"),
        ("pkg/cart/cart.go", ended, "pkg/basket/cart.go"),
        ("pkg/cart", ended, "pkg/basket"),
        ("main.go", ended, "start.go"),
    ]
    for one in reversed(check_repository(repository.root, "AGENTS.md", text)):
        (change,) = one.fixes[0].changes
        text = text[: change.place.start] + change.text + text[change.place.end :]
    assert "├── basket/   # carts\n│   └── kept.go\n└── start.go" in text
    assert "cart/" not in text


def test_what_moved_before_it_ended_is_followed(repository: Repository) -> None:
    files = {"lib/__init__.py": "", "lib/a.py": "x = 1\n", "lib/b.py": "y = 2\n"}
    text = "`open_cart()`, `lib/`\n"
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": text, **files})
    opened = CODE.partition("\n\n\n")[2]
    repository.commit("move", {"cart.py": CODE.replace(opened, ""), "shop/begin.py": opened})
    # An empty file is no sign of where a folder went.
    gone = dict.fromkeys(files, None)
    ended = repository.commit("end", {**gone, "shop/begin.py": "", "new/__init__.py": ""})
    assert repository.stale() == [("open_cart", ended, ""), ("lib/", ended, "")]


def test_what_is_merely_alike_is_not_offered(repository: Repository) -> None:
    files = {"cache/lru.go": "package cache\n", "auth/token.go": "package auth\n", "api/a.ts": ""}
    text = "`cache/lru.go`, `api/a.ts`, `load_all()`\n"
    code = "def load_all(): ...\n\n\ndef load_al(x): ...\n"
    repository.commit("start", {"AGENTS.md": text, "lib.py": code, **files})
    gone = {"cache/lru.go": None, "api/a.ts": None, "config.ts": "let a = 1\n"}
    code = "def load_al(x): ...\n\n\ndef load_alls(y): ...\n"
    ended = repository.commit("remove", {**gone, "lib.py": code})
    assert repository.stale() == [(name, ended, "") for name in re.findall(r"[\w./]+", text)]


def test_what_was_found_is_kept_until_a_file_changes(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": "Call `open_cart()`.\n"})
    repository.commit("rename it", {"cart.py": CODE.replace("open_cart", "open_carts")})

    def check() -> tuple[stale.StaleMention, ...]:
        text = (repository.root / "AGENTS.md").read_text(encoding="utf-8")
        access = SmartFileAccess.for_workspace(repository.root, patience=None)
        found = stale_mentions(access, "AGENTS.md", text, mentions(read_markdown(text)))
        access.close()
        return found

    found = check()
    assert [one.near for one in found] == ["open_carts"]
    with monkeypatch.context() as without:
        for owner, name in ((IndexBuilder, "start"), (History, "_run"), (Targets, "has")):
            without.setattr(owner, name, Mock(side_effect=AssertionError))
        assert check() == found
    monkeypatch.setattr(Search, "stale", Mock(return_value=()))
    assert check() == found
    for files in ({"other.py": "x = 1\n"}, {"AGENTS.md": "Do call `open_cart()`.\n"}):
        repository.write(dict(files))
        assert check() == ()


def test_what_is_said_to_be_gone_and_what_is_a_library_s_now_is_not_stale(
    repository: Repository,
) -> None:
    text = "`open_cart()` is deprecated.\n`begin_cart()` is ours.\n`Session` has data.\n"
    text += "`vscode.window.askPerson()` and `debounce_all()` are others'.\n`NSURLSession`\n"
    code = "class Session: ...\n\n\ndef open_cart(): ...\n\n\ndef begin_cart(): ...\n"
    asks = "declare module 'vscode' { export namespace window { function askPerson(); } }\n"
    others = {"types/vscode.d.ts": asks, "vendor/lo.py": "def debounce_all(): ...\n"}
    others["a.swift"] = "public extension NSURLSession { func askPerson() {} }\n"
    repository.commit("start", {"AGENTS.md": text, "cart.py": code, **others})
    gone = {"cart.py": "from lib.sessions import Session\n", **dict.fromkeys(others)}
    ended = repository.commit("remove", gone)
    assert repository.stale() == [("begin_cart", ended, "")]


def test_a_file_name_alone_means_a_file_of_the_root_or_beside(repository: Repository) -> None:
    text = "`settings.json`, `gone.json`, `beside.json`\n"
    files = {"a/AGENTS.md": text, "gone.json": "", "a/beside.json": "", ".claude/settings.json": ""}
    repository.commit("start", dict(files))
    names = ("gone.json", "a/beside.json", ".claude/settings.json")
    ended = repository.commit("remove", dict.fromkeys(names))
    found = repository.stale("a/AGENTS.md")
    assert found == [("gone.json", ended, ""), ("beside.json", ended, "")]


def test_a_history_is_read_by_a_few_commands(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it is, and however many files of instructions there are."""
    names = [f"open_{number}" for number in range(6)]
    code = "".join(f"def {name}(): ...\n" for name in names)
    documents = {f"{name}/AGENTS.md": f"Call `{name}()`, `used_{name}`.\n" for name in names}
    files = {f"use{number}.py": f"open_{number}()\n" for number in range(30)}
    repository.commit("start", {"lib.py": code, **documents, **files})
    for number in range(8):
        repository.commit(f"more {number}", {"lib.py": f"{code}# {number}\n"})
    ended = repository.commit("rename", {"lib.py": code.replace("open_", "begin_")})
    asked: list[str] = []
    run, parse = History._run, names_in

    def run_noted(history: History, arguments: tuple[str, ...], *more: Any, **named: Any) -> bytes:
        asked.append(arguments[0])
        return run(history, arguments, *more, **named)

    def parse_noted(*arguments: Any) -> frozenset[str]:
        asked.append("parse")
        return parse(*arguments)

    monkeypatch.setattr(History, "_run", run_noted)
    monkeypatch.setattr(stale, "names_in", parse_noted)
    for number, name in enumerate(names):
        assert repository.stale(f"{name}/AGENTS.md") == [(name, ended, f"begin_{number}")]
    counts = Counter(asked)
    # The trees are those of the first commit and of the last.
    expected = {"rev-list": 1, "diff-tree": 1, "ls-tree": 2, "config": 1}
    assert {one: counts[one] for one in expected} == expected
    assert sum(counts.values()) - counts["parse"] <= 6 + 3 * len(names)


def test_a_name_that_is_gone_or_that_many_files_use_is_looked_for_in_few(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Call `load_all()`, then `Lib.old_part`, or `Lib.old_part` again.\n"
    code = "def load_all(): ...\n\n\nclass Lib:\n    def old_part(self): ...\n"
    files = {f"use{number}.py": f"load_all({number})\n" for number in range(20)}
    repository.commit("start", {"AGENTS.md": text, "lib.py": code, **files})
    ended = repository.commit("rename", {"lib.py": code.replace("old_", "new_")})
    parsed, meant, asked = list[bytes](), Names.meaning, list[str]()
    look_up, looked_up = WorkspaceIndex.last_holding, list[str]()

    def look_noted(index: WorkspaceIndex, word: str) -> set[str]:
        looked_up.append(word)
        return look_up(index, word)

    def outline_noted(language: str, data: bytes, **options: Any) -> Outline:
        parsed.append(data)
        return outline_source(language, data, **options)

    async def meaning_noted(names: Names, name: str) -> Meaning:
        asked.append(name)
        return await meant(names, name)

    monkeypatch.setattr(f"{Targets.__module__}.outline_source", outline_noted)
    monkeypatch.setattr(Names, "meaning", meaning_noted)
    monkeypatch.setattr(WorkspaceIndex, "last_holding", look_noted)
    assert repository.stale() == [("Lib.old_part", ended, "Lib.new_part")] * 2
    assert (asked, looked_up) == ([], ["old_part"])
    ended = repository.commit("end", {"lib.py": "class Lib: ...\n"})
    assert ("load_all", ended, "") in repository.stale()
    assert "load_all" in asked
    # Each version of the library once, and no use.
    assert len(parsed) == len({*parsed}) <= 3


def test_code_is_indexed_before_names_are_looked_up(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": "`open_cart()`\n"})
    known: list[bool] = []
    waited = Event()
    looked_up, wait, read = Targets.has, WorkspaceIndex.wait, IndexBuilder._read_changed

    def wait_noted(index: WorkspaceIndex, *arguments: Any) -> bool:
        waited.set()
        return wait(index, *arguments)

    def read_then(index: IndexBuilder, *arguments: Any, **options: Any) -> bool:
        waited.wait(5)
        return read(index, *arguments, **options)

    def look_noted(targets: Targets, mention: Mention) -> bool:
        index = targets.access.index
        # Otherwise all files that the index lacks would be read for each name.
        known.append(index is not None and "open_cart" in index.last_defined())
        return looked_up(targets, mention)

    monkeypatch.setattr(Targets, "has", look_noted)
    monkeypatch.setattr(WorkspaceIndex, "wait", wait_noted)
    monkeypatch.setattr(IndexBuilder, "_read_changed", read_then)
    access, text = SmartFileAccess.for_workspace(repository.root), "`open_cart()`\n"
    assert stale_mentions(access, "AGENTS.md", text, mentions(read_markdown(text))) == ()
    assert known == [True]


def test_what_never_was_and_what_is_elsewhere_now_is_not_stale(repository: Repository) -> None:
    text = "`Nothing.here`, `lib/none.py`, `make it`, `Cart.total`, `a.py`, `os.path.join()`\n"
    of_tests = {"tests/helpers.py": "def make_cart(): ...\n"}
    text += "Tests may call `make_cart()`. Call `Tax.rate_it`, `Duty.payIt()`.\n"
    files = {"cart.py": CODE, "a.py": "", "tax.rb": "class Tax\n  def self.rate_it; end\nend\n"}
    files["Duty.kt"] = "object Duty { fun payIt() {} }\n"
    repository.commit("start", {"AGENTS.md": text, **files, **of_tests})
    repository.commit("remove", dict.fromkeys(of_tests))
    base = "class Base:\n    def total(self): ...\n\n\nclass Cart(Base): ...\n"
    new: dict[str, str | None] = {
        "cart.py": None,
        "lib/base.py": base,
        "a.py": None,
        "lib/a.py": "",
    }
    new["tax.rb"] = "class Tax\n  class << self\n    def rate_it; end\n  end\nend\n"
    new["Duty.kt"] = "class Duty { companion object { fun payIt() {} } }\n"
    repository.commit("move", new)
    assert repository.stale() == []


def test_the_commit_that_wrote_the_line_decides(repository: Repository) -> None:
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": "Nothing.\n"})
    repository.commit("remove", {"cart.py": "class Cart: ...\n"})
    repository.commit("late", {"AGENTS.md": "Nothing.\nCall `open_cart()`.\n"})
    assert repository.stale() == []
    repository.write({"AGENTS.md": "Nothing.\nCall `Cart`, not `open_cart()`.\n"})
    assert repository.stale() == []


@pytest.mark.parametrize(
    ("ending", "going_on", "other", "is_crossed"),
    [
        ("side", "main", "other.py", False),
        ("main", "side", "other.py", False),
        ("main", "side", "cart.py", False),
        ("main", "side", "cart.py", True),
    ],
)
def test_what_a_branch_ended_is_found_behind_its_merge(
    repository: Repository, ending: str, going_on: str, other: str, *, is_crossed: bool
) -> None:
    """Also where the other branch, which comes last, changes a file that still has it."""
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": "Call `open_cart()`.\n"})
    repository.git("branch", "side")
    repository.git("switch", "-q", ending)
    ended = repository.commit("on a branch", {"cart.py": "class Cart: ...\n"})
    repository.commit("it goes on", {"it.py": ""})
    repository.git("switch", "-q", going_on)
    kept = CODE if other == "cart.py" else ""
    for number in range(2):
        repository.commit(f"the other goes on {number}", {other: f"{kept}x = {number}\n"})
    if is_crossed:
        repository.git("merge", "-q", "--no-edit", "-X", "theirs", "main")
    repository.git("switch", "-q", "main")
    repository.commit("it goes on here", {"here.py": ""})
    repository.git("merge", "-q", "--no-edit", "-X", "ours", "side")
    assert repository.stale() == [("open_cart", ended, "")]


def test_a_file_that_git_lost_hides_no_other(repository: Repository) -> None:
    code = {"cart.py": CODE, "lost.py": "def lose(): ...\n"}
    repository.commit("start", {"AGENTS.md": "Call `open_cart()`, `lose()`.\n", **code})
    blob = repository.git("rev-parse", "HEAD:lost.py").strip()
    ended = repository.commit("remove", dict.fromkeys(code))
    (repository.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert repository.stale() == [("open_cart", ended, "")]


def test_what_is_not_committed_yet_is_said_so(repository: Repository) -> None:
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": "Call `open_cart()`.\n"})
    repository.write({"cart.py": "class Cart: ...\n"})
    assert repository.stale() == [("open_cart", "", "")]
    repository.write({"cart.py": CODE})
    assert repository.stale() == []


def test_a_rename_is_told_before_and_after_it_is_committed(repository: Repository) -> None:
    """Whatever the editor renames in code, the mention's fix has the new name."""
    text = "Call `open_cart()`, then `Cart.total`.\n"
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": text})
    renamed = CODE.replace("open_cart", "begin").replace("total", "price") + "\n\nbegin()\n"
    repository.write({"cart.py": renamed})
    assert repository.stale() == [("open_cart", "", "begin"), ("Cart.total", "", "Cart.price")]
    ended = repository.commit("rename", {"cart.py": renamed})
    assert [(name, near) for name, _, near in repository.stale()] == [
        ("open_cart", "begin"),
        ("Cart.total", "Cart.price"),
    ]
    assert {commit for _, commit, _ in repository.stale()} == {ended}


def test_a_name_that_changed_with_its_file_is_offered(repository: Repository) -> None:
    code = "".join(f"def step_{number}(): ...\n" for number in range(9)) + "def last(): ...\n"
    repository.commit("start", {"AGENTS.md": "Call `step_4()`.\n", "lib.py": code})
    moved = {"lib.py": None, "kit.py": code.replace("step_4", "leap")}
    ended = repository.commit("rename", moved)
    assert repository.stale() == [("step_4", ended, "leap")]


def test_a_new_name_that_is_gone_too_or_means_several_things_is_not_offered(
    repository: Repository,
) -> None:
    text = "Call `open_cart()`, see `lib/old.txt` and `lib/gone.txt`.\n"
    old, gone = "how a cart is opened\n" * 9, "how a cart is closed\n" * 9
    files = {"x/lib/old.txt": old, "x/lib/gone.txt": gone, "y/b/new.txt": ""}
    repository.commit("start", {"AGENTS.md": text, "cart.py": CODE, **files})
    moved = {"x/lib/old.txt": None, "x/b/new.txt": old, "x/lib/gone.txt": None, "x/c.txt": gone}
    ended = repository.commit("go", {"cart.py": CODE.replace("open_cart", "begin"), **moved})
    repository.commit("end", {"cart.py": "class Cart: ...\n", "x/c.txt": None})
    near = {"open_cart": "", "lib/old.txt": "x/b/new.txt", "lib/gone.txt": ""}
    assert repository.stale() == [(name, ended, new) for name, new in near.items()]


def test_a_path_in_a_skill_is_of_the_skill_or_of_the_root(repository: Repository) -> None:
    """By its end alone it's an example, which is of the project that the skill is used in."""
    text = "`src/app.ts`, `in/lib/src/`, `./make.py`, `src/shop/`\n"
    files = {"in/lib/src/app.ts": "", "skills/a/make.py": "", "src/shop/b.ts": "", "x.ts": ""}
    repository.commit("start", {"skills/a/SKILL.md": text, "AGENTS.md": text, **files})
    ended = repository.commit("end", {**dict.fromkeys(files), "y.ts": ""})
    told = [name for name, *_ in repository.stale("skills/a/SKILL.md")]
    assert told == ["in/lib/src/", "./make.py", "src/shop/"]
    found = [("src/app.ts", ended), ("in/lib/src/", ended), ("src/shop/", ended)]
    assert [one[:2] for one in repository.stale()] == found


def test_a_type_that_is_imported_in_another_way_is_not_stale(repository: Repository) -> None:
    text = "See `ExecutedRule`.\n"
    before = "import {\n  type ExecutedRule,\n} from 'generated';\n"
    repository.commit("start", {"AGENTS.md": text, "a.ts": before})
    after = "import type {\n  ExecutedRule,\n} from 'generated';\n"
    repository.commit("import it as a type", {"a.ts": after})
    assert repository.stale() == []


def test_a_name_that_many_files_have_is_not_suggested(repository: Repository) -> None:
    text = "See `src/AGENTS.md` and `src/part.md`.\n"
    files: dict[str, str | None] = {"AGENTS.md": text, "src/AGENTS.md": "", "src/part.md": ""}
    repository.commit("start", files)
    repository.commit("end", {"src/AGENTS.md": None, "src/part.md": None, "docs/part.md": "New."})
    found = [(name, near) for name, _, near in repository.stale()]
    assert found == [("src/AGENTS.md", ""), ("src/part.md", "docs/part.md")]


def test_what_another_line_defines_is_no_rename(repository: Repository) -> None:
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": "Call `open_cart()`.\n"})
    repository.write({"cart.py": CODE.replace("def open_cart(): ...", "def pay(sum): ...")})
    assert repository.stale() == [("open_cart", "", "")]


def test_an_ignored_file_that_is_there_is_not_stale(repository: Repository) -> None:
    repository.commit("start", {"AGENTS.md": "See `conf.toml`.\n", "conf.toml": ""})
    repository.commit("untrack", {".gitignore": "conf.toml\n", "conf.toml": None})
    assert repository.stale() == []
    repository.write({".gitignore": ""})
    assert [name for name, *_ in repository.stale()] == ["conf.toml"]
    repository.write({".gitignore": "*.txt\n", "conf.toml": ""})
    assert repository.stale() == []


def test_a_part_of_a_history_says_nothing(repository: Repository, tmp_path: Path) -> None:
    repository.commit("before", {"README.md": ""})
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": "Call `open_cart()`.\n"})
    repository.commit("remove", {"cart.py": "class Cart: ...\n"})
    address = repository.root.as_uri()
    for name, options in (("shallow", ["--depth=2"]), ("partial", ["--filter=blob:none"])):
        repository.git("config", "uploadpack.allowFilter", "true")
        repository.git("clone", "-q", *options, address, str(tmp_path / name))
        clone = Repository.__new__(Repository)
        clone.root = tmp_path / name
        assert clone.stale() == []
    (tmp_path / "none").mkdir()
    clone.root = tmp_path / "none"
    clone.write({"AGENTS.md": "Call `open_cart()`.\n"})
    assert clone.stale() == []


def test_an_outline_of_time_says_nothing(repository: Repository) -> None:
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": "Call `open_cart()`.\n"})
    repository.commit("remove", {"cart.py": "class Cart: ...\n"})
    access = SmartFileAccess.for_workspace(repository.root, patience=None)
    text = "Call `open_cart()`.\n"
    every = mentions(read_markdown(text))
    assert stale_mentions(access, "AGENTS.md", text, every, seconds=0) == ()
    assert len(stale_mentions(access, "AGENTS.md", text, every)) == 1


def test_the_time_holds_for_what_names_mean_now(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "`one_thing()` `two_things()` `three_things()` `four_things()`\n"
    repository.commit("start", {"AGENTS.md": text})
    access = SmartFileAccess.for_workspace(repository.root, patience=None)
    asked = Mock(return_value=True)
    monkeypatch.setattr(Targets, "has", asked)
    monkeypatch.setattr(stale, "monotonic", Mock(side_effect=count()))
    found = stale_mentions(access, "AGENTS.md", text, mentions(read_markdown(text)), seconds=4)
    assert (found, asked.call_count) == ((), 2)


def test_a_member_that_no_index_knows_is_not_looked_for_in_every_file(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"cart{number}.py": "total = 1\nCart.gone = total\n" for number in range(3)}
    repository.write({"cart.py": CODE, **files})
    access = SmartFileAccess.for_workspace(repository.root, patience=None)
    parse = Mock(side_effect=AssertionError)
    monkeypatch.setattr(ASTFileAnalysisBackend, "writing_files", parse)
    targets = Targets(access, "AGENTS.md")
    known, gone = mentions(read_markdown("`Cart.total` `Cart.gone`\n"))
    assert targets.of(known)
    assert targets.of(gone) is None


def test_what_is_found_before_the_time_is_over_is_reported(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("start", {"cart.py": CODE, "AGENTS.md": "`open_cart()`\n\n`Cart.total`\n"})
    ended = repository.commit("remove", {"cart.py": "class Basket: ...\n"})
    verdict, asked = Search._verdict, list[str]()

    def judge(search: Search, at: int, mention: Mention) -> Verdict | None:
        if asked:
            raise RevisionError("no time")
        asked.append(mention.name)
        return verdict(search, at, mention)

    monkeypatch.setattr(Search, "_verdict", judge)
    assert repository.stale() == [("open_cart", ended, "")]


def test_reading_a_history_runs_nothing_of_the_repository(
    repository: Repository, tmp_path: Path
) -> None:
    attributes = "* diff=evil filter=evil merge=evil\n"
    repository.commit(
        "start",
        {
            "cart.py": CODE,
            "old.txt": "How a cart is opened.\n",
            "AGENTS.md": "Call `open_cart()`, see `old.txt`.\n",
            ".gitattributes": attributes,
        },
    )
    (repository.root / "old.txt").rename(repository.root / "new.txt")
    ended = repository.commit("remove", {"cart.py": "class Cart: ...\n", "lib.py": "x = 1\n"})
    ran = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\necho $0 $* >> {ran}\ncat\n", encoding="utf-8")
    evil.chmod(0o755)
    for hook in (
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        (repository.root / ".git/hooks" / hook).write_bytes(evil.read_bytes())
        (repository.root / ".git/hooks" / hook).chmod(0o755)
    waits = tmp_path / "waits"
    os.mkfifo(waits)
    config = repository.root / ".git/config"
    settings = (
        f"[mailmap]\n\tfile = {waits}\n[core]\n\tattributesFile = {waits}\n"
        f"[core]\n\tfsmonitor = {evil}\n\tpager = {evil}\n\tsshCommand = {evil}\n"
        f"\teditor = {evil}\n\taskPass = {evil}\n\talternateRefsCommand = {evil}\n"
        f"[diff]\n\texternal = {evil}\n"
        f'[diff "evil"]\n\tcommand = {evil}\n\ttextconv = {evil}\n\tcachetextconv = false\n'
        f'[filter "evil"]\n\tclean = {evil}\n\tsmudge = {evil}\n\tprocess = {evil}\n\trequired\n'
        f"[gpg]\n\tprogram = {evil}\n[log]\n\tshowSignature = true\n"
        f"[grep]\n\tpatternType = perl\n[pager]\n\tblame = {evil}\n\tgrep = {evil}\n"
        f"[alias]\n\tblame = !{evil}\n\tgrep = !{evil}\n\tcat-file = !{evil}\n"
        "[blame]\n\tignoreRevsFile = /dev/zero\n"
    )
    config.write_text(config.read_text(encoding="utf-8") + settings, encoding="utf-8")
    assert repository.stale() == [("open_cart", ended, ""), ("old.txt", ended, "new.txt")]
    assert not ran.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux limits a process from outside")
@pytest.mark.parametrize("planted", ["refs/heads/main", "commondir"])
def test_git_has_little_memory_for_what_never_ends(
    repository: Repository, planted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("a", {"a.py": "def old(): ...\n"})
    file = repository.root / ".git" / planted
    file.unlink(missing_ok=True)
    file.symlink_to("/dev/zero")
    monkeypatch.setattr(revisions, "GIT_MEMORY", 1 << 26)
    with pytest.raises(RevisionError, match=r"Out of memory.*: see whether a file in its `\.git`"):
        history_of(repository.root, 20)
