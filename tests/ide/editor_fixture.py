"""A fixture as an editor would hold it: written in several ways, asked about by the real handlers.

Places are told in offsets of the fixture as it stands in the test, whatever the way it was written.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from tests.fixtures import files

from foldline.ide.workspace import Workspace
from foldline.server.convert import LineIndex

from ..capabilities import capabilities_of
from .conftest import HEAD, MARKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import ModuleType


WIDE = '"🎉é𝔘"; '
"""A statement that takes 6, 7, 9 and 12 units of the encodings before what follows in its line."""

_SIMPLE = re.compile(
    r"^(?=[A-Za-z_][\w.]*(?:\[[^\]\n]*\])?\(|[A-Za-z_]\w*(?:, *\w+)* *(?::[^=\n]+)?=(?!=))",
    re.MULTILINE,
)
_INDENT = re.compile(r"^(?: {4})+", re.MULTILINE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_UNIT = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODEC = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


@dataclass(frozen=True)
class Way:
    """How a client counts, and how its user writes."""

    encoding: str = "utf-16"
    ends: str = "\n"
    tabs: bool = False
    wide: bool = False
    """Whether every simple statement stands behind others in its line."""

    def __str__(self) -> str:
        ends = "crlf" if self.ends == "\r\n" else "lf"
        more = ("-tabs" if self.tabs else "") + ("-wide" if self.wide else "")
        return f"{self.encoding}-{ends}{more}"

    def write(self, text: str) -> Written:
        """The text in this way, with the place of each of its characters."""
        changes: list[tuple[int, int, str]] = []
        if self.wide:
            changes += [(match.start(), match.start(), WIDE) for match in _SIMPLE.finditer(text)]
        if self.tabs:
            changes += [
                (match.start(), match.end(), "\t" * (len(match[0]) // 4))
                for match in _INDENT.finditer(text)
            ]
        if self.ends != "\n":
            changes += [(at.start(), at.end(), self.ends) for at in re.finditer("\n", text)]
        new: list[int] = []
        old: list[int] = []
        written, at = "", 0
        for start, end, replaced in sorted(changes):
            new += range(len(written), len(written) + start - at)
            old += range(at, start)
            written += text[at:start]
            new += [len(written)] * (end - start)
            old += [start] * len(replaced)
            written += replaced
            at = end
        new += range(len(written), len(written) + len(text) - at + 1)
        old += range(at, len(text) + 1)
        return Written(self, text, written + text[at:], tuple(new), tuple(old))

    def unwrite(self, text: str) -> str:
        """A text that was written in this way, as a fixture has it."""
        text = text.replace(WIDE, "").replace("\r\n", "\n")
        return re.sub(r"^\t+", lambda tabs: " " * 4 * len(tabs[0]), text, flags=re.MULTILINE)


WAYS = (
    Way("utf-16"),
    Way("utf-8", "\r\n", wide=True),
    Way("utf-32", wide=True),
    Way("utf-16", "\r\n", tabs=True, wide=True),
)
PLAIN_WAYS = (Way("utf-16"), Way("utf-8", "\r\n"), Way("utf-32", "\r\n", tabs=True))
"""For what does not parse: where a statement begins is then told by how its line begins."""


@dataclass(frozen=True)
class Written:
    """A text as a way writes it; `new` and `old` map offsets there and back."""

    way: Way
    fixture: str
    text: str
    new: tuple[int, ...]
    old: tuple[int, ...]

    @property
    def lines(self) -> LineIndex:
        """The text as the server gets it."""
        return LineIndex.of(self.text, self.way.encoding)

    def position(self, offset: int) -> types.Position:
        """Where an offset of the fixture is to the client."""
        at = self.new[offset]
        starts = [0, *(end.end() for end in _LINE_END.finditer(self.text))]
        line = sum(1 for start in starts if start <= at) - 1
        return types.Position(line, self._units(self.text[starts[line] : at]))

    def offset(self, position: types.Position) -> int:
        """The offset in the fixture of a place that the server named; it must exist."""
        return self.old[self.index(position)]

    def index(self, position: types.Position) -> int:
        """The offset in the text as it is written."""
        starts = [0, *(end.end() for end in _LINE_END.finditer(self.text))]
        at = starts[position.line]
        end = starts[position.line + 1] if position.line + 1 < len(starts) else len(self.text) + 1
        for index in range(at, end + 1):
            if self._units(self.text[at:index]) == position.character:
                return index
        raise AssertionError(f"{position} lies within a character or outside of its line")

    def _units(self, text: str) -> int:
        return len(text.encode(_CODEC[self.way.encoding])) // _UNIT[self.way.encoding]

    def edited(self, edits: Sequence[types.TextEdit]) -> str:
        """The fixture after some edits."""
        text = self.text
        places = [(self.index(item.range.start), self.index(item.range.end)) for item in edits]
        for (_, end), (start, _) in pairwise(sorted(places)):
            assert end <= start, "edits overlap"
        pairs = sorted(zip(places, edits, strict=True), key=lambda pair: pair[0])
        for (start, end), edit in reversed(pairs):
            text = text[:start] + edit.new_text + text[end:]
        return self.way.unwrite(text)


@dataclass
class EditorFixture:
    """Files that an editor has open, the cursor in one of them."""

    folder: Path
    files: dict[str, Written]
    cursor: types.Position
    file: str
    head: str
    server: Any = field(repr=False)

    @property
    def uri(self) -> str:
        return self.uri_of(self.file)

    @property
    def written(self) -> Written:
        return self.files[self.file]

    def uri_of(self, file: str) -> str:
        return (self.folder / file).as_uri()

    def file_of(self, uri: str) -> str:
        return uri.rpartition("/")[2]

    def ask(self, feature: ModuleType, kind: type, /, **more: object) -> Any:
        """The answer of a feature to a request about the file, at the cursor where it takes one."""
        document = types.TextDocumentIdentifier(self.uri)
        if "position" in kind.__annotations__:
            more.setdefault("position", self.cursor)
        return self.answer(feature, kind(text_document=document, **more))

    def answer(self, feature: ModuleType, params: object) -> Any:
        """The answer of a feature to a request."""
        return asyncio.run(feature.handle(self.server, params))

    def span(self, place: types.Range, file: str | None = None) -> tuple[int, int]:
        """A range in offsets of the fixture."""
        written = self.files[file or self.file]
        return written.offset(place.start), written.offset(place.end)

    def text(self, place: types.Range, file: str | None = None) -> str:
        """What stands in a range."""
        return self.files[file or self.file].fixture[slice(*self.span(place, file))]

    def type(self, text: str) -> None:
        """Replace the file's text, as an edit does."""
        self.files[self.file] = self.written.way.write(text)
        self.server.core.open_document(self.uri, self.written.text)

    def edited(self, edit: types.WorkspaceEdit) -> dict[str, str]:
        """The texts of the files that an edit changes, after it."""
        changes = cast("Mapping[str, list[types.TextEdit]]", edit.changes)
        return {
            self.file_of(uri): self.files[self.file_of(uri)].edited(edits)
            for uri, edits in changes.items()
        }


