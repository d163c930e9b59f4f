"""Outlines of each language, of documents, of markup with scripts, and of what has no grammar."""

import json

import pytest

from foldline.backends.base import languages
from foldline.backends.base.languages import language_of
from foldline.backends.outlines.symbols import distinct, flatten
from foldline.backends.outlines.syntax import parse
from foldline.backends.parsers.language_tables import LANGUAGES

from .outlines import CASES, access_to, check_outline


@pytest.mark.parametrize("path", CASES)
def test_each_language_shows_its_definitions(path: str) -> None:
    check_outline(path, *CASES[path])


def test_every_language_has_a_grammar_that_loads_and_a_parser() -> None:
    for language in LANGUAGES:
        if language.module:
            assert parse(language.name, b"x").root_node.end_byte <= 1
        outline = access_to({f"a{language.extensions[0]}": ""}).get_outline(
            f"a{language.extensions[0]}"
        )
        assert outline.language == language.name
    with_code = {"python", "javascript", "typescript", "tsx", "markdown", "toml", "yaml", "json"}
    with_code |= {"vue", "svelte", "html", "proto", "graphql", "notebook"}
    assert with_code == {language.name for language in LANGUAGES if language.table is None}


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("bin/run", b"#!/usr/bin/env python3\n", "python"),
        ("bin/run", b"#!/usr/bin/python3.11 -O\n", "python"),
        ("bin/run", b"#!/usr/bin/env -S node --flag\n", "javascript"),
        ("bin/run", b"#! /bin/sh\n", "bash"),
        ("bin/run", b"#!/opt/strange\n", "unknown"),
        ("A.PY", b"", "python"),
        ("Rakefile", b"", "ruby"),
        ("config.ru", b"", "ruby"),
        ("ios/Podfile", b"", "ruby"),
        (".bashrc", b"", "bash"),
        ("noextension", b"", "unknown"),
        ("a.h", b"bool a::b::f() const {\n", "cpp"),
        ("a.h", b"// a::b\n/* a::b\n * a::b */\nint f(void); // a::b\n", "c"),
    ],
)
def test_a_language_is_told_by_name_or_first_line(path: str, head: bytes, language: str) -> None:
    assert language_of(path, head) == language


def test_a_heading_and_a_key_are_read_like_symbols() -> None:
    access = access_to({"README.md": CASES["a.md"][0], "x.toml": CASES["a.toml"][0]})
    assert access.read_symbol("README.md", "Install").body.startswith("## Install\n")
    assert access.read_symbol("x.toml", "tool.x").body == "[tool.x]\nb = [\n  1,\n]"
    assert access.read_symbol("x.toml", "tool.x.b").line == 3


def test_methods_are_asked_for_by_the_type_they_belong_to() -> None:
    access = access_to({path: CASES[path][0] for path in ("a.go", "a.rs", "a.cpp")})
    assert access.read_symbol("a.go", "Server.Run").line == 8
    assert access.read_symbol("a.rs", "P.fmt").line == 7
    assert access.read_symbol("a.cpp", "a.b.C.f[2]").line == 10


@pytest.mark.parametrize("path", CASES)
def test_any_part_of_a_file_is_no_crash(path: str) -> None:
    source = CASES[path][0]
    for end in range(0, len(source), 7):
        access_to({path: source[:end]}).get_outline(path)
        access_to({path: source[end:]}).get_outline(path)


def test_deeply_nested_documents_are_no_crash() -> None:
    for path, source in (
        ("a.json", '{"a":' * 5000 + "1" + "}" * 5000),
        ("a.md", "".join(f"{'#' * (n % 6 + 1)} t\n" for n in range(5000))),
        ("a.c", "int f() " + "{" * 5000 + "}" * 5000),
        ("a.txt", "".join(" " * n + "x\n" for n in range(2000))),
    ):
        access_to({path: source}).get_outline(path)


@pytest.mark.parametrize("path", CASES)
def test_each_name_of_an_outline_is_read_with_its_lines(path: str) -> None:
    text = CASES[path][0]
    lines = text.split("\n")
    access = access_to({path: text})
    for name, located in distinct(flatten(access.get_outline(path).symbols)):
        symbol = located.symbol
        assert symbol.line <= symbol.name_line <= symbol.line_end <= len(lines)
        for outer in located.enclosing:
            assert outer.line <= symbol.line
            assert symbol.line_end <= outer.line_end
        detail = access.read_symbol(path, name)
        assert (detail.line, detail.line_end) == (symbol.line, symbol.line_end)
        assert detail.body.endswith("\n".join(lines[symbol.line - 1 : symbol.line_end]))


