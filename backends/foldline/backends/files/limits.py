"""The sizes above which files are not read, and why they are where they are.

`LIMITS` is the table of them, for documentation.
"""

from __future__ import annotations

from typing import NamedTuple

SOURCE_BYTES = 4_000_000
PROMPT_MODULE_BYTES = 2_000_000
PROMPT_MODULE_NODES = 250_000
SETTINGS_BYTES = 1 << 20
VALUES_BYTES = 1 << 20
BASELINE_BYTES = 64 << 20
IGNORE_BYTES = 1 << 20
IGNORE_PATTERNS = 5_000
IGNORE_PATTERNS_IN_ALL = 20_000
IGNORE_WILDCARDS_IN_ALL = 10_000
IGNORE_PATTERN_CHARACTERS = 4_096
KEY_PARTS = 32


class Limit(NamedTuple):
    """One limit: what it is of, how many of which unit, what happens above it, and why."""

    of: str
    most: int
    unit: str
    above: str
    reason: str


LIMITS = (
    Limit(
        "a file that code tools read",
        SOURCE_BYTES,
        "bytes",
        "refused, except for single lines by number; grep and the index leave it out",
        "what is larger is data or generated, and is held in memory several times while parsed",
    ),
    Limit(
        "a Python file that is searched for prompts",
        PROMPT_MODULE_BYTES,
        "bytes",
        "counts as a file without prompts",
        "a person writes no prompts of that size",
    ),
    Limit(
        "a Python file that is searched for prompts",
        PROMPT_MODULE_NODES,
        "syntax nodes",
        "its prompts are not shown, and a diagnostic says so",
        "that is some 4,000 prompts; each node becomes objects that every question goes through",
    ),
    Limit(
        "a settings file: `pyproject.toml`, a language server's own, git's configuration",
        SETTINGS_BYTES,
        "bytes",
        "refused as a whole, with a warning; defaults hold",
        "parsers of TOML take a second for so much, and people write a hundredth of it",
    ),
    Limit(
        "a file of values for previews",
        VALUES_BYTES,
        "bytes",
        "the preview fails and names the file",
        "as for settings",
    ),
    Limit(
        "a baseline of token counts",
        BASELINE_BYTES,
        "bytes",
        "the command fails and names the file",
        "it has some hundred bytes for each section of a project",
    ),
    Limit(
        "an ignore file",
        IGNORE_BYTES,
        "bytes",
        "nothing of it counts, and answers say so",
        "the longest in wide use have a hundredth of it, and each question reads it anew",
    ),
    Limit(
        "an ignore file",
        IGNORE_PATTERNS,
        "patterns",
        "the first of them count, and answers say so",
        "each path is matched against all patterns of the folders above it",
    ),
    Limit(
        "all ignore files of a workspace",
        IGNORE_PATTERNS_IN_ALL,
        "patterns",
        "the first of them count, and answers say so",
        "compiling them takes seconds",
    ),
    Limit(
        "all ignore files of a workspace",
        IGNORE_WILDCARDS_IN_ALL,
        "wildcards (`*`, `?`, `[`)",
        "the patterns up to them count, and answers say so",
        "each makes what the patterns compile to larger, and a pattern of a person has one or two",
    ),
    Limit(
        "a pattern of an ignore file",
        IGNORE_PATTERN_CHARACTERS,
        "characters",
        "it matches nothing, and answers say so",
        "no path is longer, and its automaton would take megabytes",
    ),
    Limit(
        "a dotted key in TOML",
        KEY_PARTS,
        "parts",
        "the file is malformed",
        "the standard library's parser takes time quadratic in them",
    ),
)
