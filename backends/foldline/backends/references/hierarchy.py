"""Types and the members that they inherit, by syntax alone, as far as bases can be followed.

Bases are looked for lazily, through the index and the outlines: along the imports where these name
files, else by the folders that the imports and the file's own path suggest.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from itertools import islice
from operator import attrgetter
from posixpath import basename, commonpath, dirname, join, normpath, splitext
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.languages import SCRIPTS, language_of
from foldline.backends.base.path_kinds import is_test_path
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.errors import BackendError
from foldline.backends.index.words import whole_word
from foldline.backends.models import COMPLETE, Inherited, ReferenceKind, SymbolInfo, SymbolKind
from foldline.backends.outlines.symbols import BODIES, Located, distinct, flatten, is_local
from foldline.backends.references.spelling import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.outlines.analysis import Analysis
    from foldline.backends.references.bases import TypeBases

TYPES = frozenset({"class", "interface", "type", "enum", "namespace"})
# Parts of their types may stand in other files.
_OPEN = frozenset({"go", "rust", "cpp", "c", "csharp", "ruby", "kotlin"})
_MOST_TYPES = 64
_MOST_FILES = 200
_MOST_STEPS = 16
# Bases without members of interest, and words for the root of a package.
_PLAIN = frozenset({"object", "Generic", "Protocol", "ABC", "Object", "Any"})
ROOTS = frozenset({"crate", "self", "super", "src", ""})
_STD = ("std", "core", "alloc")
_SCRIPT_ENDS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", "/index.ts", "/index.js")
_ALIAS = re.compile(r"\w+(?:\s*:[^=]+)?\s*=\s*([\w.]+)\s*(?:\[.*\])?\Z", re.DOTALL)
_DECLARED = re.compile(r"\w+\s*:[^=]*")
_ON_SELF = re.compile(
    r"(?:\b(?:self|this|cls)(?:\.|->)|@|\b(?:public|private|protected|readonly)\s+)\Z"
)
# Neither a body nor a value.
DECLARES = re.compile(r"[^{=]*;\s*(?://.*|/\*.*)?")
_PACKAGE = re.compile(r"package\s+(\w+)")


class Found(NamedTuple):
    """A symbol of a file, and the name by which `read_symbol` finds it again.

    It only `declares` something where it is a prototype, or a module that is another file.
    """

    path: str
    located: Located
    readable: str
    declares: bool = False

    @property
    def name(self) -> str:
        return self.located.qualified_name

    @property
    def last(self) -> str:
        return self.located.symbol.name.rpartition(".")[2]

    @property
    def line(self) -> int:
        return self.located.symbol.name_line or self.located.symbol.line

    @property
    def is_type(self) -> bool:
        return self.located.symbol.kind in TYPES

    @property
    def is_constructor(self) -> bool:
        """True of a method with the name of its type, also of what destroys it."""
        if self.located.symbol.kind not in BODIES:
            return False
        owner = self.name.rpartition(".")[0].rpartition(".")[2]
        return owner == key_of(self.last)

    @property
    def is_macro(self) -> bool:
        """True of a macro of Rust, whose uses have a `!`."""
        return "macro_rules!" in self.located.symbol.signature


class Member(NamedTuple):
    """The definitions of a member; the bases that weren't followed; the names of other members."""

    found: tuple[Found, ...]
    missing: tuple[str, ...]
    others: tuple[str, ...] = ()


