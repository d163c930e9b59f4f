"""The whole word in text that no parser reads: it comes after an answer's references."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING

from foldline.backends.base.languages import UNKNOWN, has_grammar, is_indexed, is_text, language_of
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.errors import PathError
from foldline.backends.files.limits import TEXT_BYTES
from foldline.backends.formatting.text import plural, sentences
from foldline.backends.index.words import whole_word
from foldline.backends.models import COMPLETE, TEXT_ALONE, ReferenceKind, TextUses
from foldline.backends.outlines.syntax import ParseRefusedError, parse
from foldline.backends.references.spelling import key_of, word_of
from foldline.backends.search.walks import Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from foldline.backends.files.base import FileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.models import References
    from foldline.backends.search.walks import Walked

_DATA = re.compile(
    r"\.(svg|map|csv|tsv|snap|po|pot|sum|lock|min\.\w+)$|[-.]lock\.\w+$", re.IGNORECASE
)
_PROSE = re.compile(r"\.(md|mdx|markdown|rst|txt|adoc|org|tex)$|(^|/)[A-Z_-]+$")
# In longer lines it is data, whatever its name.
_LONGEST_LINE = 2_000
_MOST_FILES = 100
_MOST_LINES = 50
# Files that are parsed to see whether a word is in a comment.
_MOST_PARSED = 2
_MARKED = re.compile(rb"\s*(?://|#(?![a-z\[])|/?\*|--)|.*\s(?://|/\*|#)\s")
# What is around a name; a word of plain English is one where it's written as in code.
_AROUND = re.compile(rb"(?s)[^\w$].?"), re.compile(rb"(?s)[.:#>`\\].?|[^\w$]\(")
_MOST_KINDS = 3
_MOST_NAMED = 3


async def with_text(
    references: References, files: FileBackend, index: WorkspaceIndex | None, since: float
) -> References:
    """The references with the lines of text that have the last part of their name as a word.

    Prose and data that have it are counted by kind.
    """
    name = key_of(references.name.rpartition(".")[2])
    if not word_of(name):
        return references
    within = Scope(files, references.scope)
    paths: Iterable[str]
    large: Iterable[str] = ()
    coverage = COMPLETE
    if index is None:
        paths = (stamp.path for stamp in within.walk() if is_text(stamp.path))
    else:
        paths, coverage, large = await coroutine_of(index.texts_with)(word_of(name), since=since)
    text: list[TextUses] = []
    kinds: Counter[str] = Counter()
    for path in filter(within.holds, paths):
        if path.endswith("ignore"):
            continue  # What it names are files.
        if index is not None and len(text) >= _MOST_FILES:
            kinds[_kind(path)] += 1
            continue
        try:
            data = files.load(path).parse_data
        except PathError:
            continue  # Binary, or gone.
        word = whole_word(name.encode("utf-8", "replace"))
        first = word.search(data)
        if first is None:
            continue
        # Without a newline, -1 becomes the length.
        end = data.find(b"\n", first.end()) % (len(data) + 1)
        if (
            end - data.rfind(b"\n", 0, first.start()) > _LONGEST_LINE
            or _DATA.search(path)
            or _PROSE.search(path)
        ):
            kinds[_kind(path)] += 1
            continue
        places = (data.count(b"\n", 0, m.start()) + 1 for m in word.finditer(data))
        text.append(TextUses(path, tuple(islice(dict.fromkeys(places), _MOST_LINES))))
    reason, completeness = references.reason, references.coverage
    if text or kinds:
        # The reason begins with "no code has it": text has it.
        reason = re.sub(r"^no code[^`]*`[^`]*`(?:; |$)", "", reason)
    unread = Counter(_kind(path) for path in large if within.holds(path) and not _DATA.search(path))
    if unread:
        missing = f"not read: {_counts(unread)} over {TEXT_BYTES // 1000} KB"
        reason = sentences(reason, missing)
    gap = coverage.removeprefix("partial: ")
    if coverage != COMPLETE and gap not in completeness:
        completeness = (
            f"{TEXT_ALONE}{gap}" if completeness == COMPLETE else f"{completeness}; text: {gap}"
        )
    return replace(
        references, text=tuple(text), counted=_counts(kinds), reason=reason, coverage=completeness
    )


async def said_of_strings(
    references: References, files: FileBackend, index: WorkspaceIndex | None, since: float
) -> str:
    """Tell of a string in code that is the name, and of a comment that names it.

    `getattr(a, "name")` and `@covers A::name` use it, too. That of a shell's function may stand in
    any text: `ssh host 'name x'`.
    """
    name = key_of(references.name.rpartition(".")[2])
    if not (word := word_of(name)):
        return ""
    within = Scope(files, references.scope)
    if index is None:
        paths = [stamp.path for stamp in within.walk() if not is_text(stamp.path)]
    else:
        paths = [*(await coroutine_of(index.files_with)(word, since=since)).paths]
    # Uses that are another definition's by that name say nothing.
    same = (use for use in references if use.tier != "another")
    defining = (use.path for use in same if use.kind == ReferenceKind.DEFINITION)
    in_shell = any(_is_shell(files, path) for path in islice(defining, _MOST_NAMED))
    written = re.escape(name.encode("utf-8", "replace"))
    in_text = rb"(?m)^(?!\s*#).*?(?<![\w-])%b(?![\w-])" if in_shell else rb"([\"'`])%b\1"
    quoted = re.compile(in_text % written)
    # Names in `__all__` are references.
    lines = {(use.path, use.line) for use in references}
    paths = [path for path in paths if within.holds(path)]
    told: dict[str, str] = {}
    tries = 0 if in_shell else _MOST_PARSED
    for path in paths[:_MOST_FILES]:
        with suppress(PathError):
            data = files.load(path).parse_data
            if in_shell and not _is_shell(files, path):
                continue
            for match in () if "strings" in told else quoted.finditer(data):
                line = data.count(b"\n", 0, match.end()) + 1
                if (path, line) not in lines and not _is_comment(path, data, match.end() - 1):
                    told["strings"] = f"{path}:{line}"
                    break
            line, at = _commented(path, data, name, lines) if tries else (0, 0)
            tries -= bool(line)
            if line and _is_comment(path, data, at):
                told["comments"], tries = f"{path}:{line}", 0
    said = ", nor ".join(f"{kind}, such as {told[kind]}" for kind in sorted(told)[::-1])
    unread = "strings weren't looked at" if len(paths) > _MOST_FILES else ""
    return f"not in {said}" if said else unread


async def said_of_text(
    index: WorkspaceIndex, words: Iterable[str], paths: Collection[str], since: float
) -> list[str]:
    """Tell where words are that no code has: kinds of text among `paths`, and what wasn't read."""
    notes: dict[str, None] = {}
    for word in words:
        texts = (await coroutine_of(index.texts_with)(word, since=since)).paths
        kinds = Counter(_kind(path) for path in texts if path in paths and not _DATA.search(path))
        if kinds:
            notes[f"text isn't ranked: {word!r} is in {_counts(kinds)}"] = None
        notes |= dict.fromkeys((await coroutine_of(index.files_with)(word, since=since)).notes)
    return [*notes]


