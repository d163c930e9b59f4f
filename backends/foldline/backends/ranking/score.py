"""The score of each file for a question: BM25F over its path, the names it defines, and its words.

A term that a file has in several fields saturates once, over their weighted sum. What a question
names itself, a symbol that few files define or a path, adds to that.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.index.segments import EXACT
from foldline.backends.index.terms import terms_of
from foldline.backends.ranking.paths import facts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from foldline.backends.index.postings import Corpus
    from foldline.backends.index.segments import Postings
    from foldline.backends.ranking.question import Question
    from foldline.backends.ranking.weights import Weights

# A symbol that more files define says little about which of them is meant.
_MOST_DEFINING = 3
_IN_TITLE = 1.5
_PATH_PART = 0.6
# More of them don't make a file more certain.
_MOST_BONUS = 1.0
# A term that is nearly everywhere says nothing, and takes longest.
_EVERYWHERE = 0.8
_MANY_FILES = 200


class Part(NamedTuple):
    """One signal's share of a file's score, and the words of the question that it's about."""

    kind: str
    words: tuple[str, ...]
    score: float


class Scores:
    """The scores of the files in the workspace, by number."""

    def __init__(
        self,
        question: Question,
        corpus: Corpus,
        postings: Mapping[str, list[Postings]],
        paths: Sequence[str],
        weights: Weights,
    ) -> None:
        """Score the files of `corpus`, with those of `paths` that it lacks after them."""
        self.question = question
        self._corpus = corpus
        self._postings = postings
        self._weights = weights
        known_paths = {*corpus.paths}
        self.paths = (*corpus.paths, *(path for path in paths if path not in known_paths))
        self.facts = facts_of(self.paths)
        self._body_factor = _factors(
            corpus.lengths, weights.body_length, weights.body, len(self.paths)
        )
        self._defined_factor = _factors(
            corpus.defined, weights.defined_length, weights.defined, len(self.paths)
        )
        self._path_factor = _factors(
            self.facts.lengths, weights.path_length, weights.path, len(self.paths)
        )
        self.idf: dict[str, float] = {}
        self.values = [0.0] * len(self.paths)
        for term in question.terms:
            self._add(term)
        if not question.about_tests:
            for number, value in enumerate(self.values):
                if value and self.facts.minor[number]:
                    self.values[number] = value * weights.discount
        self.best = max(self.values, default=0.0)
        self.bonuses = self._bonuses()
        for number, parts in self.bonuses.items():
            self.values[number] += sum(part.score for part in parts)
        # Gone since they were indexed, or not in the part of the workspace that is searched.
        listed = {*paths}
        for number, path in enumerate(corpus.paths):
            if path not in listed:
                self.values[number] = 0.0

    def length(self, number: int) -> int:
        """The number of terms of a file, 0 where it isn't indexed."""
        return self._corpus.lengths[number] if number < len(self._corpus.lengths) else 0

    def defined(self, number: int) -> int:
        """The number of terms of the names that a file defines."""
        return self._corpus.defined[number] if number < len(self._corpus.defined) else 0

    def order(self) -> list[int]:
        """The files that match, best first; of equal ones, those with shorter paths."""
        values, paths = self.values, self.paths
        numbers = [number for number, value in enumerate(values) if value > 0]
        numbers.sort(key=values.__getitem__, reverse=True)
        order: list[int] = []
        # Few are equal, and a key with the paths would make the sort several times slower.
        for _, group in groupby(numbers, key=values.__getitem__):
            equal = list(group)
            if len(equal) > 1:
                equal.sort(key=lambda number: (len(paths[number]), paths[number]))
            order += equal
        return order

    def _add(self, term: str) -> None:
        """Add what a term is worth to the files that have it."""
        weights, values = self._weights, self.values
        amounts = self._amounts(term)
        if not amounts:
            return
        files = max(len(self.paths), 1)
        if len(amounts) > _EVERYWHERE * files and files > _MANY_FILES:
            return
        idf = math.log(1 + (files - len(amounts) + 0.5) / (len(amounts) + 0.5))
        self.idf[term] = idf
        factor = self.question.terms[term] * idf * (weights.saturation + 1)
        saturation = weights.saturation
        for number, amount in amounts.items():
            values[number] += factor * amount / (saturation + amount)

    def _amounts(self, term: str) -> dict[int, float]:
        """The amount of a term in each file, over all fields."""
        body, names, in_path = self._body_factor, self._defined_factor, self._path_factor
        amounts: dict[int, float] = {}
        for segment, slots, counts, defined in self._postings.get(term, ()):
            numbers = self._corpus.numbers(segment, slots)
            for slot, count, names_count in zip(slots, counts, defined, strict=True):
                number = numbers[slot]
                if number >= 0:
                    amount = count * body[number]
                    if names_count:
                        amount += names_count * names[number]
                    if amount:
                        amounts[number] = amount
        for number in self.facts.with_term(term):
            if weight := in_path[number]:
                amounts[number] = amounts.get(number, 0.0) + weight
        return amounts

    def _bonuses(self) -> dict[int, list[Part]]:
        """Scores for files that the question names by their symbols or paths."""
        best = self.best or 1.0
        bonuses: dict[int, list[Part]] = defaultdict(list)
        for number, part in (*self._symbols(best), *self._places(best), *self._parts_of(best)):
            bonuses[number].append(part)
        for number, parts in bonuses.items():
            total = sum(part.score for part in parts)
            if total > _MOST_BONUS * best and not self.question.is_short:
                cut = _MOST_BONUS * best / total
                bonuses[number] = [part._replace(score=part.score * cut) for part in parts]
        return bonuses

    def _symbols(self, best: float) -> Iterator[tuple[int, Part]]:
        """Of the names of the question, those that files define exactly so.

        In a long question, it takes a name that few files define. Of keywords each counts by how
        rare it is, so that the exact symbol comes first.
        """
        question, weight = self.question, self._weights.symbol
        if not weight:
            return
        rarity = {name: self._rarity(name) for name in question.names}
        total = sum(rarity.values()) or 1.0
        for name in question.names:
            defining = self._defining(name)
            major = [number for number in defining if not self.facts.minor[number]]
            if question.is_short:
                for number in defining:
                    score = best * rarity[name] / total
                    if number not in major and not question.about_tests:
                        score *= self._weights.discount
                    yield number, Part("defines", (name,), score)
            elif 0 < len(major) <= _MOST_DEFINING:
                score = weight * best / math.sqrt(len(major))
                score *= _IN_TITLE if name in question.in_title else 1
                for number in major:
                    yield number, Part("defines", (name,), score)

    def _rarity(self, name: str) -> float:
        terms = terms_of(name)
        return self.idf.get(terms[0], 1.0) if terms else 1.0

    def _defining(self, name: str) -> list[int]:
        defining: list[int] = []
        for segment, slots, _, _ in self._postings.get(EXACT + name, ()):
            numbers = self._corpus.numbers(segment, slots)
            defining += [numbers[slot] for slot in slots if numbers[slot] >= 0]
        return defining

    def _places(self, best: float) -> Iterator[tuple[int, Part]]:
        """The files that the question names by path, or by a dotted name."""
        question, weight = self.question, self._weights.place
        if not weight:
            return
        if question.is_short:
            weight = 1.0
        strongest: dict[tuple[int, bool], Part] = {}
        for written, places in (
            (True, question.paths),
            (False, question.dotted - question.paths),
        ):
            for posting in places:
                numbers = self.facts.find(posting, whole=written)
                part = Part("named", (".".join(posting),), weight * best / max(len(numbers), 1))
                for number in numbers:
                    strongest_here = strongest.get((number, written))
                    if strongest_here is None or strongest_here < part:
                        strongest[number, written] = part
        for (number, _), part in strongest.items():
            yield number, part

    def _parts_of(self, best: float) -> Iterator[tuple[int, Part]]:
        """The files with a keyword as a part of their paths; to define it counts more."""
        question = self.question
        if not question.is_short or not self._weights.path:
            return
        rarity = {name.casefold(): (name, self._rarity(name)) for name in question.names}
        total = sum(value for _, value in rarity.values()) or 1.0
        for part, (name, value) in rarity.items():
            full = _PATH_PART * best * value / total
            for number in self.facts.with_part(part):
                minor = self.facts.minor[number] and not question.about_tests
                yield (
                    number,
                    Part("path", (name,), full * (self._weights.discount if minor else 1)),
                )

    def words_of(self, number: int, kind: str) -> list[str]:
        """The words of a file's bonus of this kind."""
        parts = self.bonuses.get(number, ())
        return [word for part in parts if part.kind == kind for word in part.words]

    def shares(self, numbers: Collection[int]) -> dict[int, dict[str, dict[str, float]]]:
        """For each of these files what each field has of each word, without bonus and discount."""
        shares: dict[int, dict[str, dict[str, float]]] = {number: {} for number in numbers}
        places = self._places_of(shares.keys())
        weights, question = self._weights, self.question
        for term, idf in self.idf.items():
            word = question.words.get(term, term)
            factor = question.terms[term] * idf * (weights.saturation + 1)
            for number, fields in self._fields(term, shares.keys(), places).items():
                amount = sum(fields.values())
                for kind, part in fields.items():
                    by_word = shares[number].setdefault(kind, {})
                    score = factor * part / (weights.saturation + amount)
                    by_word[word] = by_word.get(word, 0.0) + score
        return shares

    def _places_of(self, wanted: Collection[int]) -> dict[int, list[tuple[int, int]]]:
        """The slots of the wanted files with their numbers, by segment."""
        return {
            segment: [(slot, number) for slot, number in enumerate(numbers) if number in wanted]
            for segment, numbers in self._corpus.segments.items()
        }

    def _fields(
        self,
        term: str,
        wanted: Collection[int],
        places: Mapping[int, Iterable[tuple[int, int]]],
    ) -> dict[int, dict[str, float]]:
        """The amount of a term in each field of the wanted files."""
        amounts: dict[int, dict[str, float]] = defaultdict(dict)
        for segment, slots, counts, defined in self._postings.get(term, ()):
            for slot, number in places.get(segment, ()):
                # Most terms are in more files than are wanted.
                index = bisect_left(slots, slot)
                if index < len(slots) and slots[index] == slot:
                    if body := counts[index] * self._body_factor[number]:
                        amounts[number]["words"] = body
                    if names := defined[index] * self._defined_factor[number]:
                        amounts[number]["defines"] = names
        for number in self.facts.with_term(term):
            if number in wanted and (path := self._path_factor[number]):
                amounts[number]["path"] = amounts[number].get("path", 0.0) + path
        return amounts


def _factors(
    lengths: Sequence[int], discount: float, weight: float, files: int
) -> list[float]:  # fmt: skip
    """For each file what one occurrence in a field counts; less in a document longer than usual."""
    nonzero = [length for length in lengths if length]
    usual = sum(nonzero) / len(nonzero) if nonzero else 1.0
    factors = [weight / (1 - discount + discount * length / usual) for length in lengths]
    return factors + [0.0] * (files - len(factors))
