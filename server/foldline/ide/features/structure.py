"""Folding ranges, selection ranges, semantic tokens and links of prompts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from foldline.ide.analysis.model import Span
from foldline.ide.analysis.module_analysis import ModuleAnalysis, expressions
from foldline.ide.analysis.placeholders import roles_of
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.syntax import Call, String
from foldline.ide.checks.sections import names_in
from foldline.ide.features.keys import key_uses, placeholder_at, text_at
from foldline.links import resolved
from foldline.records import record


def foldings(analysis: ModuleAnalysis) -> tuple[Span, ...]:
    """Return the foldable ranges of prompts, sections and texts of several lines.

    Their last lines stay visible, as they close the brackets.
    """
    spans: dict[Span, None] = {}
    text = analysis.text
    for prompt in analysis.module.prompts:
        spans[prompt.range] = None
    for section in analysis.sections:
        if section.node.file == analysis.file:
            spans[span_of(section.node).span] = None
        for name in roles_of(section):
            argument = section.arguments.get(name)
            if argument is not None and isinstance(argument.node, String):
                span = span_of(argument.node)
                if span.file == analysis.file:
                    spans[span.span] = None
    several = sorted(span for span in spans if "\n" in text[span.start : span.end])
    ends = (max(text.rfind(end, *span) for end in "\r\n") for span in several)
    return tuple(Span(start, end) for (start, _), end in zip(several, ends, strict=True))


def selection(analysis: ModuleAnalysis, offset: int) -> tuple[Span, ...]:
    """Return the selection ranges around an offset, narrowest first."""
    selections: set[Span] = set()
    at = placeholder_at(analysis, offset)
    if at is not None:
        for source in (at.placeholder.name_source, at.placeholder.source):
            if source is not None:
                selections.add(source.span)
    text = analysis.text
    for piece in text_at(analysis, offset):
        source = piece.written.place(0, len(piece.written.text))
        if source is not None and source.file == analysis.file:
            selections.update(_lines(offset, text, source.span))
        argument = piece.section.arguments.get(piece.role)
        if argument is not None and argument.node.file == analysis.file:
            selections.add(span_of(argument.node).span)
    for facts in analysis.facts:
        if facts.statement.start <= offset <= facts.statement.end:
            spans = {span_of(section.node).span for section in facts.sections}
            spans.update(span_of(template.node).span for template in facts.templates)
            if selections or any(span.holds(offset) for span in spans):
                selections.add(Span(facts.statement.start, facts.statement.end))
            selections.update(spans)
    ordered: list[Span] = []
    for span in sorted(selections, key=lambda span: span.end - span.start):
        if (
            span.holds(offset)
            and span.start < span.end
            and (not ordered or span.covers(ordered[-1]))
        ):
            ordered.append(span)
    return tuple(ordered)


def _lines(offset: int, text: str, whole: Span) -> Iterator[Span]:
    """Yield the word and the line around an offset in a literal."""
    start = max(text.rfind("\n", 0, offset) + 1, whole.start)
    end = text.find("\n", offset)
    end = whole.end if end < 0 else min(end, whole.end)
    for match in re.compile(r"\w+").finditer(text, start, end):
        if match.start() <= offset <= match.end():
            yield Span(match.start(), match.end())
    line = text[start:end]
    yield Span(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))


class TokenKind(StrEnum):
    """The kind of a semantic token."""

    PLACEHOLDER = "placeholder"
    UNKNOWN = "unknown"
    ESCAPE = "escape"
    KEY = "key"


@record
class SemanticToken:
    """A highlighted span within one line."""

    span: Span
    kind: TokenKind


def semantic_tokens(analysis: ModuleAnalysis) -> tuple[SemanticToken, ...]:
    """Return a file's placeholders, dollar escapes and section keys, in order, not overlapping."""
    kinds: dict[Span, TokenKind] = {}
    for text, placeholder in analysis.placeholders():
        source = placeholder.source
        if source is None or not placeholder.name:
            continue
        names = names_in(text)
        has_field = names is None or placeholder.name in names
        kinds[source.span] = TokenKind.PLACEHOLDER if has_field else TokenKind.UNKNOWN
    for text in analysis.texts:
        for match in re.finditer(r"\$\$", text.mapped.text):
            source = text.mapped.place(*match.span())
            if source is not None and source.file == analysis.file:
                kinds.setdefault(source.span, TokenKind.ESCAPE)
    for section in analysis.sections:
        argument = section.arguments.get("key")
        if argument is not None and isinstance(argument.node, String):
            source = span_of(argument.node)
            if source.file == analysis.file:
                kinds.setdefault(source.span, TokenKind.KEY)
    for _, _, node, _ in key_uses(analysis):
        kinds.setdefault(span_of(node).span, TokenKind.KEY)
    tokens: list[SemanticToken] = []
    for span, kind in sorted(kinds.items()):
        if tokens and span.start < tokens[-1].span.end:
            continue
        if "\n" not in analysis.text[span.start : span.end]:
            tokens.append(SemanticToken(span, kind))
    return tuple(tokens)


@record
class Link:
    """A span of source that links to a file or a web address."""

    span: Span
    target: str


_ADDRESS = re.compile(r"https?://[^\s<>\"'`)\]}]+[^\s<>\"'`)\]}.,;:!?]")
_FILE_READERS = frozenset({"read_text", "open", "read_bytes"})


def links(analysis: ModuleAnalysis) -> tuple[Link, ...]:
    """Return the web addresses in template texts, and the files that templates are read from."""
    targets: dict[Span, str] = {}
    for text in analysis.texts:
        for match in _ADDRESS.finditer(text.mapped.text):
            span = text.mapped.place(*match.span())
            if span is not None and span.file == analysis.file:
                targets[span.span] = match[0]
    for section in analysis.sections:
        for name in ("template", "summary"):
            argument = section.arguments.get(name)
            if argument is not None and argument.node.file == analysis.file:
                for node in _strings_of(argument.node):
                    path = _existing(analysis.file, node.source.strip("rRbBuUfF\"'"))
                    if path is not None:
                        targets[span_of(node).span] = str(path)
    return tuple(Link(span, target) for span, target in sorted(targets.items()))


def _strings_of(node: object) -> Iterator[String]:
    """Yield the strings in a call that reads a file: `Path("guide.md").read_text()`."""
    if not isinstance(node, Call):
        return
    reads = node.func.source.rpartition(".")[2] in _FILE_READERS
    pending = list(expressions(node)) if reads else []
    while pending:
        expression = pending.pop()
        if isinstance(expression, String):
            yield expression
        pending.extend(expressions(expression))


def _existing(file: str, name: str) -> Path | None:
    if not name or len(name) > 200 or "\n" in name:
        return None
    folder = Path(file).parent
    path = resolved(folder / name)
    return path if path.is_relative_to(resolved(folder)) and os.path.isfile(path) else None
