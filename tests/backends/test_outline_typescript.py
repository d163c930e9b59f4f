"""Outlines of JavaScript and TypeScript."""

from pathlib import Path

import pytest

from foldline.backends.base.languages import language_of
from foldline.backends.files.source import decode
from foldline.backends.outlines.outlines import outline_source

from . import corpora
from .outlines import access_to, check_outline

TSX = """
import React, { useState } from "react";
import type { A } from './a';
import legacy = require("legacy");
export * from "./b";
export { c, d as dd } from "./c";

/**
 * Adds two numbers.
 * @param a first
 */
export async function add(a: number, b = 2): Promise<number> {
  function inner() { return 1; }
  return a + b;
}
export function over(a: string): void;
export function over(a: any /* anything */) {}

@Component({ selector: "x" })
export class Foo<T> extends Bar implements Baz {
  static readonly x: number = 1;
  #priv = 2;
  @Input() name!: string;
  handler = async (e: Event) => { };
  constructor(private readonly a: string) { super(); }
  get value(): T { return this._v; }
  set value(v: T) { this._v = v; }
  async *gen() {}
}
export abstract class Abs { abstract f(): void; }
export interface I extends J { a: string; m(x: number): void }
export enum Color { Red, Green = 2 }
type U = { a: string } | null;
namespace NS { export const z = 1; }
declare module "foo" { export function mf(): void; }
declare global { interface Window { x: number } }
declare const dc: string;
export const App: React.FC<Props> = ({ a, b }) => {
  const onClick = () => setS(1);
  return <div onClick={onClick}>{a}</div>;
};
export const api = { get: (x: string) => x, async post() { return 1; }, n: 1 };
const { p, q: [r], ...rest } = load();
export default class {}
"""


def test_definitions_of_every_kind() -> None:
    check_outline(
        "a.tsx",
        TSX,
        """
imports react: React, {useState}, ./a: A, legacy, ./b, ./c
5 export * from "./b"
6 export from "./c"
  c, d as dd
12-15 export async function add(a: number, b = 2): Promise<number>  # Adds two numbers.
  13 function inner()
16 export function over(a: string): void
17 export function over(a: any)
19-29 @Component({selector: "x"}) export class Foo<T> extends Bar implements Baz
  21 static readonly x: number = 1
  22 #priv = 2
  23 @Input() name!: string
  24 handler = async (e: Event)
  25 constructor(private readonly a: string)
  26 get value(): T
  27 set value(v: T)
  28 async *gen()
30 export abstract class Abs
  30 abstract f(): void
31 export interface I extends J
  31 a: string
  31 m(x: number): void
32 export enum Color
  32 Red
  32 Green = 2
33 type U = {a: string} | null
34 namespace NS
  34 export const z = 1
35 declare module "foo"
  35 export function mf(): void
36 declare global
  36 interface Window
    36 x: number
37 declare const dc: string
38-41 export const App: React.FC<Props> = ({a, b})
  39 const onClick = ()
42 export const api = {get: (x: string) => x, async post() {re…
  42 get: (x: string)
  42 async post()
43 const {p, q: [r], ...rest} = load()
43 const {p, q: [r], ...rest} = load()
43 const {p, q: [r], ...rest} = load()
44 export default class
""",
    )


def test_exports_name_what_other_files_see() -> None:
    outline = access_to({"a.tsx": TSX}).get_outline("a.tsx")
    assert outline.exports == (
        *('* from "./b"', "c", "dd", "add", "over", "Foo"),
        *("Abs", "I", "Color", "App", "api", "default"),
    )


def test_modules_of_node_and_prototypes() -> None:
    check_outline(
        "a.js",
        """#!/usr/bin/env node
'use strict';
const fs = require("fs"), path = require('path');
/** Makes a thing. */
function Thing() {}
Thing.prototype.go = function (a) {};
if (x) { function conditional() {} }
try { var caught = 1 } catch (e) {}
(function (root) { function hidden() {} })(this);
module.exports = { Thing, make: () => 1 };
exports.other = function (b) {};
export default { data() { return {}; }, methods: { click() {} } };
""",
        """
imports fs, path
3 fs = require("fs")
3 path = require('path')
5 function Thing()  # Makes a thing.
6 Thing.prototype.go = function (a)
7 function conditional()
8 var caught = 1
9 function hidden()
10 module.exports = {Thing, make: () => 1}
  10 make: ()
11 exports.other = function (b)
12 export default {data() {return {};}, methods: {click() {}}}
  12 data()
  12 methods: {click() {}}
    12 click()
""",
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
