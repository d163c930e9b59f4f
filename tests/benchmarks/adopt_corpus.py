"""Adopts prompts of public projects, and compares the texts with those that the projects make.

    uv run --group corpus python -m tests.benchmarks.adopt_corpus [--mirrors DIR] [--write] [WORD…]

`tests/plugins/adopt/corpus.jsonl` has the prompts by address, their shape, who fills them in, and
what is expected of `foldline adopt`. The projects are fetched once from GitHub, or read from bare
mirrors `DIR/OWNER+NAME`. Each prompt is rendered by its project's means (`prompt_sources.py`) and
as adopted, for seven values of each field. `--write` puts the table into ADOPTING.md; a word
selects the prompts whose address or shape has it. The exit status is 1 if one isn't as expected.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from jinja2 import meta

from foldline.agent.scan import root_of
from foldline.backends.files.local import LocalFileBackend
from foldline.plugins.adopt.adoption import Adoption, adopt, compare, read
from foldline.plugins.adopt.model import AdoptError, JinjaOptions, Kind, Style

from ..backends.corpora import folder
from .prompt_sources import Source, SourceError, Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "plugins" / "adopt" / "corpus.jsonl"
PAGE = ROOT / "tests" / "benchmarks" / "ADOPTING.md"
BEGIN, END = "<!-- corpus -->", "<!-- /corpus -->"
VALUES = (
    "plain",
    "one\ntwo\n\n  three\nfour",
    "$5 ${x} {y} {{z}}",
    "",
    "# Heading",
    "  blanks around  ",
    "\n",
)
_SUFFIXES = {
    *(".py", ".md", ".txt", ".j2", ".jinja", ".jinja2", ".yaml", ".yml", ".toml", ".json"),
    *(".prompt", ".prompty", ".tmpl"),
}
_LARGEST = 1 << 20
OUTCOMES = ("right", "asks", "refused", "differs", "wrong")


@dataclass(frozen=True)
class Entry:
    """A prompt of a public project, and what is expected of its adoption.

    Attributes:
        fill: Who fills it in; see `Source`.
        expect: `same`, `asks`, `differs: WHAT` or `refused: REASON`.
        sections: Those of the new prompt, and its fields; where it asks, with the right style.
        left_out: The messages that a prompt can't have, which adopting names.
        numbers: The variables of a template that are numbers.
    """

    repo: str
    commit: str
    path: str
    name: str | None
    shape: str
    fill: str
    expect: str
    fields: int = 0
    sections: int = 0
    left_out: int = 0
    arguments: Sequence[str] = ()
    numbers: Sequence[str] = ()
    options: Mapping[str, bool] | None = None

    @property
    def target(self) -> str:
        return self.path if self.name is None else f"{self.path}:{self.name}"


@dataclass(frozen=True)
class Outcome:
    """What adopting did: an outcome, and in words what it said or what differs."""

    kind: str
    what: str = ""
    fields: int = 0
    sections: int = 0
    left_out: int = 0

    def is_expected(self, entry: Entry) -> bool:
        """Return True if it is what the corpus says."""
        expected, _, what = entry.expect.partition(": ")
        kind = {"same": "right"}.get(expected, expected)
        counts = (self.fields, self.sections, self.left_out)
        is_same = counts == (entry.fields, entry.sections, entry.left_out)
        return kind == self.kind and what in self.what and (is_same or self.kind == "refused")


def entries() -> list[Entry]:
    """Return the corpus."""
    found = []
    for line in CORPUS.read_text("utf-8").splitlines():
        known = json.loads(line)
        found.append(Entry(**known))
    return found


def project(repo: str, commit: str, mirrors: Path | None) -> Path:
    """Return the folder with the texts of a project at a commit, which is made once."""
    name = repo.replace("/", "+")
    place = folder() / "prompts" / f"{name}-{commit[:12]}"
    if place.is_dir():
        return place
    git = None
    if mirrors is not None:
        folders = (mirrors / name, mirrors / name / "repo", mirrors / name / "repo" / ".git")
        git = next((one for one in folders if (one / "HEAD").is_file()), None)
    if git is None:
        git = folder() / "prompts" / f"{name}.git"
        _git(git, "init", "--quiet", "--bare", str(git))
        _git(git, "fetch", "--quiet", "--depth=1", f"https://github.com/{repo}", commit)
    part = place.with_suffix(".part")
    part.mkdir(parents=True, exist_ok=True)
    (part / ".git").mkdir(exist_ok=True)  # Marks the root of the workspace.
    for path, data in _files(git, commit):
        file = part / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    part.rename(place)
    return place


def _git(git: Path, *arguments: str, given: bytes | None = None) -> bytes:
    # A mirror may lack large files, and isn't asked to fetch them.
    environment = os.environ | {"GIT_NO_LAZY_FETCH": "1", "GIT_DIR": str(git)}
    done = subprocess.run(
        ["git", *arguments], input=given, capture_output=True, env=environment, check=False
    )
    if done.returncode:
        raise SystemExit(f"git {arguments[0]} for {git.name}: {done.stderr.decode()}")
    return done.stdout


def _files(git: Path, commit: str) -> Iterable[tuple[str, bytes]]:
    listed = _git(git, "ls-tree", "-r", "-z", commit).split(b"\0")[:-1]
    pairs = [line.split(b"\t", 1) for line in listed if line.startswith(b"100")]
    wanted = [
        (head.split()[2], path.decode())
        for head, path in pairs
        if PurePosixPath(path.decode(errors="replace")).suffix.lower() in _SUFFIXES
    ]
    shas = b"".join(sha + b"\n" for sha, _ in wanted)
    checked = _git(git, "cat-file", "--batch-check", given=shas).split(b"\n")
    there = [
        pair
        for pair, line in zip(wanted, checked, strict=False)
        if not line.endswith(b"missing") and int(line.split()[2]) <= _LARGEST
    ]
    shas = b"".join(sha + b"\n" for sha, _ in there)
    data, position = _git(git, "cat-file", "--batch", given=shas), 0
    for _, path in there:
        end = data.index(b"\n", position)
        size = int(data[position:end].split()[2])
        yield path, data[end + 1 : end + 1 + size]
        position = end + size + 2


async def outcome(entry: Entry, root: Path) -> Outcome:
    """Adopt a prompt, and compare its texts with those of its source."""
    options = None if entry.options is None else JinjaOptions(**entry.options)
    file = root / entry.path

    async def adopted(style: Style | None) -> Adoption:
        files = LocalFileBackend(root_of(file))
        original = read(file, name=entry.name, style=style, options=options, files=files)
        return await compare(adopt(original))

    asked = ""
    try:
        adoption = await adopted(None)
    except AdoptError as error:
        fill = {"f-string": "f-string", "handlebars": "jinja"}.get(entry.fill, entry.fill)
        if fill not in error.styles:
            return Outcome("refused", str(error))
        asked = str(error)
        try:
            adoption = await adopted(Style(fill))
        except AdoptError as refused:
            return Outcome("refused", str(refused))
    plan, proof = adoption.plan, adoption.proof
    counts = (len(plan.fields), len(list(plan.walk())), plan.left_out)
    if proof.failure or proof.difference:
        return Outcome("differs", proof.failure or proof.difference, *counts)
    source = Source(file, entry.name, entry.fill, entry.arguments, entry.numbers, entry.options)
    try:
        difference = differing(adoption, source)
    except Exception as error:
        # Whatever a project's template raises is shown.
        difference = f"{type(error).__name__}: {error}"
    if difference:
        return Outcome("wrong", difference, *counts)
    return Outcome("asks" if asked else "right", asked, *counts)


def differing(adoption: Adoption, source: Source) -> str:
    """Return the first texts that differ, but for what the proof names; empty if none do."""
    scope: dict[str, Any] = {"__name__": "adopted"}
    exec(compile(adoption.text, "adopted.py", "exec", dont_inherit=True), scope)
    plan = adoption.plan
    makes = _template_values if any(one.source for one in plan.original.messages) else _plain_values
    for place in range(len(VALUES)):
        params, values = makes(adoption, source, scope, place)
        shown = scope[plan.variable].render(*([scope[plan.class_name](**params)] if params else ()))
        new = {one.role: one.text for one in shown.messages if one.text.strip()}
        given = [str(value) for value in values.values()]
        texts = islice(source.texts(values), len(plan.original.messages))
        old = {role: text for role, text in texts if text.strip()}
        if list(new) != list(old):
            return f"roles {list(new)} for {list(old)}"
        lines = any("\n" in value for value in given)
        for role, text in old.items():
            made, wanted = (_without(one, adoption.proof.but, lines) for one in (new[role], text))
            if made != wanted:
                return _first_difference(wanted, made)
    return ""


def _without(text: str, but: Iterable[str], lines: bool) -> str:
    told = " ".join(but)
    if "\\r\\n" in told:
        text = text.replace("\r\n", "\n")
    if "indentation" in told and ("all lines share" in told or lines):
        text = re.sub(r"^[ \t]+", "", text, flags=re.M)
    if "blanks at the ends of lines" in told:
        text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    if "blank lines where sections meet" in told:
        text = re.sub(r"\n(?:[ \t]*\n)+", "\n", text)
    return text.strip() if "at its ends" in told else text


def _first_difference(wanted: str, made: str) -> str:
    place = next((i for i, (a, b) in enumerate(zip(wanted, made, strict=False)) if a != b), None)
    place = min(len(wanted), len(made)) if place is None else place
    start = max(0, place - 40)
    return f"the source has {wanted[start : place + 40]!r}, the prompt {made[start : place + 40]!r}"


def _sample(place: int, number: int) -> str:
    value = VALUES[(place + number) % len(VALUES)]
    return f"{value} {number}" if value == "plain" else value


_Made = tuple[dict[str, Any], dict[str, Any]]


def _plain_values(
    adoption: Adoption, source: Source, scope: Mapping[str, Any], place: int
) -> _Made:
    """Return values of the fields, and the same by the expressions of the source."""
    params, values = {}, {}
    for number, field in enumerate(adoption.plan.fields):
        value: Any = _sample(place, number)
        value = {"int": place, "float": place / 2, "bool": bool(place % 2)}.get(field.type, value)
        params[field.name] = values[field.source] = value
    return params, values


def _template_values(
    adoption: Adoption, source: Source, scope: Mapping[str, Any], place: int
) -> _Made:
    """Return values of a Jinja template, and the fields that they give."""
    plan, environment = adoption.plan, source.jinja()
    known = {field.source: field.type for field in plan.fields}
    texts = "\n".join(source.templates())
    trees = map(environment.parse, source.templates())
    names = sorted(set().union(*map(meta.find_undeclared_variables, trees)) - {"range"})
    values: dict[str, Any] = {}
    for number, name in enumerate(names):
        sample = _sample(place, number)
        is_plain = not re.search(rf"\b{name}\s*[.\[(]|\bin\s+{name}\b", texts)
        values[name] = sample if is_plain else Thing(sample)
        if name in source.numbers or known.get(name) in ("int", "float"):
            values[name] = place / 2 if known.get(name) == "float" else place

    def shown(template: str, **more: Any) -> str:
        return environment.from_string(plan.original.preamble + template).render(values | more)

    params: dict[str, Any] = {}
    for field in plan.fields:
        rows: list[Any] = []
        if field.items is not None:
            parts = field.items.fields.all
            sets = "".join(
                f"{{% set p{n} %}}{_shown(part)}{{% endset %}}" for n, part in enumerate(parts)
            )
            given = ", ".join(f"p{n}" for n in range(len(parts)))
            shown(
                f"{{% {field.items.head} %}}{sets}{{{{ _({given}) }}}}{{% endfor %}}", _=_add(rows)
            )
            item = scope[field.items.class_name]
            fields = [(part.name, part.type) for part in parts]
            params[field.name] = tuple(
                item(
                    **{
                        name: _typed(text, kind)
                        for (name, kind), text in zip(fields, row, strict=True)
                    }
                )
                for row in rows
            )
        elif field.type.startswith("Annotated[tuple"):
            shown(f"{{% for one in {field.source} %}}{{{{ _(one) }}}}{{% endfor %}}", _=_add(rows))
            params[field.name] = tuple(str(row[0]) for row in rows)
        else:
            params[field.name] = _typed(shown(_shown(field)), field.type)
    return params, values


def _add(rows: list[Any]) -> Callable[..., str]:
    def add(*row: Any) -> str:
        rows.append(row)
        return ""

    return add


def _shown(field: Any) -> str:
    if field.kind is Kind.REMAINDER:
        return str(field.source)
    if field.type == "bool":
        return f"{{% if {field.source} %}}1{{% endif %}}"
    return f"{{{{ {field.source} }}}}"


def _typed(text: Any, kind: str) -> Any:
    if kind == "bool":
        return str(text) == "1"
    return {"int": int, "float": float}.get(kind, str)(text)


def table(found: Sequence[tuple[Entry, Outcome]]) -> str:
    """Return the outcomes by shape, as Markdown."""
    shapes = list(dict.fromkeys(entry.shape for entry, _ in found))
    counts = Counter((entry.shape, result.kind) for entry, result in found)
    lines = ["| Shape | Tried | Right | Asks | Refused | Differs, and says so | Wrong |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|")

    def row(shape: str, numbers: Sequence[int]) -> str:
        return f"| {shape} | {sum(numbers)} | {' | '.join(str(n or '') for n in numbers)} |"

    rows = [[counts[shape, kind] for kind in OUTCOMES] for shape in shapes]
    lines += [row(shape, numbers) for shape, numbers in zip(shapes, rows, strict=True)]
    lines.append(row("**All**", [sum(column) for column in zip(*rows, strict=True)]))
    return "\n".join(lines)


def write(text: str) -> None:
    """Put the table into the page, between its marks."""
    page = PAGE.read_text("utf-8")
    block = f"{BEGIN}\n\n{text}\n\n{END}"
    if BEGIN not in page:
        page = f"{page.rstrip()}\n\n## What has been tried\n\n{BEGIN}{END}\n"
    made = re.sub(f"{BEGIN}.*?{END}", lambda _: block, page, flags=re.DOTALL)
    PAGE.write_text(made, "utf-8")


async def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirrors", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args(arguments)
    found: list[tuple[Entry, Outcome]] = []
    for entry in entries():
        whole = f"{entry.repo}:{entry.target} {entry.shape}"
        if options.words and not any(word in whole for word in options.words):
            continue
        try:
            result = await outcome(entry, project(entry.repo, entry.commit, options.mirrors))
        except (SourceError, OSError) as error:
            result = Outcome("wrong", f"{type(error).__name__}: {error}")
        found.append((entry, result))
        if not result.is_expected(entry):
            counts = (
                f"{result.fields} fields, {result.sections} sections, {result.left_out} left out"
            )
            print(f"{entry.repo}:{entry.target} ({entry.shape})")
            print(f"  expected {entry.expect}; {result.kind} ({counts}): {result.what[:600]}")
    text = table(found)
    print(f"\n{text}")
    projects = len({entry.repo for entry, _ in found})
    bad = sum(not result.is_expected(entry) for entry, result in found)
    print(f"\n{len(found)} prompts of {projects} projects; {bad} not as expected")
    if options.write:
        write(f"{len(found)} prompts of {projects} public projects:\n\n{text}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
