"""Uses of a thing under the names that imports, re-exports and aliases of types give it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.index import WorkspaceIndex

from .outlines import access_to

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "python": (
        {
            "pkg/a.py": "class Route: ...\n",
            "pkg/__init__.py": "from .a import Route as R\n",
            "b.py": "from pkg import R\nR()\nfrom pkg import R as RR\nRR()\n",
            "c.py": "R = 1\nprint(R)\n",
            "d.py": "from pkg.a import Route as Way\ndef f(Way): return Way\nWay()\n",
        },
        "Route",
        "pkg/a.py:1 d.py:1 d.py:3 pkg/__init__.py:1 b.py:1 b.py:2 b.py:3 b.py:4",
    ),
    "javascript": (
        {
            "a.js": "function limit() {}\nmodule.exports = { limit }\n",
            "b.js": "const { limit: lim } = require('./a')\nlim(1)\nfunction f(lim) { lim }\n",
            "c.js": "const most = require('./a').limit\nmost()\nlim()\n",
        },
        "limit",
        "a.js:1 a.js:2 b.js:1 b.js:2 c.js:1 c.js:2",
    ),
    "typescript": (
        {
            "a.ts": "export function go() {}\n",
            "i.ts": "export { go as run } from './a'\n",
            "u.ts": "import { run as far } from './i'\nfar()\n",
            "v.ts": "import { run } from './other'\nrun()\n",
        },
        "go",
        "a.ts:1 i.ts:1 u.ts:1 u.ts:2",
    ),
    "typescript over lines": (
        {
            "src/a.ts": "function go() {}\nexport {\n  go as run,\n}\n",
            "src/in/index.ts": "export { run as go2 } from '../a'\n",
            "src/k.js": "const { go2: near2 } = require('./in/index')\nnear2()\n",
            "src/i.ts": "import {\n  run as near,\n} from './a.ts'\nnear()\n",
            "src/j.ts": "import { go2 as far } from './in'\nfar()\n",
            "t.ts": "import {\n  run as own,\n} from 'pkg/src/a'\nown()\n",
            "u.ts": "import {\n  run as another,\n} from 'pkg/src/b'\nanother()\n",
        },
        "go",
        "src/a.ts:1 src/a.ts:3 src/i.ts:2 src/i.ts:4 src/in/index.ts:1 src/j.ts:1 src/j.ts:2"
        " src/k.js:1 src/k.js:2 t.ts:2 t.ts:4",
    ),
    "rust": (
        {
            "src/a.rs": "pub struct S;\n",
            "src/b.rs": "use crate::a::{S as T};\nfn f(t: T) {}\n",
            "src/c.rs": "fn f(t: T) {}\n",
        },
        "S",
        "src/a.rs:1 src/b.rs:1 src/b.rs:2",
    ),
    "rust's root": (
        {
            "src/a.rs": "pub struct S;\n",
            "src/lib.rs": "pub mod a;\npub use crate::a::S as T;\n",
            "src/b.rs": "use crate::T;\nfn f(t: T) -> crate::T {}\n",
            "src/c.rs": "use other::T;\nfn f(t: T) {}\n",
        },
        "S",
        "src/a.rs:1 src/lib.rs:2 src/b.rs:1 src/b.rs:2",
    ),
    "c": (
        {
            "a.h": "typedef struct node {\n  int a;\n} Node;\n",
            "b.c": "void f(Node *n) {}\nstruct node k;\n",
        },
        "node",
        "a.h:1 a.h:3 b.c:1 b.c:2",
    ),
    "c++": (
        {
            "a.hpp": "namespace n { class S {}; }\nusing T = n::S;\n",
            "b.cpp": "T make() { return T(); }\n",
        },
        "S",
        "a.hpp:1 a.hpp:2 b.cpp:1",
    ),
    "c#": (
        {"a.cs": "class S {}\n", "b.cs": "using T = N.S;\nclass A { T t; }\n"},
        "S",
        "a.cs:1 b.cs:1 b.cs:2",
    ),
    "ruby": (
        {
            "a.rb": "class A\n  def old\n  end\n  alias fresh old\n"
            "  alias_method :new?, :old\nend\n",
            "b.rb": "a.fresh\na.new?\na.new\n",
        },
        "old",
        "a.rb:2 a.rb:4 a.rb:5 b.rb:1 b.rb:2",
    ),
    "php": (
        {"a.php": "<?php class S {}\n", "b.php": "<?php\nuse N\\S as T;\nnew T();\n"},
        "S",
        "a.php:1 b.php:2 b.php:3",
    ),
    "kotlin": (
        {"a.kt": "class S\n", "b.kt": "import a.S as T\nval x = T()\n"},
        "S",
        "a.kt:1 b.kt:1 b.kt:2",
    ),
    "scala": (
        {"a.scala": "class S\n", "b.scala": "import a.{S => T}\nval x = new T\n"},
        "S",
        "a.scala:1 b.scala:1 b.scala:2",
    ),
    "go": (
        {
            "p/a.go": "package p\ntype S struct{}\ntype T = S\n",
            "p/b.go": "package p\nfunc f(t T) {}\n",
            "q/b.go": "package q\nfunc f(t T) {}\n",
        },
        "S",
        "p/a.go:2 p/a.go:3 p/b.go:2",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_use_under_another_name_is_a_use(case: str) -> None:
    files, name, expected = FILES[case]
    found = access_to(files).find_references(name)
    uses = [use for use in found if use.tier != "another"]
    lines = dict.fromkeys(f"{use.path}:{use.line}" for use in uses)
    assert " ".join(lines) == expected
    assert "also as " in found.reason


@pytest.mark.parametrize("case", ["python", "javascript", "typescript", "c++"])
def test_a_call_under_another_name_is_a_call(case: str) -> None:
    files, name, _ = FILES[case]
    access = access_to(files)
    found = access.call_hierarchy(*access.find_position(None, name).at, seconds=0)
    places = [f"{one.path}:{line}" for one in found.incoming for line in one.lines]
    expected = {
        "python": "d.py:3 b.py:2 b.py:4",
        "javascript": "b.js:2 c.js:2",
        "typescript": "u.ts:2",
        "c++": "b.cpp:1",
    }
    assert " ".join(places) == expected[case]
    assert found.reason.startswith("also as ")


def test_other_names_that_were_not_followed_are_said() -> None:
    files = {"src/a.rs": "pub struct S;\n", "src/lib.rs": "pub use a::S as U;\n"}
    files["src/c.rs"] = "use super::U;\nfn g(u: U) {}\n"
    assert access_to(files).find_references("S").reason == (
        "also as U in src/lib.rs; imports of such a name in src/c.rs weren't followed"
    )
    many = {f"m{n}.py": f"from a import go as go{n}\n" for n in range(10)}
    reason = access_to({"a.py": "def go(): ...\n", **many}).find_references("go").reason
    assert reason.endswith("known as go0, go1: those uses aren't among these")
    many = {"m.py": "".join(f"from a import go as go{n}\n" for n in range(999))}
    reason = access_to({"a.py": "def go(): ...\n", **many}).find_references("go").reason
    assert reason.endswith("go7, …: those uses aren't among these")
    access = access_to({"r.rb": "def go; end\nalias [] go\ndef [](a); end\nx = self[1]\n"})
    found = access.find_references("go")
    assert [use.line for use in found] == [1, 2]
    assert found.reason == "known as []: those uses aren't among these"


@pytest.mark.parametrize(
    "line", ["export default go", "module.exports = go;", "export { go as default };"]
)
def test_what_is_exported_whole_may_have_any_name(line: str) -> None:
    access = access_to({"a.js": f"function go() {{}}\n{line}\n"})
    found = access.find_references("go")
    assert found.reason == "a.js exports it whole: importers may name it otherwise"
    heirs = access.find_implementations("a.js", 1, "go", seconds=0)
    assert heirs.coverage.endswith(", importers of a.js by another name")
    access.find_references("default")
    call = line.replace("go", "run(go)", 1)
    found = access_to({"a.js": f"function go() {{}}\n{call}\n"}).find_references("go")
    assert found.reason == ""


@pytest.mark.parametrize("path", ["a.rs", "a.ts"])
def test_a_re_export_under_another_name_is_a_definition(path: str, tmp_path: Path) -> None:
    line = "pub use x::{go as run, q};" if path == "a.rs" else "export { go as run } from './x'"
    body = "pub fn go() {}" if path == "a.rs" else "export function go() {}"
    (tmp_path / path).write_text(f"{line}\nmod m {{ fn run() {{}} }}\nuse x::go as hidden;\n")
    (tmp_path / f"x{path[1:]}").write_text(f"{body}\n")
    with closing(WorkspaceIndex(LocalFileBackend(tmp_path), patience=None)) as index:
        access = SmartFileAccess(LocalFileBackend(tmp_path), index=index)
        place = access.find_position(None, "run")
        assert (place.path, place.line) == (path, 1)
        found = access.goto_definition(*place.at, seconds=0)
        assert [(one.path, one.line) for one in found] == [(path, 1), (f"x{path[1:]}", 1)]
        assert not access.definitions_of("hidden").found


def test_a_scope_holds_for_other_names_too() -> None:
    files, name, _ = FILES["javascript"]
    found = access_to(files).find_references(name, "c.js")
    assert [(use.path, use.line) for use in found] == [("c.js", 1), ("c.js", 2)]
