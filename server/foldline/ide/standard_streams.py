"""Standard input and output, reserved for the client."""

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
    """Return the streams to the client, and make them unreachable for other code.

    From then on, libraries and children that print write to standard error, and standard input is
    empty for them: these streams carry only the protocol's bytes.
    """
    sys.stdout.flush()
    stdin = os.fdopen(os.dup(0), "rb")
    stdout = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return stdin, stdout


class QueuedWriter(io.BytesIO):
    """A stream whose writes never wait for a client that doesn't read."""

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
        """Write the queued data, within two seconds, and close the stream."""
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
