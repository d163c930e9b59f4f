"""Finds the names in a Markdown text: paths, globs, commands and symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from foldline.backends.base.languages import UNKNOWN, language_of
from foldline.backends.outlines.syntax import ParseRefusedError
from foldline.backends.parsers.markdown import Markdown, read_markdown
from foldline.ide.analysis.model import SourceSpan
from foldline.ide.analysis.module_analysis import ModuleAnalysis
from foldline.ide.analysis.placeholders import TEXT_ROLES, texts_of
from foldline.ide.analysis.values import SectionValue, kept


class Kind(StrEnum):
    """The kind of thing that a mention names, by its spelling."""

    PATH = "path"
    GLOB = "glob"
    COMMAND = "command"
    SYMBOL = "symbol"


class Mention(NamedTuple):
    """A name in a text.

    Attributes:
        name: The path without a line or an anchor, the command from its program to its task, the
            symbol without what it is called with.
        start: Where the name begins, in code points.
        end: Where it ends.
        line: The line that stands behind a path; 0 without one.
        called: A symbol has parentheses behind it.
        root: The top of the drawing of folders that a path is from, which may be the repository.
    """

    kind: Kind
    name: str
    start: int
    end: int
    line: int = 0
    called: bool = False
    root: str = ""

    @property
    def dotted(self) -> str:
        """The name of a symbol with dots between its parts."""
        return re.sub("::|#", ".", self.name)

    @property
    def word(self) -> str:
        """The last part of a symbol's name."""
        return self.dotted.rpartition(".")[2]


COMMANDS = re.compile(
    r"(?:^|[\n$;]|&&|\|\|)[ \t]*((?:uv run )?poe|(?:npm|pnpm|yarn|bun) run|npm(?= (?:test|start)\b)"
    r"|make|just|task|mise run|(?:uv|poetry|pdm) run) ([A-Za-z][\w:.-]*)"
)
"""A program that runs tasks of the project, and the task."""

_PLACE = re.compile(r"(?:::?L?(\d+)(?:[-:]L?\d+)?|#L(\d+)(?:-L?\d+)?|#[\w-]*|::[\w.:\[\]-]+)?\Z")
_PATH = re.compile(r"(?:/|(?:\.{1,2}/)+)?[\w.@+~-]*\w[\w.@+~/-]*\Z|\.[\w-]+(?:/[\w.+-]+)*/?\Z")
_GLOB = re.compile(r"[\w.@+~/*?{},\[\]!-]*\Z")
_FILE_NAMES = re.compile(r"(?:Makefile|Dockerfile|[Jj]ustfile|LICENSE|Procfile|Vagrantfile)\Z")
_ENDINGS = re.compile(r"\.(?:txt|lock|cfg|ini|env|svg|png|mdc|mdx|rst|sum|mod|work|example|tmpl)\Z")
_SYMBOL = re.compile(r"([A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*)(\(.*\))?\Z", re.DOTALL)
# `read_file`, `readFile`, `Reader`; a word that prose may have is none.
_WRITTEN_AS_NAME = re.compile(r"\w*[a-z\d][A-Z]|[A-Z]\w*[a-z]|_*[A-Za-z]\w*_[A-Za-z\d]")
_IMPORT = re.compile(r"(?<![\w@`/.-])@((?:\.{1,2}/|~/)?[\w.-]+(?:/[\w.-]+)*)")
_SHELLS = frozenset({"", "bash", "console", "sh", "shell", "shellsession", "zsh"})
# An argument of a command, or what stands between quotes.
_ARGUMENT = re.compile(r"[^\s\"'`=()|;&<>,]+")
_PLAIN = re.compile(
    r"(?<![\w/.@:~>+-])(?:\.{1,2}/)?\.?[\w-][\w.@+-]*+(?:/[\w.@+-]*\w)+(?![\w/*{-])"
)
_DRAWN = re.compile(
    r"^((?:[ \t\xa0]|[│|](?![─-]))*+(?:[├└+|`][─-]+[ \t\xa0]*+)?)"
    r"(?=\S*\w)([\w.@+~-]++(?:/[\w.@+~-]++)*+/?)(?=\s|$)",
    re.MULTILINE,
)
_BRANCH = re.compile("[├└]─|[|`+]--")
# `settings.json` of VS Code, your `config.toml`: a file of another program.
_OF_OTHERS = re.compile(r"(?:[A-Z]\w*['\u2019]s|\b[Yy]our|\b[Uu]ser|\b[Gg]lobal)\s+`?\Z")
_OF_ANOTHER = re.compile(r"`?\s+(?:of|in|from|for)\s+(?:[A-Z]\w+|your)\b")
_AROUND = 40
_LONGEST = 200
_MARKED = re.compile(r"`|\]\(|@\S")


def mentions(markdown: Markdown) -> tuple[Mention, ...]:
    """Return what a text names, in its order: in code spans, links, `@` imports, blocks of code.

    Other words are names only as paths of files in folders.
    """
    text, by_place = markdown.text, dict[int, Mention]()
    for one in _found(markdown):
        before, behind = text[max(one.start - _AROUND, 0) : one.start], text[one.end :][:_AROUND]
        is_alone = one.kind == Kind.PATH and "/" not in one.name
        if not (is_alone and (_OF_OTHERS.search(before) or _OF_ANOTHER.match(behind))):
            by_place.setdefault(one.start, one)
    return tuple(by_place[start] for start in sorted(by_place))


