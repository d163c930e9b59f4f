"""The intent classifier: decides if a chapter is relevant to the user's goal."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol

from foldline.prompts.sections.chapter import Chapter
from foldline.prompts.thread import Thread


@dataclass(frozen=True, slots=True)
class IntentQuery:
    """A classifier's input.

    Attributes:
        goal: The text of the goal section, without its heading.
        chapter: The chapter, with its key, title, description, keywords and sections.
        params: The chapter's parameters; None where it has none.
        session: The session of the evaluation, for slices of your own.
        thread: What was said in this session before: requests, answers and tool calls.
        said: What the user said in the conversation, the oldest message first.
    """

    goal: str
    chapter: Chapter[object]
    params: object
    session: object | None = None
    thread: Thread = field(default_factory=Thread)
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChapterVerdict:
    """A classifier's decision about one chapter, with reasons."""

    opens: bool
    reasons: tuple[str, ...] = ()


class IntentClassifier(Protocol):
    """A rule or a model that decides if a chapter helps with a goal.

    It must be deterministic. It may return a plain boolean.
    """

    def __call__(self, query: IntentQuery, /) -> ChapterVerdict | bool: ...


def term_overlap(query: IntentQuery) -> ChapterVerdict:
    """Default classifier: opens a chapter if the goal uses the chapter's words.

    A chapter opens if the goal has one term of its key, title or keywords, or two of its
    description. Case and plural endings are ignored; common words don't count. A keyword of several
    words counts if the goal has all of them in this order. In a conversation, everything that the
    user said is a part of the goal, so that a chapter stays open once it was asked for.
    """
    chapter = query.chapter
    goal = _terms("\n".join((query.goal, *query.said)))
    goal_terms = set(goal)
    reasons: dict[str, str] = {}
    for where, text in (("key", re.sub(r"[._-]+", " ", chapter.key)), ("title", chapter.title)):
        for term in _terms(text):
            if term in goal_terms:
                reasons.setdefault(term, f"the goal mentions {term!r} ({where})")
    hits = list(reasons.values())
    for keyword in chapter.keywords:
        words = _terms(keyword)
        if words and _contains(goal, words):
            hits.append(f"the goal mentions {keyword!r} (keyword)")
    if hits:
        return ChapterVerdict(opens=True, reasons=tuple(hits))
    shared = [t for t in dict.fromkeys(_terms(chapter.description or "")) if t in goal_terms]
    if len(shared) > 1:
        listed = ", ".join(map(repr, shared))
        return ChapterVerdict(opens=True, reasons=(f"the goal mentions {listed} (description)",))
    return ChapterVerdict(
        opens=False,
        reasons=("the goal shares no term with its key, title, keywords or description",)
        if not shared
        else (f"the goal shares only {shared[0]!r} with its description",),
    )


_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset(
    _WORD.findall(
        "a about all an and any are as at be been but by can could do does for from had has have "
        "how i if in into is it its me more my new no not of on or our please should so some than "
        "that the their them then there these they this to use user using was we what when where "
        "which who will with would you your chapter section task"
    )
)


def _terms(text: str) -> list[str]:
    """Return the words of a text without case and plural endings, omitting common ones."""
    words = _WORD.findall(text.casefold())
    return [_singular(word) for word in words if len(word) > 1 and word not in _COMMON]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _contains(terms: list[str], wanted: list[str]) -> bool:
    size = len(wanted)
    return any(terms[start : start + size] == wanted for start in range(len(terms) - size + 1))
