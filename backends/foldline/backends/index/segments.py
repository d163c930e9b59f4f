"""The words of files, in segments that are written once and merged when they get many.

A segment has for each word the files that hold it. The terms of its words are derived when a search
first asks for them, once for each word, and expanded to files in answers. A file that changes gets
a place in a new segment; what older segments say of it is skipped, and left out when they are
merged. So one file costs its own words.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate, chain
from types import MappingProxyType
from typing import TYPE_CHECKING, AnyStr, NamedTuple, TypeAlias

from foldline.backends.index.terms import read_terms, terms_of

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Mapping, Sequence

    from foldline.backends.index.words import Words

# Before a name that a file defines, as it is written: no word has it.
EXACT = "="
_EXACT = EXACT.encode()
_LINE = b"\n"
# A place is a slot and a count in four bytes.
COUNT_BITS = 8
FEW_TERMS = 40
"""So many are found among the words; for more, the terms of all words are derived, and kept."""
_MOST_COUNT = (1 << COUNT_BITS) - 1


# A path, its segment and slot, how many words the file has, and how many names it defines.
DocumentRow: TypeAlias = tuple[str, int, int, int, int]


class Postings(NamedTuple):
    """A segment's files with a term: ascending slots, and how often they have and define it."""

    segment: int
    slots: Sequence[int]
    counts: Sequence[int]
    defined: Sequence[int]


class Segment(NamedTuple):
    """Some files by slot: the words in them, then the names that they define, are `keys`.

    Each key is between newlines, so that it's found by its bytes; the first name is the one with
    the number `words`. The places of a key end at its number in `ends`. `lengths` has for each slot
    how many words the file has, `defined` how many names it defines.
    """

    words: int
    keys: bytes
    ends: array[int]
    places: array[int]
    lengths: array[int]
    defined: array[int]

    def slots(self, part: str) -> set[int]:
        """The slots of the files with a key that holds the part; newlines around it make it one."""
        wanted = part.encode("utf-8", "replace")
        numbers = lines_with(self.keys, wanted, _LINE)
        return {posting >> COUNT_BITS for number in numbers for posting in self.places_of(number)}

    def names(self, slots: Collection[int]) -> Iterator[bytes]:
        """The names that the files with these slots define."""
        is_whole = len(slots) == len(self.lengths)
        for number, key in enumerate(self.split()[self.words :], self.words):
            if is_whole or any(
                posting >> COUNT_BITS in slots for posting in self.places_of(number)
            ):
                yield key.removeprefix(_EXACT)

    def places_of(self, number: int) -> array[int]:
        """The places of a key."""
        return self.places[self.ends[number - 1] if number else 0 : self.ends[number]]

    def subset(self, slots: Sequence[int]) -> Segment:
        """The files with these slots as a segment of their own, in this order."""
        building = Building()
        building.merge(self, slots)
        return building.segment()

    def split(self) -> list[bytes]:
        """The keys in the order of their numbers."""
        return self.keys[1:-1].split(_LINE) if self.ends else []


def lines_with(text: AnyStr, part: AnyStr, line: AnyStr) -> Iterator[int]:
    """The numbers of the lines of `text` that hold the part, which isn't empty.

    `text` begins with a line's end.
    """
    # To look for what begins with a line's end takes three times as long: there are so many.
    inner = part.removeprefix(line)
    number, counted, at = -1, 0, text.find(inner)
    while at >= 0:
        if text.endswith(part, 0, at + len(inner)):
            number += text.count(line, counted, at)
            counted = at
            yield number
            if part[:1] == part[-1:] == line:
                return  # A whole line, of which there is one.
            # One part a line is enough.
            at = text.find(line, at + 1) - 1
        at = text.find(inner, at + 1)


class Building:
    """A segment while files are added to it."""

    def __init__(self) -> None:
        self._lengths = array("I"), array("I")
        self._used: defaultdict[bytes, list[int]] = defaultdict(list)
        self._defined: defaultdict[bytes, list[int]] = defaultdict(list)

    def add(self, document: Words) -> None:
        """Add a file, whose slot is its place in the order."""
        first = len(self._lengths[0]) << COUNT_BITS
        result = self._used, self._defined
        for places, lengths, words in zip(result, self._lengths, document, strict=True):
            lengths.append(sum(words.values()))
            for word, count in words.items():
                places[word].append(first | (count if count < _MOST_COUNT else _MOST_COUNT))

    def merge(self, segment: Segment, kept: Sequence[int]) -> int:
        """Add the files of a segment with these slots; returns the first of their new ones."""
        first = len(self._lengths[0])
        for lengths, old in zip(self._lengths, segment[-2:], strict=True):
            lengths.extend(old[slot] for slot in kept)
        slots = {slot: new for new, slot in enumerate(kept, first)}
        for number, key in enumerate(segment.split()):
            places = [
                slots[posting >> COUNT_BITS] << COUNT_BITS | posting & _MOST_COUNT
                for posting in segment.places_of(number)
                if posting >> COUNT_BITS in slots
            ]
            if places and number < segment.words:
                self._used[key] += places
            elif places:
                self._defined[key.removeprefix(_EXACT)] += places
        return first

    def segment(self) -> Segment:
        """Return all that was added as one segment."""
        rows = [*self._used.values(), *self._defined.values()]
        keys = chain(self._used, map(_EXACT.__add__, self._defined))
        return Segment(
            len(self._used),
            _LINE + _LINE.join(keys) + _LINE,
            array("I", accumulate(map(len, rows))),
            array("I", chain.from_iterable(rows)),
            *self._lengths,
        )