def mentions_of(analysis: ModuleAnalysis) -> Iterator[tuple[Mention, SourceSpan]]:
    """Yield what the templates and summaries of a file's prompts name, with its source.

    The places of the mentions themselves count from the start of their texts.
    """
    for text in analysis.texts:
        if text.role in TEXT_ROLES and _MARKED.search(text.mapped.text):
            derive = partial(_of_role, text.role)
            for mention in kept(text.section, f"mentions in {text.role}", derive):
                source = text.mapped.place(mention.start, mention.end)
                if source is not None and source.file == analysis.file:
                    yield mention, source


def _of_role(role: str, section: SectionValue) -> tuple[Mention, ...]:
    every = (text for text in texts_of(section) if text.role == role)
    with suppress(ParseRefusedError):
        return tuple(one for text in every for one in mentions(read_markdown(text.mapped.text)))
    return ()


def _found(markdown: Markdown) -> Iterator[Mention]:
    text = markdown.text
    for start, end in markdown.code_spans():
        if end - start <= _LONGEST:
            yield from _of_span(text[start:end], start)
    for start, end in markdown.link_targets():
        name = text[start:end]
        if not re.match(r"[\w+.-]+:|//|#", name) and end - start <= _LONGEST:
            yield from _path(name, start)
    for part in markdown.prose:
        words = markdown.words(part)
        for match in _IMPORT.finditer(words):
            name = match[1].rstrip(".")
            if "/" in name or language_of(name) != UNKNOWN:
                start = part.start + match.start(1)
                yield Mention(Kind.PATH, name, start, start + len(name))
        yield from _plain(words, part.start)
    for fence in markdown.fences:
        code = text[fence.start : fence.end]
        if _BRANCH.search(code):
            yield from _drawn(code, fence.start)
        elif fence.language.lower() in _SHELLS:
            yield from _arguments(code, fence.start)
        yield from _plain(code, fence.start)


def _plain(text: str, start: int) -> Iterator[Mention]:
    """Yield the files in folders that a text names without any mark."""
    for match in _PLAIN.finditer(text):
        if _is_file(match[0].rpartition("/")[2]) and len(match[0]) <= _LONGEST:
            yield from _path(match[0], start + match.start())


def _arguments(text: str, start: int) -> Iterator[Mention]:
    """Yield the tasks that commands run, and the paths among their arguments."""
    for match in COMMANDS.finditer(text):
        name, at = f"{match[1]} {match[2]}".rstrip(".:"), start + match.start(1)
        yield Mention(Kind.COMMAND, name, at, at + len(name))
    for match in _ARGUMENT.finditer(text):
        if len(match[0]) <= _LONGEST and not match[0].startswith(("@", "-")):
            yield from _path(match[0].removesuffix("/..."), start + match.start())


def _drawn(text: str, start: int) -> Iterator[Mention]:
    """Yield the paths in a drawing of folders, each at its last part."""
    above: list[tuple[int, str]] = []
    for match in _DRAWN.finditer(text):
        stem, name = match[1], match[2].rstrip("/")
        while above and above[-1][0] >= len(stem):
            above.pop()
        if not _BRANCH.search(stem):
            # `src/` is a folder, other words are a title.
            above = [(-1, name)] if match[2] != name and name != "." else []
            continue
        root = f"{above[0][1]}/" if above and above[0][0] < 0 else ""
        above.append((len(stem), name))
        at, path = start + match.start(2), "/".join(one for _, one in above)
        yield Mention(Kind.PATH, path, at, at + len(name), root=root)


def _of_span(text: str, start: int) -> Iterator[Mention]:
    if " " in text:
        yield from _arguments(text, start)
    if "://" in text or text.startswith(("@", "-", "http")):
        return
    # `/api/*` is an address as often.
    is_glob = text.find("/") > 0 or _is_file(text.replace("*", "x"))
    if is_glob and _GLOB.match(text) and re.search(r"\*|,.*\}", text):
        yield Mention(Kind.GLOB, text, start, start + len(text))
    else:
        yield from list(_path(text, start)) or filter(None, [symbol_in(text, start)])


def _path(text: str, start: int) -> Iterator[Mention]:
    """Yield the path of a text with a slash, or with the ending of a file."""
    suffix = _PLACE.search(text)
    name = text[: suffix.start()] if suffix else text
    last = name.rpartition("/")[2]
    # `/name` is an address or a command as often as a path.
    looks_so = _is_file(last) or ("/" in name and not name.startswith(("/", "~")))
    if looks_so and _PATH.match(name):
        line = suffix and (suffix[1] or suffix[2])
        yield Mention(Kind.PATH, name, start, start + len(name), int((line or "0")[:9]))


def _is_file(name: str) -> bool:
    return language_of(name) != UNKNOWN or bool(_ENDINGS.search(name) or _FILE_NAMES.match(name))


def symbol_in(text: str, start: int) -> Mention | None:
    """Return the symbol that a code span names, if it's written as one."""
    match = _SYMBOL.match(text)
    if match is None:
        return None
    name, called = match[1], match[2] is not None
    if called or not name.isidentifier() or _WRITTEN_AS_NAME.match(name):
        return Mention(Kind.SYMBOL, name, start, start + len(name), called=called)
    return None