def not_looked_at(files: FileBackend, walked: Walked) -> Iterator[str]:
    """Yield the counts of what can't be read, and of where no definitions are looked for."""
    large = [stamp.path for stamp in walked.stamps if stamp.size > files.size_limit]
    large = [*filter(is_indexed, large)]
    if large:
        yield f"{len(large)} over {files.size_limit // 1_000_000} MB ({large[0]})"
    if walked.refused:
        yield f"{len(walked.refused)} not readable ({walked.refused[0]})"
    yield from of_no_language(walked)
    if any(language_of(stamp.path) == "ruby" for stamp in walked.stamps):
        yield "what class_eval makes"


def of_no_language(walked: Walked) -> Iterator[str]:
    """Yield the count of files that may be code, and in which no definitions are looked for."""
    paths = [stamp.path for stamp in walked.stamps if is_text(stamp.path)]
    if notebooks := [path for path in paths if language_of(path) == "notebook"]:
        yield f"{len(notebooks)} {plural('notebook', len(notebooks))} ({notebooks[0]})"
    unknown = (path for path in paths if language_of(path) == UNKNOWN)
    others = (path for path in unknown if not (_DATA.search(path) or _PROSE.search(path)))
    kinds = Counter(filter(None, (PurePath(path).suffix for path in others)))
    if kinds:
        most = Counter(dict(kinds.most_common(_MOST_KINDS)))
        yield f"{kinds.total()} of no known language ({_counts(most)})"


def _is_shell(files: FileBackend, path: str) -> bool:
    language = language_of(path)
    head = (files.text_of(path) or "").encode() if language == UNKNOWN else b""
    return language_of(path, head) == "bash"


def _commented(path: str, data: bytes, name: str, lines: set[tuple[str, int]]) -> tuple[int, int]:
    """Return another line than these, and where it is, as in code, in what may be a comment."""
    quotes, last, around = 0, 0, _AROUND[name.isalpha() and name.islower()]
    for match in re.finditer(rb"%b(?!\w)" % re.escape(name.encode("utf-8", "replace")), data):
        start, end = match.span()
        quotes, last = quotes + data.count(b'"""', last, start), start
        before = data[max(data.rfind(b"\n", 0, start) + 1, start - _LONGEST_LINE) : start]
        is_marked = _MARKED.match(before) or (quotes % 2 and path.endswith(".py"))
        if is_marked and around.fullmatch(before[-1:] + data[end : end + 1]):
            line = data.count(b"\n", 0, start) + 1
            if (path, line) not in lines:
                return line, start
    return 0, 0


def _is_comment(path: str, data: bytes, at: int) -> bool:
    """Return whether a place is in a comment, or in a docstring of Python's."""
    language = language_of(path, data[:500])
    with suppress(ParseRefusedError):
        root = parse(language, data, guarded=True).root_node if has_grammar(language) else None
        node = root and root.descendant_for_byte_range(at, at)
        kinds = [node.type, str(node.parent and node.parent.parent)] if node else [""]
        in_docstring = "string" in kinds[0] and kinds[-1].startswith("(expression_statement")
        return "comment" in kinds[0] or in_docstring
    return False


def _kind(path: str) -> str:
    name = PurePath(path)
    return name.suffix or name.name


def _counts(kinds: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
