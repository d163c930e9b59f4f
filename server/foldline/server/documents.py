"""The open documents: what the editor shows, which may differ from what the disk holds."""

import re
from urllib.parse import unquote

from lsprotocol.types import (
    TextDocumentContentChangeEvent,
    TextDocumentContentChangePartial,
    TextDocumentSyncKind,
)
from pygls.workspace import TextDocument, Workspace

from foldline.server.convert import LineIndex

_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Document(TextDocument):
    """An open document whose lines are LSP's lines.

    The base class splits lines at form feeds and Unicode separators too, so that an edit below one
    would land on the wrong line.
    """

    _index: LineIndex | None = None

    @property
    def index(self) -> LineIndex:
        """The line index of the current text."""
        source = self.source
        if self._index is None or self._index.text is not source:
            self._index = LineIndex.of(source, self.position_codec.encoding)
        return self._index

    def apply_change(self, change: TextDocumentContentChangeEvent) -> None:
        if isinstance(change, TextDocumentContentChangePartial):
            index = self.index
            start = index.offset(change.range.start)
            end = max(start, index.offset(change.range.end))
            self._source = _joined(f"{index.text[:start]}{change.text}{index.text[end:]}")
        else:
            self._source = change.text


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
            sync_kind=TextDocumentSyncKind.Incremental,
            position_codec=self.position_codec,
        )

    def document(self, uri: str) -> Document | None:
        """The open document at `uri`, or None where none is open."""
        document = self.text_documents.get(unquote(uri))
        return document if isinstance(document, Document) else None


def _joined(text: str) -> str:
    """The text with two halves of a character that an edit has brought together as that one."""
    return _HALVES.sub(lambda pair: _character(pair[0]), text)


def _character(halves: str) -> str:
    return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
