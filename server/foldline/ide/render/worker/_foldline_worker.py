"""Carries out requests about prompt modules, in the user's interpreter.

Started by its path, so it is made of the standard library and, in the processes that it forks, of
the user's own foldline. A request on standard input is a line with its length in bytes, and so many
bytes of JSON; its answer is one line on standard output, which begins with the request's token.
Standard input stays open for as long as somebody waits for answers; what comes before the answer
takes the request back.

With the argument `--once` it carries out one request and leaves. Without, it stays, and imports the
installed packages that the user's module needed, so that the next process has them from the start.
"""

import json
import os
import sys
from io import RawIOBase

# An interpreter that is told to be safe does not look beside the script by itself.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120

import _foldline_identity
import _foldline_preload
import _foldline_supervisor

# Exit statuses that tell the server what to do next time.
STALE, UNSAFE = 75, 76


def main() -> int:
    requests, answers = _claim_standard_streams()
    warmth = None if "--once" in sys.argv else _foldline_preload.Warmth()
    with os.fdopen(requests, "rb", buffering=0) as stream:
        # Nothing is buffered: what takes a request back is for whoever watches the pipe meanwhile.
        while size := stream.readline():
            request = json.loads(_read(stream, int(size)))
            if "file" not in request:
                continue  # What it takes back was answered already.
            if warmth is not None and warmth.is_stale():
                return STALE
            modules = _foldline_supervisor.supervise(request, requests, answers)
            if modules is None or warmth is None:
                return 0
            if not warmth.take(modules):
                return UNSAFE
            # Known by now, or found out while nobody waits: what is forked next has it.
            _foldline_identity.identity()
    return 0


def _read(stream: RawIOBase, size: int) -> bytes:
    data = b""
    while len(data) < size and (chunk := stream.read(size - len(data))):
        data += chunk
    return data


def _claim_standard_streams() -> tuple[int, int]:
    """Private descriptors for requests and answers, before anything can print on them."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # Whatever an imported package has left to do at the end, nobody waits for it.
    os._exit(status)
