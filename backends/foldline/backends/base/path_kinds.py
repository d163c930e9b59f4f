"""Kinds of files by their paths: answers show code first, then its tests, then what tells of it."""

from __future__ import annotations

import re

CODE, TEST, TEXT = range(3)
_TEST = re.compile(
    r"(^|/)(tests?|__tests__|specs?|testing|testdata)/"
    r"|(^|/)(test_[^/]*|conftest)\.py$|[._-](test|tests|spec)\.[^/.]+$|_test\.go$"
)
_TEXT = re.compile(
    r"(^|/)(\.[^/]+|docs?|documentation|changelogs?|changes|news|benchmarks?|benches|examples?"
    r"|samples?|vendor|third[_-]party|dist|generated|__snapshots__)/"
    r"|(^|/)(\.[^/]*|readme|change(s|log)|history|licen[cs]e|copying|authors)[^/]*$"
    r"|\.(md|mdx|rst|txt|adoc|lock|map|log|csv|svg|json|ya?ml|toml|po|pot|ini|cfg|sum|1"
    r"|png|jpe?g|gif|ico|webp|pdf|zip|gz|woff2?|ttf|otf)$"
    r"|[._-]min\.[^/.]+$",
    re.IGNORECASE,
)


def is_test_path(path: str) -> bool:
    """Return whether the path is that of a test by the usual conventions."""
    return _TEST.search(path) is not None


def path_kind(path: str) -> int:
    """`CODE`, `TEST` or `TEXT`: documents, data, benchmarks, and what is generated or hidden."""
    if _TEXT.search(path) is not None:
        return TEXT
    return TEST if is_test_path(path) else CODE
