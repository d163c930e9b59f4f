"""Outlines of languages by table, of documents, and of what has no grammar."""

import pytest

from foldline.backends.base.languages import language_of
from foldline.backends.outlines.syntax import parse
from foldline.backends.parsers.language_tables import LANGUAGES

from .outlines import access_to, check_outline

CASES = {
    "a.go": (
        """package main
import "fmt"
import (
	a "x/y"
)

// Run serves.
func (s *Server[T]) Run(ctx context.Context) (int, error) { return 1, nil }
func Foo(a int) int { return 1 }
type Server struct {
	Addr string
}
type Reader interface { Read(p []byte) error }
type ID = string
const (
	A = 1
	B = 2
)
var X, Y = 1, 2
""",
        """
imports fmt, a, x/y
9 func Foo(a int) int
10-12 type Server struct
  11 Addr string
  8 func Run(ctx context.Context) (int, error)  # Run serves.
13 type Reader interface
  13 Read(p []byte) error
14 type ID = string
16 const A = 1
17 const B = 2
19 var X, Y = 1, 2
19 var X, Y = 1, 2
""",
    ),
    "a.rs": (
        """use std::fmt;
/// A point.
#[derive(Debug)]
pub struct P<T> { x: i32, y: T }
pub enum E { A, B(i32) }
impl<T> fmt::Display for P<T> {
    fn fmt(&self) -> i32 { 1 }
}
pub trait Shape { fn area(&self) -> f64; }
mod m { pub async fn g() {} }
pub const C: i32 = 1;
macro_rules! mm { () => {} }
""",
        """
imports std::fmt
3-4 #[derive(Debug)] pub struct P<T>  # A point.
  4 x: i32
  4 y: T
6-8 impl<T> fmt::Display for P<T>
  7 fn fmt(&self) -> i32
5 pub enum E
  5 A
  5 B(i32)
9 pub trait Shape
  9 fn area(&self) -> f64
10 mod m
  10 pub async fn g()
11 pub const C: i32 = 1
12 macro_rules! mm
""",
    ),
    "A.java": (
        """package a.b;
import java.util.List;
/** A thing. */
public class A<T> extends B implements C {
  private static final int X = 1;
  public A(int a) {}
  @Override public <R> R f(int a, String... b) throws E { return null; }
  enum Color { RED; int g() { return 1; } }
  interface I { void x(); }
}
record R(int a) { void m() {} }
""",
        """
imports java.util.List
4-10 public class A<T> extends B implements C  # A thing.
  5 private static final int X = 1
  6 public A(int a)
  7 @Override public <R> R f(int a, String... b) throws E
  8 enum Color
    8 RED
    8 int g()
  9 interface I
    9 void x()
11 record R(int a)
  11 void m()
""",
    ),
    "a.c": (
        """#include <stdio.h>
#define MAX(a,b) ((a)>(b))
typedef struct node { int a; } node_t;
enum e { A, B };
/* Does it. */
static int *foo(int a, char *b) { return 0; }
int bar(void);
int g = 3;
#ifdef X
int inside(void) { return 1; }
#endif
""",
        """
imports stdio.h
2 #define MAX(a,b)
3 struct node
  3 int a
3 typedef struct node {int a;} node_t
4 enum e
  4 A
  4 B
6 static int *foo(int a, char *b)  # Does it.
7 int bar(void)
8 int g = 3
10 int inside(void)
""",
    ),
    "a.cpp": (
        """#include <vector>
namespace a::b {
template <typename T> class C : public D {
 public:
  C(int x);
  int f() const override { return 1; }
  int v = 3;
};
}
int a::b::C<int>::f() const { return 2; }
struct S { int operator+(const S& o); };
using X = int;
""",
        """
imports vector
2-9 namespace a::b
  3-8 template <typename T> class C : public D
    5 C(int x)
    6 int f() const override
    7 int v = 3
10 int a::b::C<int>::f() const
11 struct S
  11 int operator+(const S& o)
12 using X = int
""",
    ),
    "a.cs": (
        """using System;
namespace A.B {
    /// <summary>A thing.</summary>
    public class C<T> : D where T : new() {
        public int X { get; set; }
        private int f = 1;
        public C(int a) {}
        public async Task<int> M(int a) => 1;
    }
    enum Q { A }
}
""",
        """
imports System
2-11 namespace A.B
  4-9 public class C<T> : D where T : new()  # A thing.
    5 public int X
    6 private int f = 1
    7 public C(int a)
    8 public async Task<int> M(int a)
  10 enum Q
    10 A
""",
    ),
    "a.rb": (
        """require "x"
module M
  # A thing.
  class A < B
    CONST = 1
    def initialize(a, b = 1); end
    def self.k
      1
    end
  end
end
""",
        """
2-11 module M
  4-10 class A < B  # A thing.
    5 CONST = 1
    6 def initialize(a, b = 1)
    7-9 def self.k
""",
    ),
    "a.php": (
        """<?php
namespace A\\B;
use X\\Y;
/** A thing. */
abstract class C extends D {
  const K = 1;
  public int $x = 1;
  public function f(int $a): string { return ''; }
}
function top($a) {}
""",
        """
imports X\\Y
5-9 abstract class C extends D  # A thing.
  6 const K = 1
  7 public int $x = 1
  8 public function f(int $a): string
10 function top($a)
""",
    ),
    "a.kt": (
        """package a.b

import x.y.Z

/** A thing. */
data class P(val a: Int) : Q() {
    val c = 1

    override suspend fun g(): List<Int> {
        return listOf(1)
    }

    companion object {
        const val K = 2
    }
}

interface I {
    fun x()
}

object O {
    fun one() = 1
}

fun <T> top(a: T): T {
    return a
}
""",
        """
imports x.y.Z
6-16 data class P(val a: Int) : Q()  # A thing.
  7 val c = 1
  9-11 override suspend fun g(): List<Int>
  13-15 companion object
    14 const val K = 2
18-20 interface I
  19 fun x()
22-24 object O
  23 fun one()
26-28 fun <T> top(a: T): T
""",
    ),
    "a.sh": (
        """#!/bin/bash
# Greets.
function foo {
  echo 1
}
bar() { echo 2; }
export Y=2
""",
        """
3-5 function foo  # Greets.
6 bar()
7 Y=2
""",
    ),
    "a.md": (
        """---
title: x
---
# Top

## Install

```sh
# no heading
```

Setext
------

### Deep ###
# Second
""",
        """
4-15 # Top
  6-11 ## Install
  12-15 ## Setext
    15 ### Deep
16 # Second
""",
    ),
    "a.toml": (
        """name = "x"
[tool.x]
b = [
  1,
]

[[arr]]
c = 1
""",
        """
1 name = "x"
2-5 [tool.x]
  3-5 b = [ …
7-8 [[arr]]
  8 c = 1
""",
    ),
    "a.yaml": (
        """a: 1
b:
  c: 2
  d:
    deep: 3
---
"e": {f: 1}
""",
        """
1 a: 1
2-5 b:
  3 c: 2
  4-5 d:
    5 deep: 3
7 "e": {f: 1}
  7 f: 1
""",
    ),
    "a.json": (
        """{
  "a": 1,
  "b": {
    "c": [1]
  }
}
""",
        """
2 "a": 1
3-5 "b": { …
  4 "c": [1]
""",
    ),
    "LICENSE": (
        "Do what you want.\n\nWithout warranty.\n",
        """
(plain text without headings or indented blocks: read its lines, or search in it)
""",
    ),
    "a.strange": (
        """thing one {
    inner a {
        leaf
    }
    b
}
lonely
""",
        """
(the language is unknown: these are the lines with indented lines below them)
1-6 thing one {
  2-4 inner a {
""",
    ),
}


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
        (".bashrc", b"", "bash"),
        ("noextension", b"", "unknown"),
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
