"""Lists the prompts of a folder that can be adopted, and those that can't, with the reason."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.ide.adopt import data_files, find
from foldline.ide.adopt.adoption import (
    JINJA_SUFFIXES,
    adopt,
    original_of,
    original_of_texts,
    whole,
)
from foldline.ide.adopt.model import AdoptError, JinjaOptions, Style
from foldline.ide.adopt.uses import Calls, in_workspace, parse
from foldline.ide.analysis.module_analysis import with_line_feeds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.backends.files.base import FileBackend
    from foldline.ide.adopt.find import Candidate
    from foldline.ide.adopt.uses import Module

LARGEST = 1 << 20
"""The most bytes of a file that is read for its prompts."""

_WORDS = re.compile(r"prompt|instruction|system_?message|persona|template|messages", re.I)
_SPEAKS = re.compile(
    r"\b(You are|You're|You will|Your (task|job|role|goal)|Act as|Please|Answer)\b"
)
_SOURCES = re.compile(r"(?i)prompt|you are|instruction|[\"']role[\"']|system")
_DATA = (".json", ".toml", ".yaml", ".yml")
_TEXTS = (".md", ".txt")
_MADE = re.compile(r"(^|/)(package(-lock)?\.json|.*\.lock|pyproject\.toml|\.github/.*)$")


@dataclass(frozen=True, slots=True)
class Listed:
    """A prompt of a folder.

    Attributes:
        target: How `foldline adopt` names it: `FILE`, `FILE:NAME`.
        style: Its shape in words.
        size: Its length in characters.
        fields: The number of its values; None if it can't be adopted as it is.
        reason: Why it can't be, or what has to be said first.
    """

    target: str
    line: int
    style: str
    size: int
    fields: int | None
    reason: str = ""


def prompts_of(files: FileBackend, folder: str = ".") -> Iterator[Listed]:
    """Yield the prompts of the files below a folder that the workspace doesn't ignore."""
    found: list[tuple[str, Module | None, Candidate]] = []
    for path, text in _texts(files, folder):
        try:
            found += _candidates(PurePosixPath(path), with_line_feeds(text))
        except AdoptError as error:
            if "prompt" in path.lower():
                yield Listed(path, 1, "", len(text), None, str(error))
    constants = {
        candidate.name: path
        for path, module, candidate in found
        if module is not None and candidate.scope is None
    }
    calls = in_workspace(files, constants)
    for path, module, candidate in found:
        yield _listed(path, module, candidate, calls.get(candidate.name, Calls([], set())))


def _candidates(path: PurePosixPath, text: str) -> Iterator[tuple[str, Module | None, Candidate]]:
    if path.suffix == ".py":
        module = parse(text)
        for candidate in find.candidates(module):
            if candidate.is_likely and _is_prompt(candidate, _text(module, candidate)):
                yield str(path), module, candidate
        return
    for candidate in data_files.candidates(Path(path), text) or [whole(Path(path), text)]:
        is_data = path.suffix in _DATA and "prompt" not in str(path).lower()
        if candidate.is_likely and (not is_data or _is_prompt(candidate, candidate.texts[0][1])):
            yield str(path), None, candidate


def _text(module: Module, candidate: Candidate) -> str:
    pieces = find.pieces_of(module, candidate.node) if candidate.node is not None else None
    return "".join(piece for piece in pieces or () if isinstance(piece, str))


def _is_prompt(candidate: Candidate, text: str) -> bool:
    by_name = _WORDS.search(candidate.name.rpartition(".")[2] or candidate.name)
    return candidate.style is Style.MESSAGES or bool(by_name or _SPEAKS.search(text[:400]))


def _listed(path: str, module: Module | None, candidate: Candidate, calls: Calls) -> Listed:
    target = path if module is None and not candidate.name_is_key else f"{path}:{candidate.name}"
    text = "".join(part for _, part in candidate.texts)
    if module is not None:
        text = ast.get_source_segment(module.text, candidate.node) or "" if candidate.node else ""
    line, label = candidate.line, candidate.style.label
    try:
        if module is not None:
            original = original_of(module, candidate, None, calls)
        else:
            original = original_of_texts(Path(path), candidate, None, JinjaOptions())
        adoption = adopt(original)
    except AdoptError as error:
        return Listed(target, line, label, len(text), None, str(error))
    reason = "; ".join(lost.partition("\n")[0] for lost in original.lost if "message" in lost[:7])
    label = original.style.label
    return Listed(target, line, label, len(text), len(adoption.plan.fields), reason)


def _texts(files: FileBackend, folder: str) -> Iterator[tuple[str, str]]:
    for stamp in files.walk_folder(files.resolve(folder)):
        path = PurePosixPath(stamp.path)
        is_text = path.suffix in _TEXTS and "prompt" in stamp.path.lower()
        is_known = path.suffix in (".py", ".prompty", ".prompt", *_DATA, *JINJA_SUFFIXES)
        if not (is_text or is_known) or _MADE.search(stamp.path):
            continue
        try:
            source = files.read_source(stamp.path)
        except PathError:
            continue
        told = "prompt" in stamp.path.lower() or _SOURCES.search(source.text)
        if len(source.data) <= LARGEST and told:
            yield stamp.path, source.text
