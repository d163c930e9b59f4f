"""The open documents: what the editor shows, which may differ from what the disk holds."""

import re
from urllib.parse import unquote

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from foldline.server.convert import LineIndex, LineStarts, offset_at

_FIRST_HALF = re.compile("[\ud800-\udbff]")
_LAST_HALF = re.compile("[\udc00-\udfff]")
_HALVES = re.compile(_FIRST_HALF.pattern + _LAST_HALF.pattern)


class Document(TextDocument):
    """An open document whose lines are LSP's lines.

    The base class splits lines at form feeds and Unicode separators too, so that an edit below one
    would land on the wrong line.
    """

    _index: LineIndex | None = None
    _starts: LineStarts | None = None

    @property
    def index(self) -> LineIndex:
        """The line index of the current text."""
        source = self.source
        if self._index is None or self._index.text is not source:
            self._index = LineIndex.of(source, self.position_codec.encoding)
        return self._index

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Take over a change; what that costs depends on the change, but for one copy of the text.

        The event loop waits meanwhile, and editors send a change for each key.
        """
        if not isinstance(change, types.TextDocumentContentChangePartial):
            self._source = change.text
            self._starts = None
            return
        source = self.source
        if self._starts is None:
            self._starts = LineStarts(source)
        encoding = self.position_codec.encoding or types.PositionEncodingKind.Utf16
        start = offset_at(source, self._starts, change.range.start, encoding)
        end = max(start, offset_at(source, self._starts, change.range.end, encoding))
        # Two halves of a character that the edit brings together are that character.
        low = start - (start > 0 and _FIRST_HALF.match(source, start - 1) is not None)
        high = end + (_LAST_HALF.match(source, end) is not None)
        text = _joined(f"{source[low:start]}{change.text}{source[end:high]}")
        self._source = f"{source[:low]}{text}{source[high:]}"
        self._starts.edit(low, high, self._source, len(text))


class Documents(Workspace):
    """The workspace of one client, made of our documents."""

    def _create_text_document(
        self,
        doc_uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
    ) -> Document:
        return Document(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            sync_kind=types.TextDocumentSyncKind.Incremental,
            position_codec=self.position_codec,
        )

    def document(self, uri: str) -> Document | None:
        """The open document at `uri`, or None where none is open."""
        document = self.text_documents.get(unquote(uri))
        return document if isinstance(document, Document) else None


def _joined(text: str) -> str:
    """The text with two halves of a character that stand side by side as that one."""
    return _HALVES.sub(
        lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text
    )