def test_a_macro_behind_a_name_is_no_name() -> None:
    text = "class A {\n  int size TAKEN_BY(lock);\n  Stats longest_names TAKEN_BY(lock) = 1;\n"
    outline = access_to({"a.cpp": f"{text}  void f() TAKEN_BY(lock);\n}};\n"}).get_outline("a.cpp")
    names = [name for name, _ in distinct(flatten(outline.symbols))]
    assert names == ["A", "A.size", "A.longest_names", "A.f"]


def test_references_are_found_in_the_scripts_of_markup() -> None:
    uses = access_to({"a.vue": CASES["a.vue"][0]}).find_references("count")
    assert [(use.line, use.column) for use in uses] == [(4, 7), (5, 22)]


def test_a_language_whose_grammar_is_not_installed_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(languages, "_is_installed", lambda module: "sql" not in module)
    access = access_to({"a.sql": CASES["a.sql"][0]})
    outline = access.get_outline("a.sql")
    assert outline.reason.startswith("sql is read without a grammar; install foldline[grammars]")
    assert [symbol.line for symbol in outline] == [2]
    assert not access.find_references("users")


def test_entries_of_a_lock_file_have_names() -> None:
    text = CASES["uv.lock"][0]
    assert access_to({"uv.lock": text}).read_symbol("uv.lock", "attrs").line == 2


def test_only_small_files_of_yaml_are_listed_three_levels_deep() -> None:
    text = "jobs:\n  build:\n    steps:\n      - run: x\n      - a:\n          b: c\n"
    small = access_to({"a.yml": text}).get_outline("a.yml")
    names = [name for name, _ in distinct(flatten(small.symbols))]
    assert names == ["jobs", "jobs.build", "jobs.build.steps"]
    large = access_to({"a.yml": text + "# x\n" * 2_000}).get_outline("a.yml")
    assert [name for name, _ in distinct(flatten(large.symbols))] == names[:2]


def test_a_notebook_lists_what_its_cells_define() -> None:
    cells = [
        ("markdown", ["# Sales\n", "text\n", "## By *month*"], []),
        ("code", ["%matplotlib inline\n", "import os\n", "def total(x):\n", "    return x\n"], []),
        ("code", ["class A:\n", "    def b(self): ...\n", "!ls"], ["def output(): ...\n"]),
        ("raw", ["def raw(): ...\n"], []),
    ]
    book = {
        "cells": [
            {"cell_type": kind, "outputs": [{"text": outputs}], "source": source}
            for kind, source, outputs in cells
        ],
        "nbformat": 4,
    }
    text = json.dumps(book, indent=1)
    lines = text.split("\n")
    outline = access_to({"a.ipynb": text}).get_outline("a.ipynb")
    assert not outline.reason
    found = {name: located.symbol for name, located in distinct(flatten(outline.symbols))}
    assert list(found) == ["Sales", "By *month*", "total", "A", "A.b"]
    assert all(symbol.signature[:8] in lines[symbol.line - 1] for symbol in found.values())
    assert found["total"].line_end == found["total"].line + 1
    assert "return x" in access_to({"a.ipynb": text}).read_symbol("a.ipynb", "total").body


@pytest.mark.parametrize("text", ["", "[]", '{"cells": [', '"source": [\n"a', "[" * 9_000])
def test_a_broken_notebook_has_no_definitions(text: str) -> None:
    assert not access_to({"a.ipynb": text}).get_outline("a.ipynb").symbols


@pytest.mark.parametrize(
    ("path", "name", "line"),
    [
        ("a.swift", "A.init", 6),
        ("a.swift", "P.z", 11),
        ("a.scala", "Color.Green", 12),
        ("a.sql", "users.name", 4),
        ("a.tf", "resource.aws_s3.b", 2),
        ("a.lua", "M.go", 4),
        ("a.ex", "B.f", 4),
        ("a.vue", "onClick", 5),
        ("a.proto", "Cart.Line", 3),
    ],
)
def test_a_symbol_has_the_name_that_people_use(path: str, name: str, line: int) -> None:
    assert access_to({path: CASES[path][0]}).read_symbol(path, name).line == line


@pytest.mark.parametrize(
    "unit",
    ["<script", "<script>", "<script type='", "\n<template ", "<a id='b", "<h1", '"source": [\n"'],
)
@pytest.mark.parametrize("path", ["a.vue", "a.html", "a.ipynb"])
def test_markup_that_never_ends_takes_linear_time(path: str, unit: str) -> None:
    text = unit * (400_000 // len(unit))
    assert len(access_to({path: text}).get_outline(path).symbols) <= 500
