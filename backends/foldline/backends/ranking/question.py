"""A question as a ranking sees it: weighted terms, names of code, and places that it mentions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from foldline.backends.index.terms import LONGEST_WORD, terms_of

# A question that is longer is read to here, and of its terms the heaviest count.
_MOST_TEXT = 64_000
_MOST_TERMS = 800
# Of names and of places the first count; none has more parts than folders are deep.
_MOST_NAMES = 800
_MOST_PLACES = 200
_MOST_PARTS = 64
# A question of one line and so many words is a list of keywords, each of which is meant.
_MOST_KEYWORDS = 6
_LONG_NAME = 4
# Words that nothing has, and for each the terms that hold it.
_MOST_UNKNOWN = 8
_MOST_LIKE = 20
_SHORTEST_PART = 3
_LIKE_WEIGHT = 0.5

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
# Names with an underscore inside, or with a capital behind a small letter, or some before one.
_LIKE_CODE = re.compile(r"\w_\w|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
# Of a frame in a traceback, the path and the function.
_FRAME = re.compile(r'File ("[^"\n]+"), line \d+(?:, in (\w+))?')
# Tried only where a word, a run or a folder begins: from each character, time would be quadratic.
_DOTTED = re.compile(r"\b[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_PATH = re.compile(
    r"(?<![\w.@+\\/-])[\w.@+\\/-]*\w\.[A-Za-z]\w{0,9}\b|(?<![\w.@+-])(?:[\w.@+-]+/)+[\w.@+-]+"
)
ABOUT_TESTS = frozenset({"test", "tests", "spec", "specs", "doc", "docs", "example", "examples"})

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can
    cannot could did do does doing done during each either else etc even every few first for
    from further get gets getting give given go goes going got had has have having he hello help
    her here hi his how however i if in instead into is issue it its itself just let like looks
    made make makes many maybe me might more most much must my need needs no nor not now of off
    on once one only or other our out over own please problem quite rather really same see seems
    several shall she should since so some something still such sure take than thank thanks that
    the their them then there these they thing things think this those though through thus to
    too try trying under until up upon us use used uses using very via want was way we well were
    what when where whether which while who whom whose why will with within without work works
    would yes yet you your bug bugs expected actual behavior behaviour result results example
    examples following version versions description reproduce reproduction steps summary code
    """.split()  # noqa: SIM905 - A word a line would be a page.
)


class Question(NamedTuple):
    """A question, taken apart: its terms and the names in it.

    Attributes:
        text: As it was asked.
        terms: The terms with their weights; those of the title count more.
        words: For each term the word that it was made of.
        names: Names of code, those of the title first; each may be that of a symbol.
        in_title: The names that the title has.
        dotted: Dotted names and paths in parts, without the ending of a file.
        paths: Those that were written as paths.
        pairs: Each two parts of a place that follow each other, such as a class and its method.
        is_short: It's a list of keywords.
        about_tests: It asks for tests or documentation.
    """

    text: str
    terms: dict[str, float]
    words: dict[str, str]
    names: tuple[str, ...]
    in_title: frozenset[str]
    dotted: frozenset[tuple[str, ...]]
    paths: frozenset[tuple[str, ...]]
    pairs: frozenset[tuple[str, str]]
    is_short: bool
    about_tests: bool


def read_question(text: str, title_weight: float) -> Question | None:
    """Read a question of any length; None if it has no word."""
    text = _FRAME.sub(r"\1 \2", text.strip()[:_MOST_TEXT])
    title, _, rest = text.partition("\n")
    all_words = _WORD.findall(text)
    words = [word for word in all_words if word.lower() not in STOP_WORDS] or all_words
    if not words:
        return None
    is_short = not rest.strip() and len({*words}) <= _MOST_KEYWORDS
    title_words = _WORD.findall(title)
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    for word, count in Counter(words).items():
        for term in all_terms(word):
            counts[term] += count
            if len(word) < len(written.get(term, word + " ")):
                written[term] = word
    in_title = {term for word in title_words for term in all_terms(word)} if rest else frozenset()
    weights = {
        term: (1 + math.log(count)) * (1 + title_weight * (term in in_title))
        for term, count in counts.items()
    }
    if len(weights) > _MOST_TERMS:
        heaviest = sorted(weights, key=lambda term: -weights[term])[:_MOST_TERMS]
        weights = {term: weights[term] for term in heaviest}
    paths = frozenset(_places(_path_parts(text)))
    dotted = paths.union(_places(tuple(name.split(".")) for name in _DOTTED.findall(text)))
    names = dict.fromkeys(words if is_short else _names(title_words, words, text))
    return Question(
        text,
        weights,
        written,
        tuple(islice(names, _MOST_NAMES)),
        frozenset(title_words),
        dotted,
        paths,
        frozenset(pair for parts in dotted for pair in pairwise(parts)),
        is_short,
        is_short and any(word.lower() in ABOUT_TESTS for word in words),
    )


def all_terms(word: str) -> tuple[str, ...]:
    """The terms of a word, or of what isn't one, such as a number, its text."""
    return terms_of(word) or (word.casefold(),)


def _names(title: Iterable[str], words: Iterable[str], text: str) -> Iterable[str]:
    """Words that are written as names in code are, and those in backticks."""
    quoted = {word for part in _QUOTED.findall(text) for word in _WORD.findall(part)}
    for word in (*title, *words):
        if len(word) >= _LONG_NAME and (word in quoted or _LIKE_CODE.search(word)):
            yield word


def _places(found: Iterable[tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
    return islice((parts for parts in found if len(parts) <= _MOST_PARTS), _MOST_PLACES)


def _path_parts(text: str) -> Iterable[tuple[str, ...]]:
    for path in dict.fromkeys(_PATH.findall(text)):
        parts = [part for part in re.split(r"[\\/]", path) if part not in {"", ".", ".."}]
        if parts and (len(parts) > 1 or "." in parts[0]):
            yield (*parts[:-1], parts[-1].partition(".")[0] or parts[-1])


def with_exact(question: Question, known: Container[str]) -> Question:
    """The question with the names that exist, by their `known` terms, as wholes, not by parts."""
    weights = dict(question.terms)
    for name in question.names:
        term, *parts = all_terms(name)
        for part in parts if term in known else ():
            if question.words.get(part) == name:
                weights.pop(part, None)
    return question._replace(terms=weights)


def with_near(question: Question, names: Iterable[str]) -> Question:
    """The question with the names of definitions that are near to some of its own."""
    names = tuple(names)
    terms = {all_terms(name)[0]: name for name in names}
    return question._replace(
        terms=question.terms | dict.fromkeys(terms, 1.0),
        words=question.words | terms,
        names=(*question.names, *names),
    )


def with_like(question: Question, unknown: Iterable[str], vocabulary: Sequence[str]) -> Question:
    """The question with terms that hold one of its `unknown` terms, which nothing has.

    The shortest are taken, which are the likeliest; `vocabulary` has terms, a line each.
    """
    weights, words = dict(question.terms), dict(question.words)
    for part in list(unknown)[:_MOST_UNKNOWN]:
        if not _SHORTEST_PART <= len(part) <= LONGEST_WORD:
            continue
        held = re.compile(rf"^[^\n=]*{re.escape(part)}.*$", re.MULTILINE)
        like = {match[0] for text in vocabulary for match in held.finditer(text)}
        for term in sorted(like, key=lambda term: (len(term), term))[:_MOST_LIKE]:
            weights.setdefault(term, _LIKE_WEIGHT * question.terms[part])
            words.setdefault(term, question.words[part])
    return question._replace(terms=weights, words=words)
