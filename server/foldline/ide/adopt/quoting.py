"""Texts as Python source."""

from __future__ import annotations

import ast
import textwrap

INDENT = "    "
WIDTH = 96
_LONGEST_COMMENT = 40


def quoted(text: str, indent: str) -> str:
    """Return a template's text as a Python string, over several lines if it is long.

    Sections dedent and strip it.
    """
    if "\n" in text or len(text) + len(indent) > WIDTH:
        body = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        inner = indent + INDENT
        lines = [f"{inner}{line}" if line else "" for line in body.split("\n")]
        written = "\n".join(['"""', *lines, f'{indent}"""'])
        if _is_printable(text) and _read_back(written) == text:
            return written
    return one_line(text)


def one_line(text: str) -> str:
    """Return a text as a Python string in one line, as formatters write it."""
    if "'" not in text and '"' not in text:
        return f'"{repr(text)[1:-1]}"'
    return repr(text)


def comment(text: str, indent: str = "", prefix: str = "# ") -> list[str]:
    """Return the lines of a comment."""
    lines = text.strip("\n").split("\n")
    if len(lines) > _LONGEST_COMMENT:
        rest = len(lines) - _LONGEST_COMMENT
        lines = [*lines[:_LONGEST_COMMENT], f"[{rest} more lines are in the source]"]
    return [f"{indent}{prefix}{_visible(line)}".rstrip() for line in lines]


def sentence_comment(text: str, indent: str = "") -> list[str]:
    """Return a sentence of ours as a comment, in lines of an even width."""
    return textwrap.wrap(text, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def _visible(line: str) -> str:
    # Whatever a text has, a comment ends with its line.
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in line.expandtabs(4)
    )


def _is_printable(text: str) -> bool:
    return all(character.isprintable() or character in "\n\t" for character in text)


def _read_back(written: str) -> str | None:
    try:
        value = ast.literal_eval(written)
    except (SyntaxError, ValueError):
        return None
    return textwrap.dedent(value).strip() if isinstance(value, str) else None
