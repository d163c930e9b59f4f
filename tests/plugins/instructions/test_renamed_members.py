"""Renamed members in nine languages: those that are gone are told, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from .test_stale import Repository

MEMBERS = Path(__file__).with_name("members.toml")
MEMBER = re.compile(r"«([^:»]+):([^»]*?)(\w+)»")
TYPE = re.compile(r"(?<![a-z_])(?=(?:Cart|Store|Color)(?![a-z]))")
OTHERS = ("forwardRef", "memo()", "os.path.join", "fmt.Errorf", "React.memo", "Cart.nothing")
"""Names of libraries, which the code uses, and one that there never was."""


def test_of_a_hundred_renamed_members_each_is_told_with_its_new_name(tmp_path: Path) -> None:
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    expected: dict[str, str] = {}
    kinds, names = set[str](), [*OTHERS]
    for language, row in tomllib.loads(MEMBERS.read_text(encoding="utf-8")).items():
        for copy in ("", "kept"):
            # No two files define the same.
            source = TYPE.sub(f"{language}{copy}".title(), row["source"])
            source = re.sub(r"«([\w ]+:\w+)»", rf"«\1{copy}»", source)
            path = row["path"].format(copy)
            before[path] = MEMBER.sub(r"\3", source)
            renamed = MEMBER.sub(r"«\1:\2" + row["after"].format(r"\3") + "»", source)
            every = zip(MEMBER.findall(source), MEMBER.findall(renamed), strict=True)
            for (kind, owner, name), (_, _, new) in every:
                names.append(owner + name)
                if not copy:
                    kinds.add(kind)
                    expected[owner + name] = owner + new
                    after[path] = MEMBER.sub(r"\3", renamed)
    assert (len(expected) >= 100, len(kinds)) == (True, 10)
    repository = Repository(tmp_path)
    text = "".join(f"- `{name}` is one.\n" for name in names)
    repository.commit("start", {"AGENTS.md": text, **before})
    ended = repository.commit("rename", after)
    found = repository.stale()
    assert {commit for _, commit, _ in found} == {ended}
    told = {name: near for name, _, near in found}
    assert told.keys() - expected.keys() == set()
    assert expected.keys() - told.keys() == set()
    # Two that are renamed in one line look like a line that says something else.
    unknown = {name for name, near in told.items() if not near}
    assert {name: near for name, near in told.items() if near} == {
        name: near for name, near in expected.items() if name not in unknown
    }
    print(unknown)
    assert len(unknown) <= 6
