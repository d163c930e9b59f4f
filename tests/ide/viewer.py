"""A client of previews in this process: the commands' handlers over a workspace, without a wire."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pygls.exceptions import JsonRpcException

from foldline.ide.errors import REFUSALS
from foldline.ide.settings import Settings
from foldline.ide.structuring import structure, unstructure
from foldline.ide.workspace import Workspace
from foldline.server.app import COMMANDS
from foldline.server.errors import request_failure
from foldline.server.snapshots import locate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from foldline.ide.previews.state import PreviewState

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
DOCUMENTS = SimpleNamespace(position_codec=SimpleNamespace(encoding="utf-16"))
HANDLERS = {command.COMMAND: command for command in COMMANDS}


class Viewer:
    """A workspace and its previews, in the words of the tests.

    Attributes:
        updates: The states that a client was sent.
        reported: The problems of options that were reported.
    """

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root = root
        self.core = Workspace.at(root, settings=Settings(**settings))
        self.core.locate = partial(locate, encoding="utf-16")
        self.core.report = self._report
        self.previews = self.core.previews
        self.previews.on_update = self._take
        self.updates: list[dict[str, Any]] = []
        self.reported: list[str] = []
        self._updated = asyncio.Event()

    def uri(self, path: str) -> str:
        return (self.root / path).resolve().as_uri()

    def open(self, path: str, text: str | None = None) -> str:
        """Open the file at `path`, or `text` in its place, and return its URI."""
        if text is None:
            text = (self.root / path).read_text(encoding="utf-8")
        self.core.open_document(self.uri(path), text, 1)
        return self.uri(path)

    def change(self, uri: str, text: str, version: int = 2) -> None:
        self.core.open_document(uri, text, version)

    def write(self, path: str, text: str) -> None:
        """Change a file on disk."""
        (self.root / path).write_text(text, encoding="utf-8")
        self.core.changed_on_disk([self.uri(path)])

    def trust(self, *, trusted: bool) -> None:
        self.core.set_trusted(trusted=trusted)

    async def command(self, name: str, /, **arguments: object) -> Any:
        """The answer to `foldline.server.<name>` with one object."""
        handler = HANDLERS[f"foldline.server.{name}"]
        ls: Any = SimpleNamespace(core=self.core, previews=self.previews, documents=DOCUMENTS)
        try:
            answer = await handler.handle(ls, structure(arguments, handler.Arguments))
        except REFUSALS as error:
            raise request_failure(error) from error
        return on_the_wire(answer)

    async def refusal(self, name: str, /, **arguments: object) -> tuple[str, dict[str, Any]]:
        """The message and the data of the error that a command answers."""
        with pytest.raises(JsonRpcException) as caught:
            await self.command(name, **arguments)
        assert isinstance(caught.value.data, dict)
        return caught.value.message, caught.value.data

    async def update(self, count: int) -> dict[str, Any]:
        """The update number `count`, from 1."""
        async with asyncio.timeout(60):
            while len(self.updates) < count:
                self._updated.clear()
                await self._updated.wait()
        return self.updates[count - 1]

    async def stop(self) -> None:
        self.previews.close_all()
        await self.core.stop(5.0)

    def _take(self, state: PreviewState | None) -> None:
        if state is not None:
            self.updates.append(on_the_wire(state))
            self._updated.set()

    def _report(self, problems: Sequence[str]) -> None:
        self.reported += problems


def on_the_wire(value: object) -> Any:
    """The JSON that a client gets."""
    return json.loads(json.dumps(unstructure(value)))


View = Callable[..., Viewer]


@contextlib.asynccontextmanager
async def viewers() -> AsyncIterator[View]:
    """What opens a workspace: `view(root, trusted=True, …)` with its settings."""
    opened: list[Viewer] = []

    def view(root: Path = EXAMPLE, **settings: Any) -> Viewer:
        opened.append(Viewer(root, **settings))
        return opened[-1]

    yield view
    for viewer in opened:
        await viewer.stop()
