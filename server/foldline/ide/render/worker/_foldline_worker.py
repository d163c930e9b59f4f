"""Carries out requests about prompt modules, in the user's interpreter.

Started by its path, so that it uses only the standard library and, in its forks, the user's own
foldline. A request on standard input is a line with a length in bytes, then that many bytes of
JSON. Its answer is one line on standard output that starts with the request's token. EOF before the
answer: the client is gone; any byte: cancel. `kept` names the overlays that are as the last request
had them.

With `--once` it carries out one request and exits. Otherwise it stays, and imports the installed
packages that the user's module needed, so that the next fork has them from the start. If one of
them starts a thread, a second line with the token names it, and the worker exits.
"""

import json
import os
import sys
from io import RawIOBase

# An interpreter in safe-path mode doesn't search the script's folder.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120

import _foldline_identity
import _foldline_preload
import _foldline_supervisor
from _foldline_json import encoded

# Exit statuses: installed packages have changed; forking isn't safe any more.
STALE, UNSAFE = 75, 76


def main() -> int:
    requests, answers = _claim_standard_streams()
    overlays: dict[str, str] = {}
    preload = None if "--once" in sys.argv else _foldline_preload.Preload()
    with os.fdopen(requests, "rb", buffering=0) as stream:
        # Unbuffered: during a request, the supervisor reads cancellations from this pipe.
        while size := stream.readline():
            request = json.loads(_read(stream, int(size)))
            if "file" not in request:
                continue  # A cancellation that came after the answer.
            kept = {path: overlays[path] for path in request.pop("kept", ())}
            request["overlays"] = overlays = {**kept, **request["overlays"]}
            if preload is not None and preload.is_stale():
                return STALE
            modules = _foldline_supervisor.supervise(request, requests, answers)
            if modules is None or preload is None:
                return 0
            threaded = preload.add(modules)
            if threaded is not None:
                _foldline_supervisor.send(answers, request, encoded(threaded))
                return UNSAFE
            # Cached while no client waits, so that the next fork has it.
            _foldline_identity.identity()
    return 0


def _read(stream: RawIOBase, size: int) -> bytes:
    data = b""
    while len(data) < size and (chunk := stream.read(size - len(data))):
        data += chunk
    return data


def _claim_standard_streams() -> tuple[int, int]:
    """Return private descriptors for requests and answers, before anything can print to them."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # Skips the exit handlers of imported packages.
    os._exit(status)
