"""Lists the prompts of a folder that can be adopted, and those that can't, with the reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path, PurePosixPath

from foldline.backends.base.path_kinds import is_test_path
from foldline.backends.errors import PathError
from foldline.backends.files.base import FileBackend
from foldline.backends.files.source import Source
from foldline.backends.formatting.parts import counted
from foldline.plugins.adopt.adoption import (
    Adoption,
    adopt,
    module_of,
    order_mark,
    original_of,
    prompts_in,
)
from foldline.plugins.adopt.data_files import JINJA_SUFFIXES
from foldline.plugins.adopt.find import Candidate
from foldline.plugins.adopt.model import AdoptError, Style
from foldline.plugins.adopt.scopes import Calls, names_in
from foldline.plugins.adopt.uses import in_workspace
from foldline.records import record

LARGEST = 1 << 20
"""The most bytes of a file that is read for its prompts."""

MOST = 2_000
"""The most prompts of a file that are listed; the others are counted."""
LONG = 200
"""A text of so many characters is a prompt if `.format` or a template fills it in."""
_WORDS = re.compile(r"prompt|instruction|system_?message|persona|messages", re.I)
_SPEAKS = re.compile(
    r"\b(You are|You're|You will|Your (task|job|role|goal)|Act as|Please|Answer)\b"
)
_SOURCES = re.compile(
    r"(?i:(?:prompt|instruction|system_?message|persona)\w*[\"']?\s*[=(:])"
    r"|[\"']role[\"']|from_messages|SystemMessage|" + _SPEAKS.pattern
)
"""What a file has that is worth parsing."""
_DATA = (".json", ".toml", ".yaml", ".yml")
_TEXTS = (".md", ".txt")
_TEMPLATES = (".prompty", ".prompt", *JINJA_SUFFIXES)
_MADE = re.compile(r"(^|/)(package(-lock)?\.json|.*\.lock|pyproject\.toml|\.github/.*)$")


@record
class Listed:
    """A prompt of a folder.

    Attributes:
        target: How `foldline adopt` names it: `FILE`, `FILE:NAME`.
        name: The name in the file; empty for a file that is one prompt.
        style: Its shape in words.
        size: Its length in characters, without its values.
        is_longer: True if its values, or what is added to it elsewhere, come to that.
        fields: The number of its values; None if it can't be adopted as it is.
        reason: Why it can't be, or what has to be said first.
        more: For a file: how many texts of it aren't listed, as nothing says that they are prompts,
            or as they are a test's.
    """

    target: str
    name: str
    line: int
    style: str
    size: int
    is_longer: bool = False
    fields: int | None = None
    reason: str = ""
    more: int = 0
    adoption: Adoption | None = None

    @property
    def path(self) -> str:
        """The file."""
        return self.target.removesuffix(f":{self.name}") if self.name else self.target

    def as_data(self) -> dict[str, object]:
        """Return all but the new module, for programs."""
        names = [one.name for one in fields(self)]
        return {name: getattr(self, name) for name in names if name != "adoption"}


def prompts_of(files: FileBackend, folder: str = ".") -> Iterator[Listed]:
    """Yield the prompts of the files below a folder that the workspace doesn't ignore.

    Those of tests are counted, unless the folder is one of tests.
    """
    candidates: list[tuple[str, Candidate]] = []
    more: dict[str, int] = {}
    for source in _sources(files, folder):
        path = source.path
        try:
            if source.note or source.encoding != "utf-8":
                raise AdoptError("it isn't in UTF-8")
            text = f"{order_mark(files.root / path)}{source.text}"
            likely, listed = _candidates(Path(path), text)
            if is_test_path(path) and not is_test_path(f"{folder}/"):
                more[path] = len(listed)
                continue
            candidates += [(path, candidate) for candidate in listed]
            more[path] = len(likely) - len(listed)
        except AdoptError as error:
            if "prompt" in path.lower():
                yield Listed(path, "", 1, "", len(source.text), reason=str(error))
    constants = [(path, candidate.name) for path, candidate in candidates if candidate.is_global]
    calls = in_workspace(files, constants)
    for path, candidate in candidates:
        yield _listed(path, candidate, calls.get((path, candidate.name)))
    for path, number in more.items():
        if number:
            kind = "in tests" if is_test_path(path) else "that may be prompts"
            texts = counted(number, "more text")
            reason = f"{texts} {kind}: name the file (`foldline adopt FILE`)"
            yield Listed(path, "", 1, kind, 0, reason=reason, more=number)


def _candidates(path: Path, text: str) -> tuple[list[Candidate], list[Candidate]]:
    """Return the texts of a file that look like prompts, and those that something says are."""
    is_told = "prompt" in str(path).lower()
    is_named = is_told or path.suffix not in _DATA
    likely = [one for one in prompts_in(path, module_of(path, text)) if one.is_likely]
    is_told_of = [(is_told and one.is_global) if one.is_code else is_named for one in likely]
    pairs = zip(likely, is_told_of, strict=True)
    listed = [one for one, is_known in pairs if is_known or _is_prompt(one)]
    return likely, listed[:MOST]


def _is_prompt(candidate: Candidate) -> bool:
    text = candidate.text
    name = candidate.name if candidate.is_global else candidate.name.rpartition(".")[2]
    by_name = _WORDS.search(name or candidate.name)
    # A long text that calls fill in.
    is_filled = len(text) >= LONG and bool(candidate.calls.styles)
    if candidate.style is Style.MESSAGES or is_filled:
        return True
    return bool(by_name or _SPEAKS.search(text[:400])) and not _is_raised(candidate, name)


def _is_raised(candidate: Candidate, name: str) -> bool:
    """Return True for the message of an error."""
    nodes = () if candidate.is_global or not candidate.is_code else ast.walk(candidate.scope.node)
    return any(isinstance(node, ast.Raise) and name in names_in(node) for node in nodes)


def _listed(path: str, candidate: Candidate, calls: Calls | None) -> Listed:
    name = candidate.name if candidate.name_is_key else ""
    target = f"{path}:{name}" if name else path
    size = len(candidate.text.replace("\0", ""))
    is_longer = size < len(candidate.text) or bool(candidate.refusal)
    listed = Listed(target, name, candidate.line, candidate.style.label, size, is_longer)
    try:
        original = original_of(candidate, calls=calls)
        adoption = adopt(original)
    except AdoptError as error:
        return replace(listed, reason=str(error))
    reason = "; ".join(lost.partition("\n")[0] for lost in original.lost if "message" in lost[:7])
    fields, style = len(adoption.plan.fields), original.style.label
    return replace(listed, style=style, fields=fields, reason=reason, adoption=adoption)


def _sources(files: FileBackend, folder: str) -> Iterator[Source]:
    for stamp in files.walk_folder(files.resolve(folder)):
        path = PurePosixPath(stamp.path)
        is_text = path.suffix in _TEXTS and "prompt" in stamp.path.lower()
        is_known = path.suffix in (".py", *_DATA, *_TEMPLATES)
        if not (is_text or is_known) or _MADE.search(stamp.path):
            continue
        try:
            source = files.load(stamp.path)
        except PathError:
            continue
        # `page.html.j2` and `sshd.conf.j2` make something else.
        is_template = path.suffix in _TEMPLATES and len(path.suffixes) == 1
        told = is_template or "prompt" in stamp.path.lower() or _SOURCES.search(source.text)
        if len(source.data) <= LARGEST and told:
            yield source
