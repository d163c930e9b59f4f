"""The documents of a workspace, which postings refer to; open buffers have some of their own."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from foldline.backends.index.segments import (
    FEW_TERMS,
    Building,
    DocumentRow,
    Postings,
    Spelling,
    Terms,
    derived,
    postings,
)
from foldline.backends.index.words import words_of
from foldline.backends.models import COMPLETE
from foldline.records import record

# The segment of what isn't in the index.
_LIVE = -1
_NO_FILE = -1


@record
class Corpus:
    """The files by number, with the lengths of their documents and of the names they define.

    `segments` has for each slot of a segment the number of its file, -1 where it is outdated.
    """

    paths: Sequence[str]
    lengths: Sequence[int]
    defined: Sequence[int]
    segments: Mapping[int, Sequence[int]]

    def numbers(self, segment: int, slots: Sequence[int]) -> Sequence[int]:
        """The numbers of a segment's files, by slot, as far as the largest of `slots`."""
        numbers = self.segments.get(segment, ())
        missing = max(slots, default=-1) + 1 - len(numbers)
        return [*numbers, *[_NO_FILE] * missing] if missing > 0 else numbers

    def has(self, postings: Iterable[Postings]) -> bool:
        """Return whether one of these is of a file as it is now."""
        return any(
            numbers[slot] >= 0
            for segment, slots, *_ in postings
            for numbers in [self.numbers(segment, slots)]
            for slot in slots
        )


def corpus_of(rows: Iterable[DocumentRow]) -> Corpus:
    """The corpus of the documents that an index has."""
    paths: list[str] = []
    sizes, defined = array("l"), array("l")
    segments: dict[int, array[int]] = {}
    for number, (path, segment, slot, length, names) in enumerate(rows):
        paths.append(path)
        sizes.append(length)
        defined.append(names)
        slots = segments.setdefault(segment, array("l"))
        if slot >= len(slots):
            slots.extend([_NO_FILE] * (slot + 1 - len(slots)))
        slots[slot] = number
    return Corpus(paths, sizes, defined, segments)


def with_buffers(
    corpus: Corpus,
    by_term: Mapping[str, list[Postings]],
    terms: Collection[str],
    texts: Mapping[str, bytes],
) -> tuple[Corpus, dict[str, list[Postings]]]:
    """The corpus and the postings of `terms` with these texts instead of those of their paths."""
    live = LiveIndex(texts)
    live_corpus, live_postings, _ = live.look_up(terms)
    merged = {
        term: [*by_term.get(term, ()), *live_postings.get(term, ())]
        for term in terms
        if term in by_term or term in live_postings
    }
    replaced = {number for number, path in enumerate(corpus.paths) if path in texts}
    segments: dict[int, Sequence[int]] = {
        segment: [_NO_FILE if number in replaced else number for number in numbers]
        for segment, numbers in corpus.segments.items()
    }
    first = len(corpus.paths)
    segments[_LIVE] = range(first, first + len(live_corpus.paths))
    return Corpus(
        [*corpus.paths, *live_corpus.paths],
        [*corpus.lengths, *live_corpus.lengths],
        [*corpus.defined, *live_corpus.defined],
        segments,
    ), merged


class LiveIndex:
    """The documents of some texts, for a workspace without an index."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        building = Building()
        for path, data in texts.items():
            building.add(words_of(path, data))
        self._segment = building.segment()
        lengths, defined = self._segment[-2:]
        self._corpus = Corpus([*texts], lengths, defined, {_LIVE: range(len(texts))})

    @cached_property
    def _terms(self) -> Terms:
        return derived(self._segment)

    def look_up(
        self, terms: Collection[str], **_: object
    ) -> tuple[Corpus, dict[str, list[Postings]], str]:
        """The files with their lengths, the postings of `terms`, and that these are all."""
        spelling = self._terms if len(terms) > FEW_TERMS else Spelling(self._segment)
        every = ((term, postings(_LIVE, self._segment, spelling, term)) for term in terms)
        by_term = {term: [places] for term, places in every if places is not None}
        return self._corpus, by_term, COMPLETE

    def last_defined(self) -> Iterator[str]:
        """The names that the texts define."""
        names = self._segment.names(range(len(self._corpus.paths)))
        return (name.decode("utf-8", "replace") for name in names)

    def vocabulary(self, parts: Collection[str]) -> list[str]:
        """All terms, a line each, with one of the parts or without."""
        del parts
        return ["\n".join(self._terms.terms)]
