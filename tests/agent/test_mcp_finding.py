"""Clients that don't list all tools search for them by the words of a question."""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest

from foldline.agent.mcp.calls import Tools
from foldline.agent.mcp.server import INSTRUCTIONS

# A model's question, and the tool that answers it.
QUESTIONS = {
    "list files in the repository": "get_tree",
    "list folders": "get_tree",
    "file outline": "get_file_outline",
    "symbols of a file": "get_file_outline",
    "show source of a function": "read_symbol",
    "read a class": "read_symbol",
    "read file": "read_file",
    "read lines of a file": "read_lines",
    "grep": "grep_in_files",
    "search text in files": "grep_in_files",
    "regular expression": "grep_in_files",
    "search files": "search_for_files",
    "find usages": "find_references",
    "find references": "find_references",
    "who calls this function": "find_references",
    "callers": "find_references",
    "context of a question": "generate_scoped_context",
}
SHOWN = 3
"""The answers of a search that a client shows, at least."""


def words(text: str) -> list[str]:
    """The words of a text, without the endings of plurals and verbs."""
    return [re.sub(r"s$", "", word) for word in re.findall(r"[a-z]+", text.lower())]


class Ranking:
    """BM25 over the names and descriptions of the tools."""

    def __init__(self, frequency: float = 1.2, length: float = 0.75) -> None:
        self.frequency, self.length = frequency, length
        tools = Tools().listed
        self.texts = {tool.name: words(f"{tool.name} {tool.description}") for tool in tools}
        self.average = sum(map(len, self.texts.values())) / len(self.texts)

    def best(self, question: str) -> list[str]:
        """The tools that have any word of the question, best first."""
        scores = {name: self.score(question, text) for name, text in self.texts.items()}
        found = [name for name, score in scores.items() if score > 0]
        return sorted(found, key=lambda name: -scores[name])

    def score(self, question: str, text: list[str]) -> float:
        counts = Counter(text)
        norm = 1 - self.length + self.length * len(text) / self.average
        return sum(
            self.weight(word)
            * (counts[word] * (self.frequency + 1))
            / (counts[word] + self.frequency * norm)
            for word in words(question)
        )

    def weight(self, word: str) -> float:
        holding = sum(word in text for text in self.texts.values())
        return math.log(1 + (len(self.texts) - holding + 0.5) / (holding + 0.5))


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_tool_is_found_by_the_words_of_a_question(question: str) -> None:
    assert QUESTIONS[question] in Ranking().best(question)[:SHOWN]


def test_the_beginning_of_the_instructions_says_what_matters() -> None:
    # Codex shows no more of them where it doesn't list the tools.
    head = INSTRUCTIONS[:250]
    assert "get_file_outline" in head
    for tool in ("search_for_files", "grep_in_files", "read_symbol", "find_references"):
        assert tool in head