def set_up(
    workspace: Workspace, source: str, way: Way = WAYS[0], *, head: str = HEAD
) -> EditorFixture:
    """Open the files of a fixture in an editor; without `$0` in any file, there is no cursor."""
    file, cursor = "prompt.py", 0
    clean: dict[str, str] = {}
    first, others = files(source)
    for name, marked in {"prompt.py": head + first, **others}.items():
        text = MARKS.sub("", marked)
        if "$0" in text:
            file, cursor = name, text.index("$0")
            text = text.replace("$0", "", 1)
        clean[name] = text
    written = {name: way.write(text) for name, text in clean.items()}
    # Each editor has its own, without the documents of another.
    workspace = Workspace.at(*workspace.roots)
    folder = workspace.roots[0]
    server = SimpleNamespace(
        core=workspace,
        previews=SimpleNamespace(all=()),
        client_capabilities=capabilities_of(),
        documents=SimpleNamespace(position_codec=SimpleNamespace(encoding=way.encoding)),
        late_checks=SimpleNamespace(known=lambda _: (), read=lambda _: None),
        messages=(messages := []),
        window_show_message=lambda shown: messages.append(shown.message),
    )
    editor = EditorFixture(folder, written, written[file].position(cursor), file, head, server)
    for name, item in written.items():
        workspace.open_document(editor.uri_of(name), item.text)
    return editor
