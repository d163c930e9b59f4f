"""The files that a file imports, by the text of its import statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import join, normpath

from foldline.backends.base.languages import SCRIPTS, language_of

_PYTHON = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<module>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^()]{0,4000}\)|[^\n(]*)"
    rb"|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)
_SCRIPT = re.compile(
    rb"(?:\bfrom|\bimport|\brequire[ \t]*\(|\bimport[ \t]*\()[ \t]*[\"'](\.{1,2}/[^\"'\n]{1,200})"
)
_RUST = re.compile(
    rb"^[ \t]*(?:pub(?:\([a-z]+\))?[ \t]+)?(?:mod[ \t]+(\w+)[ \t]*;"
    rb"|use[ \t]+(?:crate|super|self)::([\w:]+))",
    re.MULTILINE,
)
_MOST = 400


def imported(path: str, data: bytes) -> Iterator[tuple[str, ...]]:
    """Places that the file imports, in parts: modules from the top, or their last parts."""
    language = language_of(path)
    if language == "python":
        yield from _python(path, data)
    elif language in SCRIPTS:
        folder = path.rpartition("/")[0]
        for match in _matches(_SCRIPT, data):
            target = normpath(join(folder, match[1].decode("utf-8", "replace")))
            *folders, name = target.split("/")
            yield (*folders, name.partition(".")[0] or name)
    elif language == "rust":
        for match in _matches(_RUST, data):
            named = (match[1] or match[2]).decode("utf-8", "replace")
            yield tuple(part for part in named.split("::") if part)


def _python(path: str, data: bytes) -> Iterator[tuple[str, ...]]:
    package = path.split("/")[:-1]
    for match in _matches(_PYTHON, data):
        if (modules := match["modules"]) is not None:
            for module in modules.decode("utf-8", "replace").split(","):
                if module.strip():
                    yield tuple(module.split()[0].split("."))
            continue
        module = match["module"].decode("utf-8", "replace")
        name = module.lstrip(".")
        above = len(module) - len(name)
        base = package[: len(package) - above + 1] if above else []
        dotted = (*base, *filter(None, name.split(".")))
        if dotted:
            yield dotted
        for part in re.findall(r"\w+", match["names"].decode("utf-8", "replace")):
            yield (*dotted, part)


def _matches(pattern: re.Pattern[bytes], data: bytes) -> Iterator[re.Match[bytes]]:
    for number, match in enumerate(pattern.finditer(data)):
        if number == _MOST:
            return
        yield match
