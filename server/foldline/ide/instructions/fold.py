"""Instruction files folded for clients that can't fold, and the way back."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from foldline.backends.parsers.markdown import read_markdown
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.document import START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.instructions.document import InstructionFile, InstructionSection

_ORIGIN = re.compile(
    r"<!-- Generated, edit (?P<source>[^\n]*?) instead and run: "
    r"(?P<command>foldline fold [^\n]*?) \(sha256 (?P<digest>[0-9a-f]{16})\) -->\r?\n"
)
FEWEST_LINES = 12
"""A shorter section isn't worth a summary and a call."""
# One such word in its prose, and a section isn't offered for folding: it may be a rule.
_DIRECTIVE = re.compile(
    r"\b(must|never|always|don.?t|do not|shall|should|avoid|ensure|make sure|required?|need to|"
    r"important|critical|warning|caution|forbidden|mandatory|prefer|only|instead|remember|"
    r"before you|careful|cannot|can.?t|not allowed|rules?|conventions?|guidelines?|policy)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^\W*(add|ask|call|check|commit|create|do|follow|include|keep|look|open|put|read|remove|run|"
    r"set|start|stop|test|treat|try|update|use|verify|wait|write)\b",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a generated file comes from; both paths are from the project's root.

    Attributes:
        opened: The sections that it shows in full.
        digest: The beginning of the source's SHA-256.
        line: The comment that says so, with its line end.
    """

    source: str
    target: str
    opened: tuple[str, ...]
    digest: str
    line: str

    @property
    def command(self) -> str:
        """The command line that writes it."""
        keys = [word for key in self.opened for word in ("--open", key)]
        return shlex.join(["foldline", "fold", self.source, *keys, "--write", self.target])


def generate(file: InstructionFile, target: str, opened: tuple[str, ...] = ()) -> str:
    """Return the folded text of a file with a comment that says where it comes from.

    The comment stands below front matter, which clients read at the beginning only.
    """
    newline = "\r\n" if "\r\n" in file.text else "\n"
    origin = Origin(file.path, target, opened, digest_of(file.text), "")
    line = (
        f"<!-- Generated, edit {file.path} instead and run: {origin.command} "
        f"(sha256 {origin.digest}) -->{newline}"
    )
    if not _ORIGIN.fullmatch(line):
        raise ToolRefused(f"no comment can hold the path {file.path!r}: rename the file")
    text = file.render(opened).text
    at = _head(text)
    return text[:at] + line + text[at:]


def origin_of(text: str) -> Origin | None:
    """Return where a generated file comes from; None for a file that a person wrote."""
    found = _ORIGIN.match(text, _head(text))
    if found is None:
        return None
    try:
        _, _, source, *words = shlex.split(found["command"])
    except ValueError:
        # A person has changed the line.
        return None
    values = dict.fromkeys(zip(words[::2], words[1::2], strict=False))
    opened = tuple(value for option, value in values if option == "--open")
    target = next((value for option, value in values if option == "--write"), "")
    return Origin(source, target, opened, found["digest"], found[0])


def _head(text: str) -> int:
    """Return where the text below front matter begins."""
    front = read_markdown(text).front_matter
    return text.find("\n", front.end) + 1 if front else 0


def digest_of(text: str) -> str:
    """Return what names the version of a text."""
    return sha256(text.encode()).hexdigest()[:16]


def unfold(text: str, file: InstructionFile, opened: tuple[str, ...] = ()) -> str:
    """Return the whole text for a folded one, with what was changed around the folded sections.

    Raises:
        ToolRefused: A folded section isn't there as it was, or more than once.
    """
    rendered = file.render(opened).text
    origin = None if text == rendered else origin_of(text)
    plain = text.replace(origin.line, "", 1) if origin else text
    if plain == rendered:
        return file.text
    parts, at = [], 0
    for section in shown_folded(file, opened):
        folded = file.fold_text(section)
        if plain.count(folded) != 1 or (found := plain.find(folded, at)) < 0:
            raise ToolRefused(
                f"the folded section {section.key!r} was changed: its summary and its text are in "
                f"{file.path}"
            )
        parts += [plain[at:found], file.whole_text(section)]
        at = found + len(folded)
    return "".join([*parts, plain[at:]])


def shown_folded(
    file: InstructionFile, opened: tuple[str, ...] = ()
) -> Iterator[InstructionSection]:
    """Yield the sections that are folded in a text with those sections opened."""
    shown = {block.key for block in file.render(opened).blocks if block.visibility == "SUMMARY"}
    return (section for section in file.sections if section.key in shown)


def candidates(file: InstructionFile) -> Iterator[InstructionSection]:
    """Yield the outermost sections that look like reference: long, and without a directive.

    It's a guess that rather misses one: whether a model can do without is a person's decision.
    """
    end = 0
    for section in file.sections:
        if section.start >= end and section.key != START and is_reference(file, section):
            end = section.end
            yield section


def is_reference(file: InstructionFile, section: InstructionSection) -> bool:
    """Return whether a section has many lines, no directive and hardly an imperative."""
    if any(section.start <= one.start < section.end and one.mark for one in file.sections):
        return False
    lines = sum(bool(line.strip()) for line in file.whole_text(section).splitlines()[1:])
    prose = [
        file.text[part.start : part.end]
        for part in file.markdown.prose
        if section.start <= part.start < section.end
    ]
    if lines < FEWEST_LINES or any(map(_DIRECTIVE.search, prose)):
        return False
    orders = sum(len(_IMPERATIVE.findall(part)) for part in prose)
    return 10 * orders < lines
