"""Lookup of the files that hold or define words, in one pass over the index for all words."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.index.words import SEPARATOR
from foldline.backends.text_lines import TextLines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


class FileWords(NamedTuple):
    """The words of one file, as the index keeps them."""

    path: str
    used: bytes
    defined: bytes


class WordFiles(NamedTuple):
    """The files that seem to define a word, that use it, and that define words like it."""

    defined: tuple[str, ...]
    used: tuple[str, ...]
    like: dict[str, tuple[str, ...]]


class Vocabulary:
    """The words that some file seems to define, the shortest first."""

    def __init__(self, files: Iterable[FileWords]) -> None:
        known: set[bytes] = set()
        for file in files:
            known.update(file.defined.split(SEPARATOR))
        self._words = [word.decode("utf-8", "replace") for word in known]
        self._words.sort()
        self._words.sort(key=len)
        self._folded = TextLines(self._words, _folded)

    def like(self, word: str, most: int) -> list[str]:
        """The shortest words with `word` in them, whatever the case and underscores."""
        return [self._words[number] for number in self._folded.holding(_folded(word), most)]


def files_of(
    words: Collection[str], files: Sequence[FileWords], vocabulary: Vocabulary, most: int
) -> dict[str, WordFiles]:
    """For each of `words` its files.

    Of more than `most` words like one, the shortest are taken, which are the likeliest.
    """
    like = {word: vocabulary.like(word, most) for word in words}
    wanted = {*words, *(found for some in like.values() for found in some)}
    defined = _postings(wanted, ((file.path, file.defined) for file in files))
    used = _postings(
        [word for word in words if word not in defined], ((file.path, file.used) for file in files)
    )
    return {
        word: WordFiles(
            tuple(defined.get(word, ())),
            tuple(used.get(word, ())),
            {found: tuple(defined[found]) for found in like[word]},
        )
        for word in words
    }


def _postings(words: Iterable[str], files: Iterable[tuple[str, bytes]]) -> dict[str, list[str]]:
    """The paths of the files with each of the words."""
    encoded = {word.encode("utf-8", "replace"): word for word in words}
    wanted = encoded.keys()
    found: dict[str, list[str]] = defaultdict(list)
    if wanted:
        for path, text in files:
            for word in wanted & text.split(SEPARATOR):
                found[encoded[word]].append(path)
    return found


def _folded(word: str) -> str:
    return word.replace("_", "").casefold()
