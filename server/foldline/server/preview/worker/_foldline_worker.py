"""Carries out one request about a prompt module, in the user's interpreter.

Started by its path, so it is made of the standard library and, in the process that it forks, of the
user's own foldline. The request is one line of JSON on standard input, the answer one line on
standard output. Standard input stays open for as long as somebody waits for the answer.
"""

import json
import os
import sys

# An interpreter that is told to be safe does not look beside the script by itself.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120

import _foldline_supervisor


def main() -> None:
    requests, answers = _claim_standard_streams()
    with os.fdopen(os.dup(requests), "rb", buffering=0) as stream:
        request = json.loads(stream.readline())
    answer = _foldline_supervisor.supervise(request, requests)
    if answer is not None:
        with os.fdopen(answers, "wb") as out:
            out.write(answer + b"\n")


def _claim_standard_streams() -> tuple[int, int]:
    """Private descriptors for the request and the answer, before anything can print on them."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


main()
