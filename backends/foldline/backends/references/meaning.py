"""The definitions that a name means to its reader: inherited members, other spellings and cases."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends import errors
from foldline.backends.base.languages import UNKNOWN, language_of
from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.formatting.text import first_of, plural, sentences
from foldline.backends.models import COMPLETE, ReferenceKind
from foldline.backends.outlines.locations import Position
from foldline.backends.outlines.outlines import PARSED_WITH_ERRORS
from foldline.backends.outlines.symbols import INDEXED, first_column
from foldline.backends.references.bindings import renamed_in
from foldline.backends.references.hierarchy import Hierarchy
from foldline.backends.references.spelling import (
    Written,
    is_name,
    key_of,
    spelled,
    unmarked,
    written_place,
)

if TYPE_CHECKING:
    from foldline.backends.files.base import FileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.models import SymbolDetail
    from foldline.backends.outlines.analysis import Analysis
    from foldline.backends.references.hierarchy import Found

# `R#method`, `struct s`.
_FORM = re.compile(r"\A(struct|union|enum|class)\s|\w#")
_STATIC = re.compile(r"\bdef self\.|\bstatic\b")
_MOST_OWNERS = 24
_LONGEST = 2_000
_MOST_NEAR = 3
_MOST_MEMBERS = 5


class Meaning(NamedTuple):
    """The definitions of a name; `said` is the line that goes first where they aren't its own.

    Without any, `said` tells why, and `near` has other names; `used` says where the name is used,
    and `left_out` which files aren't looked at. `gap` is why some may be missing. `members` of the
    same name come after what no type has.
    """

    name: str
    found: tuple[Found, ...] = ()
    said: str = ""
    near: tuple[str, ...] = ()
    gap: str = ""
    members: tuple[Found, ...] = ()
    used: str = ""
    left_out: str = ""

    def one(self) -> Found:
        """The only definition, or the first part of it.

        Raises:
            SymbolNotFoundError: There is none; it has near names.
            AmbiguousSymbolError: There are several, with their places and signatures.
        """
        if not self.found:
            raise errors.SymbolNotFoundError(
                "", self.name, self.near, self.gap, used=self.used, left_out=self.left_out
            )
        definitions = tuple(one for one in self.found if not one.declares) or self.found
        if len({(one.path, one.name) for one in definitions}) > 1:
            definitions += self.members
            places = (f"{one.path}:{one.line} {one.readable}" for one in definitions)
            signatures = (one.located.symbol.signature for one in definitions)
            every = [": ".join(pair) for pair in zip(places, signatures, strict=True)]
            note = self.said if re.search(" taken for |^in macros", self.said) else ""
            raise errors.AmbiguousSymbolError("", self.name, every, self.gap, note)
        return definitions[0]

    def told(self) -> str:
        """The text about the first definition, with the lines of others of its name."""
        first = self.one()
        others = {
            f"{one.line}": one
            for one in self.found
            if (one.path, one.name) == (first.path, first.name) and not one.declares
        }
        others.pop(f"{first.line}", None)
        also = f"also on {plural('line', len(others))} {first_of(others, _MOST_MEMBERS)}"
        return sentences(self.said, also if others else "")

    def shown(self, detail: SymbolDetail) -> SymbolDetail:
        """A definition with what is said of it; where others may be missing, as its coverage."""
        if self.gap:
            return replace(detail, coverage=f"partial: {self.said}")
        return replace(detail, notes=(self.said, *detail.notes)) if self.said else detail


class Names:
    """The meanings of names in one workspace, for one query; `thorough` as in `Hierarchy`."""

    def __init__(
        self,
        files: FileBackend,
        analysis: Analysis,
        index: WorkspaceIndex | None,
        *,
        thorough: bool = True,
    ) -> None:
        self._files = files
        self._index = index
        self._analysis = analysis
        self._uses_of = coroutine_of(analysis.find_references)
        self.types = Hierarchy(files, analysis, thorough=thorough)

    async def meaning(self, text: str, path: str | None = None) -> Meaning:
        """The definitions of a name; with a path, of one that this file defines or imports.

        A name in another case is taken where only one definition can be meant.
        """
        self.check(text)
        symbols = self.types.symbols(path) if path else []
        if written := [one for one in symbols if text.strip() in {one.name, one.readable}]:
            return Meaning(text, tuple(written))
        indexed = INDEXED.match(name := spelled(text))
        name = indexed[1] if indexed else name
        meant = await self._exactly(name, path)
        if not meant.found and (plain := unmarked(name)) != name:
            meant = await self._exactly(plain, path)
            if macros := tuple(one for one in meant.found if one.is_macro and name[-1] == "!"):
                meant = meant._replace(found=macros)
            elif meant.found:
                meant = meant._replace(said=sentences(f"{name} taken for {plain}", meant.said))
        if not meant.found:
            meant = await self.in_another_case(name, path) or meant._replace(name=text)
        if not (path or meant.said or "." in name):
            meant = await self._of_that_name(meant, name)
        if meant.found and (form := _FORM.search(text.strip())):
            symbols = [
                one
                for one in meant.found
                if (one.is_type if form[1] else not _STATIC.search(one.located.symbol.signature))
            ]
            note = meant.said if symbols else f"{name} is no {form[1] or 'method of an instance'}"
            meant = meant._replace(found=tuple(symbols) or meant.found, said=note)
        if indexed:
            meant = meant._replace(found=meant.found[int(indexed[2]) - 1 :][:1])
        return self._so_far(meant)

    async def _of_that_name(self, meant: Meaning, name: str) -> Meaning:
        """The definitions of a name without dots, and what is said of others; else its uses."""
        if not meant.found:
            if not is_name(name):
                return meant
            uses = await self._uses_of(name, since=self.types.began)
            for use, original in renamed_in(uses, name):
                if definitions := self.types.fitting([use.path], original):
                    note = f"{name} is {original}, {use.path} {definitions[0].line}"
                    return meant._replace(found=tuple(definitions), said=note)
            first = next((use for use in uses if use.kind == ReferenceKind.WRITE), None)
            used = [f"{use.path}:{use.line}" for use in (first, *uses) if use][:1]
            count = f"{uses.total} {plural('use', uses.total)}"
            return meant._replace(used=f"it has {count}, such as {used[0]}" if used else "")
        definitions, members = await self.types.of_that_name(name)
        if not definitions:
            return meant
        # A definition in several parts is listed once.
        places = {(one.path, one.name): one.line for one in reversed(members)}
        named = [f"{name}, {path} {line}" for (path, name), line in reversed(places.items())]
        more = f" and {len(named) - _MOST_MEMBERS} more" if len(named) > _MOST_MEMBERS else ""
        note = f"also {'; '.join(named[:_MOST_MEMBERS])}{more}" if named else ""
        note = sentences(self.types.in_macros(name), note)
        return meant._replace(found=tuple(definitions), members=tuple(members), said=note)

    def _so_far(self, meant: Meaning) -> Meaning:
        """The same; where files aren't known yet that may define the name, it says so."""
        if self.types.coverage == COMPLETE:
            return meant
        gap = self.types.coverage.removeprefix("partial: ")
        note = meant.said and f"so far, {meant.said}"
        if meant.found:
            note = sentences(meant.said, "other definitions may be missing")
        return meant._replace(said=note and f"{gap}: {note}", gap=gap)

    def check(self, name: str) -> None:
        """Refuse a name that is longer than any.

        Raises:
            InvalidArgumentError: It is.
        """
        if len(name) > _LONGEST:
            raise errors.InvalidArgumentError("name", f"is longer than {_LONGEST:,} characters")

    def place(self, text: str) -> Written | None:
        """The parts of a place such as `cart.py:12` or `cart.py:Cart.total`; None for a name."""
        written = written_place(text)
        path = written.path if written else text
        looks_so = "/" in path or language_of(path) != UNKNOWN
        if written is None:
            return Written(text, "") if looks_so and self._files.exists(text) else None
        return written if looks_so or self._files.exists(path) else None

    def around(self, path: str, line: int, name: str) -> Meaning:
        """The innermost definition around a line; `name` is what it was called."""
        every = [(one.located.symbol, one) for one in self.types.symbols(path)]
        around = [one for symbol, one in every if symbol.line <= line <= symbol.line_end]
        near = [one.readable for symbol, one in every if symbol.line > line][:1]
        return Meaning(name, tuple(around[-1:]), "", tuple(near))

    def position(self, found: Found, said: str = "") -> Position:
        """The position of a definition's name."""
        name, line = found.located.symbol.name, found.line
        lines = self._files.read_source(found.path).lines
        # `T.m` of a type that stands elsewhere is written `T::m`, or `(t *T) m`.
        owner, _, last = name.replace(".", "::").rpartition("::")
        for written in (f"{owner}::{last}", name) if owner else ():
            if column := first_column(lines, line, written):
                return Position(found.path, line, column + len(written) - len(last), last, said)
        columns = (first_column(lines, line, one) for one in (last, key_of(last)))
        return Position(found.path, line, next(filter(None, columns), 1), last, said)

    async def _exactly(self, name: str, path: str | None) -> Meaning:
        types = self.types
        owner, _, word = name.rpartition(".")
        if path:
            definitions = types.fitting([path], name)
        else:
            definitions = await types.defining(name, thorough=not owner)
        if definitions or not owner:
            return Meaning(name, tuple(definitions), near=() if definitions else self.near(word))
        owners = (await types.types_called(owner, path))[:_MOST_OWNERS]
        members = [await types.member(one, word) for one in owners]
        every = {(one.path, one.line): one for member in members for one in member.found}
        missing = dict.fromkeys(base for member in members for base in member.missing)
        bases = first_of(missing, _MOST_NEAR)
        if every:
            # The parts of a property are one definition.
            places = {(one.path, one.name): one for one in reversed(every.values())}
            note = "; ".join(f"{one.name}, {one.path} {one.line}" for one in places.values())
            unless = f" (unless {bases} has it, which can't be followed)" if missing else ""
            own_places = {(one.path, f"{one.name}.{word}") for one in owners}
            note = "" if places.keys() <= own_places else f"{name} is {note}{unless}"
            return Meaning(name, tuple(every.values()), note)
        # JavaScript's methods may be written out.
        written = f"{owner}.prototype.{word}"
        for one in (name, written):
            if not path and (definitions := await types.defining(one)):
                return Meaning(one, tuple(definitions), f"{name} is {one}" if one != name else "")
        # A class that doesn't parse may end early, with its members behind it.
        behind = [
            one
            for owner in owners
            for one in (types.fitting([owner.path], word) if self.is_broken(owner.path) else ())
            if owner.line < one.line and owner.name.startswith(one.name.removesuffix(word))
        ]
        if behind:
            remark = f"{name} taken for {behind[0].name}: {behind[0].path} parses with errors"
            return Meaning(name, tuple(dict.fromkeys(behind)), remark)
        others = {one.rpartition(".")[2]: one for member in members for one in member.others}
        near = tuple(others[one] for one in near_names(word, others))
        if not near:
            alike = dict.fromkeys(one.name for one in await types.defining(word))
            near = tuple(alike)[:_MOST_NEAR]
        why = f" (bases that can't be followed from here: {bases})" if missing else ""
        note = f"nothing defines {name}{why}{did_you_mean(near).rstrip('?')}"
        return Meaning(name, (), f"{note}; places that have the name {word!r}:", near)

    def is_broken(self, path: str) -> bool:
        """Return whether the outline of a file says that it doesn't parse."""
        with suppress(errors.BackendError):
            return PARSED_WITH_ERRORS in self._analysis.get_outline(path).reason
        return False

    async def unparsed(self, name: str) -> list[str]:
        """Tell which file has a name, though in no definition, and doesn't parse."""
        owner, _, word = spelled(name).rpartition(".")
        uses = await self._uses_of(word) if is_name(word) else ()
        owners = {one.path for one in await self.types.types_called(owner, None)}
        paths = list(filter(self.is_broken, dict.fromkeys(use.path for use in uses)))
        paths.sort(key=lambda path: path not in owners)
        more = f" and {len(paths) - 1} more files" if len(paths) > 1 else ""
        return [f"what doesn't parse in {paths[0]}{more} (ask grep)"] if paths else []

    async def in_another_case(self, name: str, path: str | None = None) -> Meaning | None:
        """The only definition whose name differs in case alone, unless the file has the name."""
        if path and self.types.has_word(path, [name]):
            return None
        above, _, word = name.rpartition(".")
        above, _, owner = above.rpartition(".")
        by_place: dict[tuple[str, str], Meaning] = {}
        for parts in product(self._cased(owner), self._cased(word)):
            written = ".".join(filter(None, (above, *parts)))
            meant = Meaning(name) if written == name else await self._exactly(written, path)
            by_place |= {(one.path, one.name): meant for one in meant.found}
        if len(by_place) != 1:
            return None
        ((where, full_name), meant), *_ = by_place.items()
        return meant._replace(said=f"{name} taken for {full_name}, {where} {meant.found[0].line}")

    def _cased(self, word: str) -> list[str]:
        return list(dict.fromkeys([word, *self._by_folded.get(word.casefold(), ())]))

    @cached_property
    def _by_folded(self) -> dict[str, list[str]]:
        """The names that the index knows as defined, by what is alike of them in any case."""
        by_spelling: dict[str, list[str]] = {"": []}
        for name in self._index.last_defined() if self._index is not None else ():
            by_spelling.setdefault(name.casefold(), []).append(name)
        return by_spelling

    def near(self, word: str) -> tuple[str, ...]:
        return near_names(word, self._index.last_defined()) if self._index is not None else ()
