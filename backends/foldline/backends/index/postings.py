"""The documents of a workspace, which postings refer to; open buffers have some of their own."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.index.segments import lengths, postings_of
from foldline.backends.index.words import document_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from foldline.backends.index.segments import DocumentRow, Postings

# The segment of what isn't in the index.
_LIVE = -1
_NO_FILE = -1


@dataclass(frozen=True, slots=True)
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
        assert isinstance(path, str)
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
    postings: Mapping[str, list[Postings]],
    terms: Collection[str],
    texts: Mapping[str, bytes],
) -> tuple[Corpus, dict[str, list[Postings]]]:
    """The corpus and the postings of `terms` with these texts instead of those of their paths."""
    live = LiveIndex(texts)
    own, live_postings = live.look_up(terms)
    merged = {
        term: [*postings.get(term, ()), *live_postings.get(term, ())]
        for term in terms
        if term in postings or term in live_postings
    }
    replaced = {number for number, path in enumerate(corpus.paths) if path in texts}
    segments: dict[int, Sequence[int]] = {
        segment: [_NO_FILE if number in replaced else number for number in numbers]
        for segment, numbers in corpus.segments.items()
    }
    first = len(corpus.paths)
    segments[_LIVE] = range(first, first + len(own.paths))
    return Corpus(
        [*corpus.paths, *own.paths],
        [*corpus.lengths, *own.lengths],
        [*corpus.defined, *own.defined],
        segments,
    ), merged


class LiveIndex:
    """The documents of some texts, for a workspace without an index."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        documents = [document_of(path, data) for path, data in texts.items()]
        sizes = [lengths(document) for document in documents]
        self._postings = postings_of(documents, _LIVE)
        self._corpus = Corpus(
            [*texts],
            [length for length, _ in sizes],
            [names for _, names in sizes],
            {_LIVE: range(len(documents))},
        )

    def look_up(self, terms: Collection[str]) -> tuple[Corpus, dict[str, list[Postings]]]:
        """The files with their lengths, and the postings of `terms`."""
        return self._corpus, {
            term: self._postings[term] for term in terms if term in self._postings
        }

    def vocabulary(self) -> list[str]:
        """All terms, a line each."""
        return ["\n".join(self._postings)]