class Part(NamedTuple):
    """The words of some contents: their keys by slot."""

    is_text: bool
    keys: list[bytes]
    words: Segment

    def subset(self, slots: Sequence[int]) -> Part:
        """The contents with these slots."""
        return Part(self.is_text, [self.keys[slot] for slot in slots], self.words.subset(slots))


class Spelling:
    """Finds the keys of some terms without deriving those of all."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._keys = segment.split()
        self._text = segment.keys.decode("utf-8", "replace").casefold().replace("_", "")

    def find(self, term: str) -> list[int]:
        """The numbers of the keys with this term, for each time that they have it."""
        if term.startswith(EXACT):
            exact = f"\n{term}\n".encode("utf-8", "replace")
            return [*lines_with(self._segment.keys, exact, _LINE)]
        matching: list[int] = []
        # A word begins with its stem, but `query` is that of `queries`.
        part = term.removesuffix("y")
        numbers = lines_with(self._text, part, "\n") if part else range(len(self._keys))
        for number in numbers:
            # Before a name stands EXACT.
            key = self._keys[number][number >= self._segment.words :].decode("utf-8", "replace")
            matching += [number] * terms_of(key).count(term) if len(key) > 1 else ()
        return matching


class Terms(NamedTuple):
    """The terms of a segment's keys, sorted; and the names that its files define, as written.

    The numbers of a term's keys end at its number in `ends`.
    """

    terms: Sequence[str]
    ends: array[int]
    keys: array[int]

    def find(self, term: str) -> array[int]:
        """The numbers of the keys with this term, for each time that they have it."""
        at = bisect_left(self.terms, term)
        if at == len(self.terms) or self.terms[at] != term:
            return array("I")
        return self.keys[self.ends[at - 1] if at else 0 : self.ends[at]]

    def like(self, parts: Sequence[str], segment: Segment, slots: Container[int]) -> Iterator[str]:
        """The terms with one of the parts in them that the files with these slots have."""
        for term in self.terms:
            if any(part in term for part in parts) and any(
                posting >> COUNT_BITS in slots
                for key in self.find(term)
                for posting in segment.places_of(key)
            ):
                yield term


def derived(segment: Segment) -> Terms:
    """Derive the terms of a segment, those of each word once."""
    by_term: defaultdict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(segment.split()):
        key = word.decode("utf-8", "replace")
        if is_name := number >= segment.words:
            by_term[key].append(number)
        # Nothing is kept of words for the next segment: there are too many.
        for term in read_terms(key[is_name:]) if len(key) > 1 + is_name else ():
            by_term[term].append(number)
    order = sorted(by_term)
    return Terms(
        order,
        array("I", accumulate(map(len, map(by_term.__getitem__, order)))),
        array("I", chain.from_iterable(map(by_term.__getitem__, order))),
    )


def numbers_of(data: bytes) -> array[int]:
    """The numbers of an array's bytes."""
    numbers = array("I")
    numbers.frombytes(data)
    return numbers


def postings(
    number: int,
    segment: Segment,
    terms: Terms | Spelling,
    wanted: str,
    copies: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> Postings | None:
    """The files of the segment called `number` with a term.

    `copies` has more slots, behind those of the segment, for what several files have.
    """
    counts: dict[int, int] = {}
    names: dict[int, int] = {}
    for key in terms.find(wanted):
        sums = counts if key < segment.words else names
        for posting in segment.places_of(key):
            slot = posting >> COUNT_BITS
            sums[slot] = sums.get(slot, 0) + (posting & _MOST_COUNT)
    for column in (counts, names) if copies else ():
        for slot in column.keys() & copies.keys():
            column.update(dict.fromkeys(copies[slot], column[slot]))
    slots = sorted(counts.keys() | names.keys())
    if not slots:
        return None
    return Postings(
        number,
        slots,
        [counts.get(slot, 0) for slot in slots],
        [names.get(slot, 0) for slot in slots],
    )
