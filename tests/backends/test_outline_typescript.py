"""Outlines of JavaScript and TypeScript."""

from pathlib import Path

import pytest

from foldline.backends.base.languages import language_of
from foldline.backends.files.source import decode
from foldline.backends.outlines.outlines import outline_source

from . import corpora
from .outlines import CASES, access_to

TSX = CASES["a.tsx"][0]


def test_exports_name_what_other_files_see() -> None:
    outline = access_to({"a.tsx": TSX}).get_outline("a.tsx")
    assert outline.exports == (
        *('* from "./b"', "c", "dd", "add", "over", "Foo"),
        *("Abs", "I", "Color", "App", "api", "default"),
    )


def test_broken_code_keeps_the_rest() -> None:
    source = "function a() {}\nclass B { m( { }\nfunction c() {}\nconst d = () => 1;\n"
    names = [symbol.name for symbol in access_to({"a.ts": source}).get_outline("a.ts")]
    assert names == ["a", "B", "c", "d"]


def test_depth_of_nesting_is_no_limit() -> None:
    source = "if (x) {" * 5000 + "function f() {}" + "}" * 5000
    assert [symbol.name for symbol in outline_source("javascript", source.encode()).symbols] == [
        "f"
    ]


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.timeout(280)
def test_no_top_level_declaration_is_lost_against_the_compiler() -> None:
    modules = corpora.node_modules() / "node_modules"
    files = [
        path
        for package in ("rxjs", "@tanstack")
        for pattern in ("*.ts", "*.tsx")
        for path in sorted((modules / package).rglob(pattern))
        if "src" in path.parts
    ]
    declared = 0
    lost: list[tuple[str, tuple[str, int, int]]] = []
    for path, wanted in corpora.top_level_declarations(files).items():
        data = decode(path, Path(path).read_bytes()).parse_data
        found = outline_source(language_of(path), data)
        ours = {(symbol.name, symbol.line, symbol.line_end) for symbol in found.symbols}
        declared += len(wanted)
        lost += [(path, item) for item in wanted if item not in ours]
    assert not lost
    assert declared > 500
    assert any(path.suffix == ".tsx" for path in files)