class Hierarchy:
    """Definitions by name in a workspace, for one query: it keeps every outline that it reads.

    Unless it is `thorough`, it knows only names that the index knows as defined.
    """

    def __init__(self, files: FileBackend, analysis: Analysis, *, thorough: bool = True) -> None:
        self._files = files
        self._analysis = analysis
        self._thorough = thorough
        self.began = time.monotonic()
        self._defining: dict[tuple[str, str], tuple[list[str], str]] = {}
        self._writing: dict[str, list[str]] = {}
        self._known: dict[str, tuple[Sequence[str], list[Found], Sequence[str]]] = {}
        self._typed: dict[str, Sequence[TypeBases]] = {}
        # Whether files weren't known yet that may define what was asked for.
        self.coverage = COMPLETE

    async def defining(self, name: str, *, thorough: bool = True) -> list[Found]:
        """The symbols that a dotted name means: by its whole path first, then by its end.

        Its first parts may be those of a module, or of a package around it. Where the index knows
        of none, and `thorough`, files are parsed that assign to the name.
        """
        *_, owner, word = ["", *map(key_of, name.split("."))]
        if (word, owner) not in self._defining:
            files = coroutine_of(self._analysis.defining_files)
            self._defining[word, owner] = await files(word, owner, self.began)
        paths, coverage = self._defining[word, owner]
        self.coverage = self.coverage if coverage == COMPLETE else coverage
        definitions = self.fitting(paths, name)
        if owner and all(one.declares for one in definitions):
            # Below `using namespace`, what is defined has fewer names.
            bodies = self.fitting(paths, f"{owner}.{word}") if definitions else []
            definitions += [one for one in bodies if f".{name}".endswith(f".{one.name}")]
        if definitions or not (thorough and self._thorough):
            return definitions
        return self.fitting(await self._writing_files(word), name)

    async def _writing_files(self, word: str) -> list[str]:
        """The files that define the word or assign to it: many names may end with it."""
        if word not in self._writing:
            files = coroutine_of(self._analysis.writing_files)
            self._writing[word] = await files(word, self.began)
        return self._writing[word]

    def fitting(self, paths: Iterable[str], name: str) -> list[Found]:
        """The symbols of some files that a dotted name means best."""
        ranked = self._ranked(paths, name)
        best = _without_constructors(ranked[min(ranked)], name) if ranked else []
        # A public name before a private one that is written alike.
        return [one for one in best if one.name.endswith(name)] or best

    async def of_that_name(self, name: str) -> tuple[list[Found], list[Found]]:
        """The symbols of a name without dots, and the members of that name where there are others.

        Prototypes and other declarations yield to what has a body or a value, and tests to code.
        """
        await self.defining(name, thorough=False)
        ranked = self._ranked(self._defining[key_of(name), ""][0], name)
        every = [_without_constructors(ranked.get(rank, []), name) for rank in (0, 1)]
        for less in (_is_named_alone, attrgetter("declares")):
            rest = [[one for one in rank if not less(one)] for rank in every]
            every = rest if any(rest) else every
        top, members = every
        outside = [one for one in members if not is_local(one.located)]
        members = sorted(outside if top else outside or members, key=_is_test)
        if all(map(_is_test, top)) and not all(map(_is_test, members)):
            return members, top
        return (top, members) if top else (members, [])

    def in_macros(self, name: str) -> str:
        """Tell of functions in macros of Rust, in files that define others: no outline has them."""
        written = re.compile(rf"[^/]*\bfn {re.escape(name)}\b")
        for path in self._defining[key_of(name), ""][0]:
            outlined = {one.line for one in self.symbols(path) if path.endswith(".rs")}
            for line, text in enumerate(self.read(path)[2] if outlined else (), 1):
                if written.match(text) and line not in outlined:
                    return f"in macros too, such as {path}:{line}"
        return ""

    def _ranked(self, paths: Iterable[str], name: str) -> dict[int, list[Found]]:
        """The symbols by how well the name means them."""
        by_rank: dict[int, list[Found]] = {}
        word = key_of(name.rpartition(".")[2]).lstrip("$")
        for path in islice(paths, _MOST_FILES):
            symbols = [one for one in self.symbols(path) if word in one.name]
            module = self._module(path) if symbols else path
            for one in symbols:
                if one.located.symbol.kind == SymbolKind.TEST and f".{name}" not in f".{one.name}":
                    continue  # `describe '#name'`
                if (rank := fit(module, one.name, name)) is not None:
                    by_rank.setdefault(rank, []).append(one)
        return by_rank

    def _module(self, path: str) -> str:
        """The path, with the name of a Go package, which may not be its folder's."""
        if language_of(path) != "go":
            return path
        clause = next(filter(None, map(_PACKAGE.match, self.read(path)[2])), None)
        return join(dirname(path), clause[1], basename(path)) if clause else path

    def symbols(self, path: str) -> list[Found]:
        """All symbols of a file; none where it can't be read."""
        return self.read(path)[1]

    def read(self, path: str) -> tuple[Sequence[str], list[Found], Sequence[str]]:
        """The imports, symbols and lines of a file; none where it can't be read."""
        if path not in self._known:
            self._known[path] = ((), [], ())
            with suppress(BackendError):
                outline = self._analysis.get_outline(path)
                lines = self._files.load(path).lines
                every = [
                    Found(path, one, name, _declares(outline.language, one, lines))
                    for name, one in distinct(flatten(outline.symbols))
                ]
                self._known[path] = (outline.imports, every, lines)
        return self._known[path]

    def has_word(self, path: str, words: Iterable[str]) -> bool:
        """Return whether a file has one of these words."""
        with suppress(BackendError):
            data = self._files.load(path).parse_data
            return any(whole_word(word.encode()).search(data) for word in words if word)
        return False

    async def types_called(self, name: str, path: str | None) -> list[Found]:
        """The types of that name, each once; with a path, those that the file knows by it."""
        if path:
            return _once(await self.resolve(path, name))
        types = await self.defining(name)
        if not any(one.is_type for one in types):
            # An alias, or a name that its package imports.
            module, _, rest = name.partition(".")
            places = [(one.path, one.name) for one in types]
            places += self._modules("src/_", module, rest) if rest else []
            types = [one for where in places for one in await self.resolve(*where)]
        return _once(one for one in types if one.is_type)

    async def member(self, owner: Found, word: str) -> Member:
        """The definitions of a member of a type: its own, or those of the first base with one."""
        order = await self.order(owner)
        for look in (self._members, self._attributes):
            missing = []
            for one in order:
                if isinstance(one, str):
                    missing.append(one)
                elif members := await look(one, word):
                    return Member(tuple(members), tuple(missing))
        types = [one for one in order if isinstance(one, Found)]
        others = [
            other.name for one in types for other in self.symbols(one.path) if _in(other, one)
        ]
        return Member((), tuple(missing), tuple(others))

    async def inherited(self, path: str, name: str) -> tuple[Inherited, ...]:
        """The bases of a file's type, nearest first, with what it has from each.

        Of members in other files than their type, as Go has them, there are none.
        """
        chain = []
        names: set[str] = set()
        for owner in [one for one in self.fitting([path], name) if one.is_type][:1]:
            for base in await self.order(owner):
                if isinstance(base, str):
                    chain.append(Inherited(base))
                    continue
                inside = [one.located.symbol for one in self.symbols(base.path) if _in(one, base)]
                new = {one.name: one for one in inside if one.name not in names}
                names |= new.keys()
                if base != owner and new:
                    chain.append(Inherited(base.name, base.path, base.line, (*new.values(),)))
        return tuple(chain)

    async def _members(self, owner: Found, word: str, *, declared: bool = False) -> list[Found]:
        every = self.symbols(owner.path)
        if language_of(owner.path) in _OPEN:
            name = f"{owner.name.rpartition('.')[2]}.{word}"
            inside = [one for one in every if _in(one, owner) and one.name.endswith(f".{word}")]
            others = [] if inside else await self.defining(name, thorough=False)
            return inside or [one for one in others if _package(one.path) == _package(owner.path)]
        return [
            one
            for one in every
            if _in(one, owner)
            and fit(owner.path, one.located.symbol.name, word) == 0
            # `name: str` alone declares what another base may define.
            and (declared or not _DECLARED.fullmatch(one.located.symbol.signature))
        ]

    async def _attributes(self, owner: Found, word: str) -> list[Found]:
        """Its declaration, or else the first assignment to `self.word` in the type."""
        if attributes := await self._members(owner, word, declared=True):
            return attributes
        name = f"{owner.name}.{word}"
        for use in await coroutine_of(self._analysis.find_references)(key_of(word), owner.path):
            inside = f"{use.enclosing}.".startswith(f"{owner.name}.")
            on_self = _ON_SELF.search(use.context[: max(use.column - 1, 0)])
            if use.kind == ReferenceKind.WRITE and inside and on_self:
                text = use.context.strip()
                symbol = SymbolInfo(word, SymbolKind.VARIABLE, use.line, use.line, text)
                return [Found(use.path, Located(symbol, name, ()), name)]
        return []

    async def order(self, start: Found) -> list[Found | str]:
        """The type and its bases as members are looked for; one that isn't found as its name."""
        by_name: dict[str, Found] = {}
        bases: dict[str, list[str]] = {}
        waiting = [start]
        while waiting and len(by_name) < _MOST_TYPES:
            one = waiting.pop(0)
            if (key := _key(one)) in by_name:
                continue
            by_name[key], bases[key] = one, []
            for name in (await self._heritage(one))[:_MOST_TYPES]:
                resolved = await self.resolve(one.path, name, one.name)
                bases[key].append(_key(resolved[0]) if resolved else name)
                waiting += resolved[:1]
        order = _linear(_key(start), bases, {})
        if language_of(start.path) == "go":
            # The shallowest wins.
            order = list(
                dict.fromkeys(
                    [*by_name, *(name for base_names in bases.values() for name in base_names)]
                )
            )
        return [by_name.get(key, key) for key in order if key.rpartition(".")[2] not in _PLAIN]

    async def _heritage(self, one: Found) -> list[str]:
        """The names of the bases, dotted, as they are written."""
        parts = [one]
        if language_of(one.path) == "rust":
            blocks = [
                block
                for path in await self._writing_files(one.located.symbol.name)
                for block in self.symbols(path)
                if block.name == one.name and _package(path) == _package(one.path)
            ]
            parts = [*(block for block in blocks if block != one), one]
        return [
            base
            for part in parts
            for of_type in self._types(part.path)
            if part.line == of_type.place.line and part.name.endswith(of_type.name)
            for base in of_type.bases
        ]

    def _types(self, path: str) -> Sequence[TypeBases]:
        if path not in self._typed:
            types = self._analysis.types_in(path)
            self._typed[path] = types.types if types else ()
        return self._typed[path]

    async def resolve(self, path: str, name: str, within: str = "", depth: int = 0) -> list[Found]:
        """The types that a name means in a file, written in the definition called `within`."""
        imports, symbols, _ = self.read(path)
        scopes = within.split(".")[:-1]
        for count in range(len(scopes), -1, -1):
            full_name = ".".join((*scopes[:count], name))
            exact = [one for one in symbols if one.name == full_name != within]
            if types := [one for one in exact if one.is_type]:
                return types
            for alias in filter(
                None, (_ALIAS.match(one.located.symbol.signature) for one in exact)
            ):
                if depth < _MOST_STEPS and alias[1] != name:
                    return await self.resolve(path, alias[1], within, depth + 1)
        language = language_of(path)
        last = name.rpartition(".")[2]
        if language == "go":
            return await self._in_go(path, name)
        imported = list(imports_of(imports, name)) if depth < _MOST_STEPS else []
        for module, rest in imported:
            for file, inner in self._modules(path, module, rest):
                if file != path and (resolved := await self.resolve(file, inner, "", depth + 1)):
                    return resolved
        for module, rest in imported:
            parts = [part for part in re.split(r"[./]", module) if part not in ROOTS]
            if language != "python":
                # A relative path leads to a file that passes it on.
                parts = [] if module.startswith(".") else parts[-1:]
            full_name = ".".join((*parts, rest.rpartition(".")[2]))
            every = await self._alike(path, rest.rpartition(".")[2])
            fitting = [one for one in every if fit(one.path, one.name, full_name) is not None]
            if resolved := _nearest(fitting, path):
                return resolved
        # The name of a crate says nothing of its folder.
        foreign = language != "rust" or any(module.startswith(_STD) for module, _ in imported)
        if language == "python" or (imported and foreign):
            return []
        return _nearest(await self._alike(path, last), path)

    async def _alike(self, path: str, name: str) -> list[Found]:
        """The types of that name in the language of a file."""
        language = language_of(path)
        definitions = await self.defining(name, thorough=not self._analysis.knows_types)
        return [
            one
            for one in definitions
            if one.is_type
            and (language_of(one.path) == language or {language, language_of(one.path)} <= SCRIPTS)
            and (language != "rust" or one.located.symbol.kind == SymbolKind.INTERFACE)
        ]

    async def _in_go(self, path: str, name: str) -> list[Found]:
        """The types of the same package, or of the one that a qualifier names."""
        qualifier, _, last = name.rpartition(".")
        text = "\n".join(self.read(path)[2])
        alias = re.search(rf'^\s*(?:import\s+)?{qualifier or "-"}\s+"(.+)"', text, re.MULTILINE)
        package = (alias[1] if alias else qualifier).rpartition("/")[2]
        return [
            one
            for one in await self._alike(path, last)
            if (
                f"/{dirname(one.path)}".endswith(f"/{package}")
                if qualifier
                else _package(one.path) == _package(path)
            )
        ]

    def _modules(self, path: str, module: str, rest: str) -> Iterator[tuple[str, str]]:
        """The files of a module, and of the modules in it that `rest` begins with."""
        if language_of(path) in SCRIPTS:
            stem = re.sub(r"\.[mc]?[jt]sx?\Z", "", normpath(join(dirname(path), module)))
            files = [stem + end for end in _SCRIPT_ENDS] if module.startswith(".") else []
            yield from ((file, rest) for file in files if self._files.exists(file))
        if not path.endswith((".py", ".pyi", "/_")):
            return
        name = module.lstrip(".")
        folders = path.split("/")[:-1]
        above = len(module) - len(name)
        starts = [folders[: len(folders) - above + 1]]
        if not above:
            every = (folders[:count] for count in range(len(folders), -1, -1))
            # A folder with a package in it is none itself.
            starts = [one for one in every if not one or not self._exists(*one, "__init__.py")]
        inner = rest.split(".")
        for start in starts:
            for count in range(len(inner)):
                parts = [*start, *filter(None, name.split(".")), *inner[:count]]
                for end in (".py", "/__init__.py", ".pyi"):
                    if parts and self._exists(*parts[:-1], parts[-1] + end):
                        yield "/".join(parts) + end, ".".join(inner[count:])

    def _exists(self, *parts: str) -> bool:
        return self._files.exists("/".join(parts))


