"""Globs: as people and models write them, wherever a part of the workspace is named."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import (
    BackendError,
    MemoryFileBackend,
    NoMatchError,
    OutsideWorkspaceError,
    SmartFileAccess,
)
from foldline.backends.files.globs import Glob, alternatives
from foldline.backends.search.walks import Scope

PATHS = (
    "src/a.ts",
    "src/b.tsx",
    "src/deep/c.ts",
    "src/deep/c.css",
    "lib/x.go",
    "lib/x_test.go",
    "README.md",
    "docs/a,b.md",
    "docs/a.md",
    "app/{id}/p.ts",
    "app/[id]/p.ts",
    "tests/t.py",
    "pkg/tests/u.py",
)
FILES: dict[str, str | bytes] = {
    **dict.fromkeys(PATHS, "touch = 1\n"),
    ".gitignore": "*.log\nbuild/\n",
    "a.log": "touch",
    "build/o.ts": "touch",
}
TYPESCRIPT = {path for path in PATHS if path.endswith(".ts")}
OF_SRC = {path for path in PATHS if path.startswith("src/")}


def held(text: str) -> set[str]:
    scope = Scope(MemoryFileBackend(FILES), text)
    scope.check()
    return {stamp.path for stamp in scope.walk()}


def test_more_braces_than_anybody_writes_stand_for_themselves() -> None:
    assert [*alternatives("{a,b}" * 2_000)] == ["{a,b}" * 2_000]


def test_a_class_is_looked_for_no_farther_than_a_name_is_long() -> None:
    assert [*alternatives(f"{{[{'x,' * 100}],b}}")] == [f"[{'x,' * 100}]", "b"]
    assert len([*alternatives(f"{{[{'x,' * 200}],b}}")]) == 202


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("*.{ts,tsx}", TYPESCRIPT | {"src/b.tsx"}),
        ("*.{ts,{go,md}}", TYPESCRIPT | {p for p in PATHS if p.endswith((".go", ".md"))}),
        ("src/{,deep/}*.ts", {"src/a.ts", "src/deep/c.ts"}),
        ("*.go,*.tsx", {"lib/x.go", "lib/x_test.go", "src/b.tsx"}),
        ("*.go *.tsx", {"lib/x.go", "lib/x_test.go", "src/b.tsx"}),
        ("*.go, !*_test.go", {"lib/x.go"}),
        ("!*_test.go,*.go", {"lib/x.go"}),
        ("!src/,!app,!*.md", {"lib/x.go", "lib/x_test.go", "tests/t.py", "pkg/tests/u.py"}),
        ("src,!*.{css,tsx}", {"src/a.ts", "src/deep/c.ts"}),
        ("tests,lib/x.go", {"tests/t.py", "lib/x.go"}),
        ("./src/*.ts", {"src/a.ts"}),
        ("/src/*.ts", {"src/a.ts"}),
        ("/src", OF_SRC),
        ("src/", OF_SRC),
        ("src\\*.ts", {"src/a.ts"}),
        ("deep", {"src/deep/c.ts", "src/deep/c.css"}),
        ("tests", {"tests/t.py"}),
        ("/memory/src/*.ts", {"src/a.ts"}),
        ("/memory/src/", OF_SRC),
        ("*.{py}", {"tests/t.py", "pkg/tests/u.py"}),
        # Names with a comma, a brace or a bracket.
        ("docs/a,b.md", {"docs/a,b.md"}),
        ("docs/a[,]*.md", {"docs/a,b.md"}),
        ("docs/a\\,*.md", {"docs/a,b.md"}),
        ("app/{id}", {"app/{id}/p.ts"}),
        ("app/{id}/*.ts", {"app/{id}/p.ts"}),
        ("app/[id]/p.ts", {"app/[id]/p.ts"}),
    ],
)
def test_a_glob_holds_what_its_writer_means(text: str, paths: set[str]) -> None:
    shown = held(text) - {".gitignore"}
    assert shown == paths


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("src/**/*.py", "src/**/*.py: matches no file; src/ has .ts (2), .tsx (1), .css (1)"),
        ("src/*.css", "src/*.css: matches no file; .css files are in src/deep/ (1)"),
        ("scr/**/*.ts", "scr/**/*.ts: matches no file; there is no folder scr/; did you mean"),
        ("deep/*.ts", "there is no folder deep/; did you mean 'src/deep'?"),
        ("*.rs", "*.rs: matches no file; ./ has .ts (4), .md (3), .go (2), .py (2)"),
        ("*.log", "matches ignored files only: a.log is ignored by the pattern '*.log'"),
        ("build/*.ts", "build/o.ts is ignored by the pattern 'build/' of .gitignore"),
        ("!**", "!**: matches no file; it excludes every file"),
        ("nosuch", "nosuch: no such file or folder"),
        ("src/nosuch", "src/nosuch: no such file or folder"),
        (",", "glob: ',' is not a glob"),
        ("{a,b}" * 12, "glob: stands for more than 500 patterns"),
        ("{" * 60, "glob: has more than 50 braces"),
    ],
)
def test_a_glob_without_a_file_is_an_error_that_says_what_there_is(text: str, message: str) -> None:
    with pytest.raises(BackendError) as refused:
        held(text)
    assert message in str(refused.value)


@pytest.mark.parametrize("text", ["/etc/passwd", "/etc/*.conf", "../x/*", "../*.{ts,tsx}"])
def test_what_is_outside_is_never_a_glob(text: str) -> None:
    with pytest.raises(OutsideWorkspaceError):
        held(text)


@pytest.fixture
def access(tmp_path: Path) -> Iterator[SmartFileAccess]:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    with closing(SmartFileAccess.for_workspace(tmp_path)) as opened:
        yield opened


def test_every_query_takes_the_same_globs(access: SmartFileAccess) -> None:
    text = "*.{ts,tsx},!app/"
    paths = {"src/a.ts", "src/b.tsx", "src/deep/c.ts"}
    assert {match.path for match in access.grep("touch", text)} == paths
    assert {use.path for use in access.find_references("touch", text, seconds=0)} == paths
    assert {*access.search_symbols("touch", files=[text]).files} == paths
    for ask in (
        lambda glob: access.grep("touch", glob),
        lambda glob: access.find_references("touch", glob, seconds=0),
        lambda glob: access.search_symbols("touch", files=[glob]),
    ):
        with pytest.raises(NoMatchError, match=r"'?src/ has \.ts \(2\)"):
            ask("src/**/*.{py,go}")


# A text, and what it stands for: letters, or alternatives of such texts.
WORDS = st.text("ab", max_size=2).map(lambda word: (word, [word]))
TEXTS = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(
            lambda parts: (
                "".join(text for text, _ in parts),
                [*map("".join, _products([found for _, found in parts]))],
            )
        ),
        st.lists(inner, min_size=2, max_size=3).map(
            lambda parts: (
                f"{{{','.join(text for text, _ in parts)}}}",
                [one for _, found in parts for one in found],
            )
        ),
    ),
    max_leaves=6,
)


def _products(parts: list[list[str]]) -> list[list[str]]:
    if not parts:
        return [[]]
    return [[one, *rest] for one in parts[0] for rest in _products(parts[1:])]


@given(TEXTS, st.text("ab", min_size=1, max_size=4))
def test_braces_stand_for_each_of_their_alternatives(
    written: tuple[str, list[str]], name: str
) -> None:
    text, alternatives = written
    glob = Glob(MemoryFileBackend({}), f"x{text}.py")
    assert glob.matches(f"x{name}.py") == (name in alternatives)


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
@given(st.text("ab*?[]{},!\\/. #", max_size=12))
def test_any_text_is_a_glob_or_refused(text: str) -> None:
    with suppress(BackendError):
        Scope(MemoryFileBackend({"a": "", "b/a.b": ""}), text).check()
