"""Standard input and output as the one channel to a client."""

from __future__ import annotations

import io
import logging
import os
import queue
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

log = logging.getLogger(__name__)


def claim_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """The streams to the client, which from now on nothing else in this process can reach.

    Whatever prints later, a library or a child, prints to standard error, and whoever reads
    standard input finds it empty: the protocol's bytes stay its own.
    """
    sys.stdout.flush()
    stdin = os.fdopen(os.dup(0), "rb")
    stdout = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return stdin, stdout


class QueuedWriter(io.BytesIO):
    """A stream that never makes the event loop wait for a client that does not read."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._drain, name="writer", daemon=True)
        self._thread.start()

    def write(self, data: ReadableBuffer) -> int:
        self._queue.put(bytes(data))
        return memoryview(data).nbytes

    def close(self) -> None:
        """Write what is waiting, for two seconds at the most, and close the stream."""
        if not self.closed:
            self._queue.put(None)
            self._thread.join(timeout=2)
            super().close()

    def _drain(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                self._stream.write(data)
                self._stream.flush()
        except OSError as error:
            log.warning("The client stopped reading: %s", error)