def fit(path: str, qualified: str, name: str) -> int | None:
    """Rank a dotted name's fit to a symbol: 0 is best; None where it doesn't mean it."""
    language = language_of(path)
    # What a class itself has is called by its name, as in `class << self` and a `companion object`.
    plain = (one.replace(".self.", ".").replace(".companion.", ".") for one in (qualified, name))
    keys, parts = ([key_of(part, language) for part in one.split(".")] for one in plain)
    module = re.sub(r"(?<=.)/(?:__init__|index|mod)\Z", "", splitext(path)[0]).split("/")
    for count in range(min(len(keys), len(parts)), 0, -1):
        rest = parts[: len(parts) - count]
        if keys[-count:] != parts[-count:] or (rest and len(keys) != count):
            continue
        if not rest:
            return 0 if len(keys) == count else 1
        if module[-len(rest) :] == rest:
            return 2
        if any(module[at : at + len(rest)] == rest for at in range(len(module))):
            return 3
    return None


def modules_of(imports: Iterable[str], name: str) -> list[str]:
    """The dotted names that `name` may have outside of a file with these imports."""
    return [
        ".".join((*(part for part in re.split(r"[./]", module) if part not in ROOTS), rest))
        for module, rest in imports_of(imports, name)
    ]


def imports_of(imports: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    """The modules that `name` may come from, and its name there; those of a star come last."""
    first, _, rest = name.partition(".")
    stars: list[str] = []
    for text in imports:
        plain = re.sub(r"::\{", ": ", text).replace("::", ".").replace("\\", ".")
        module, colon, names = plain.partition(": ")
        if not colon:
            module, _, bound = plain.partition(" as ")
            package, _, original = module.rpartition(".")
            if name.startswith(f"{module}."):
                yield module, name.removeprefix(f"{module}.")
            elif first in {bound, module.partition(".")[0]} and rest:
                yield module if bound else first, rest
            elif first == (bound or original) and package:
                yield package, original
            continue
        for original, bound in re.findall(r"([\w*]+)(?:\s+as\s+(\w+))?", names):
            if original == "*" and not bound:
                stars.append(module)
            elif (bound or original) == first:
                yield module, ".".join(filter(None, (original.strip("*"), rest)))
    yield from ((module, name) for module in stars)


def _linear(key: str, bases: dict[str, list[str]], known: dict[str, list[str]]) -> list[str]:
    """Python's order of bases (C3), depth first where there is none; `known` keeps all."""
    if key in known:
        return known[key]
    known[key] = []  # So that a circle of bases ends.
    direct = [base for base in dict.fromkeys(bases.get(key, ())) if base != key]
    rows = [_linear(base, bases, known) for base in direct] + [direct]
    order = known[key] = [key]
    while rows := [row for row in rows if row]:
        heads = (row[0] for row in rows if all(row[0] not in other[1:] for other in rows))
        order.append(next(heads, rows[0][0]))
        rows = [[one for one in row if one != order[-1]] for row in rows]
    return order


def _nearest(every: Sequence[Found], path: str) -> list[Found]:
    """The type whose folder is the nearest to that of `path`; none if two are as near."""
    by_depth: dict[int, dict[str, Found]] = {}
    for one in reversed(every):
        depth = len(commonpath([f"/{one.path}", f"/{path}"]))
        by_depth.setdefault(depth, {})[_key(one)] = one
    nearest = by_depth[max(by_depth)] if by_depth else {}
    return [*nearest.values()] if len(nearest) == 1 else []


def _once(found: Iterable[Found]) -> list[Found]:
    return [*{_key(one): one for one in found}.values()]


def _declares(language: str, one: Located, lines: Sequence[str]) -> bool:
    """Return whether a symbol of C, C++ or Rust has neither a body nor a value."""
    symbol = one.symbol
    is_module = symbol.kind == SymbolKind.NAMESPACE
    if language not in {"c", "cpp", "rust"} or (language == "rust") != is_module:
        return False
    is_field = one.enclosing and symbol.kind == SymbolKind.VARIABLE
    text = " ".join(lines[symbol.line - 1 : symbol.line_end])
    return not is_field and DECLARES.fullmatch(text) is not None


def _without_constructors(symbols: list[Found], name: str) -> list[Found]:
    """Of symbols that a name means: constructors yield to their types, but for `~`."""
    rest = [one for one in symbols if not one.is_constructor] if "~" not in name else symbols
    return rest or symbols


def _is_named_alone(one: Found) -> bool:
    """Return whether it is the title of a test, or a re-export by the same name."""
    symbol = one.located.symbol
    renames = " as " in symbol.signature
    return symbol.kind == SymbolKind.TEST or (symbol.kind == SymbolKind.EXPORT and not renames)


def _is_test(one: Found) -> bool:
    return is_test_path(one.path) or one.located.symbol.kind == SymbolKind.TEST


def _in(one: Found, owner: Found) -> bool:
    return one.name.rpartition(".")[0] == owner.name


def _key(one: Found) -> str:
    """A type's name with its file: in several parts, it is the same type."""
    return f"{one.path}\0{one.name}"


def _package(path: str) -> str:
    """The folder that the parts of a type are in: Go's package, Rust's crate, else any."""
    language = language_of(path)
    crate = path.partition("/src/")[0] if language == "rust" else ""
    return f"{language} {dirname(path) if language == 'go' else crate}"
