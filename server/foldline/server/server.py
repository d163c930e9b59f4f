"""The server of one client: its documents, its files and what it allows."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pygls.exceptions import FeatureRequestError, JsonRpcException
from pygls.lsp.server import LanguageServer

from foldline.ide.render.renderer import Renderer
from foldline.ide.settings import Settings
from foldline.server.diagnostics_publisher import DiagnosticsPublisher
from foldline.server.focus import Focus
from foldline.server.page.pages import Pages
from foldline.server.previews import PreviewHub
from foldline.server.prompt_index import PromptIndex
from foldline.server.protocol import FoldlineProtocol, message_converter
from foldline.server.virtual_documents import VirtualDocuments
from foldline.server.workspace import WorkspaceFiles, local_path

if TYPE_CHECKING:
    from pygls.server import ServerErrors

    from foldline.server.documents import Documents

log = logging.getLogger(__name__)


class FoldlineServer(LanguageServer):
    """State shared by the features and commands of one client.

    Attributes:
        settings: What the client configured; also whether it trusts the workspace.
        focus: The document and the prompt that the user last dealt with.
        files: The workspace's files, open buffers before the disk.
        renderer: Runs prompts in the user's interpreter.
        previews: What somebody looks at.
        pages: Which of them are web pages too.
        virtual: Prompts that the client shows as documents.
        reported: Faults in the options that the user has been told of.
        prompts: What is known of prompts without running them.
        diagnostics: Tells the client what is wrong with them.
    """

    protocol: FoldlineProtocol

    def __init__(self, version: str) -> None:
        super().__init__(
            "foldline", version, protocol_cls=FoldlineProtocol, converter_factory=message_converter
        )
        self.settings = Settings()
        self.settings_problems: tuple[str, ...] = ()
        self.focus = Focus()
        self.files = WorkspaceFiles()
        self.renderer = Renderer()
        self.previews = PreviewHub()
        self.pages = Pages()
        self.virtual = VirtualDocuments()
        self.reported: set[str] = set()
        self.prompts = PromptIndex(self.files)
        self.diagnostics = DiagnosticsPublisher(self)

    @property
    def documents(self) -> Documents:
        return self.protocol.get_documents()

    def take_document(self, uri: str) -> None:
        """Let the editor's text of the document at `uri` stand for the disk's, everywhere."""
        document = self.documents.document(uri)
        self.focus.document(uri)
        path = local_path(uri)
        if document is not None and path is not None:
            self.files.set_overlay(path, document.source)
        if document is not None:
            self.prompts.take(uri, document.index, document.version)
            self.diagnostics.schedule()
        self.show_again()

    def drop_document(self, uri: str) -> None:
        """Let the disk's text of the document at `uri` stand for itself again."""
        self.focus.forget(uri)
        path = local_path(uri)
        if path is not None:
            self.files.remove_overlay(path)
        self.prompts.drop(uri)
        self.diagnostics.schedule()
        self.show_again()

    def show_again(self) -> None:
        """Render what is looked at again: any document may be one that a prompt imports."""
        self.previews.document_changed()
        self.virtual.changed(self)

    def close(self) -> None:
        """End everything that goes on for this client. May be called twice."""
        self.pages.close()
        self.virtual.close()
        self.previews.close_all()
        self.renderer.close()
        self.files.close()

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """Log what no request waits for, rather than open a message box for it."""
        if source is not FeatureRequestError:
            log.error("%s: %s", source.__name__, error)
        if source is JsonRpcException:
            self.protocol.answer_unreadable(error)
