"""Diagnostics, each shown at its place in the source."""

# ruff: noqa: E501 - a fixture reads best as its author would write it.

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.fixtures import cases

from foldline.ide.analysis.project import Project
from foldline.ide.checks import Code, Severity, diagnostics
from foldline.ide.checks.costs import check_costs
from foldline.ide.render.static_request import costed
from foldline.ide.token_counter import token_counter
from foldline.prompts import Fit, OverridesStore, PromptOverride, SectionOverride
from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.descriptor import text_hash
from foldline.prompts.errors import PromptRenderError

if TYPE_CHECKING:
    from tests.ide.conftest import Fixtures


CASES = cases(Path(__file__).with_name("checks.txt"))


# What the cases of the use of a prompt are about.
RENDERED = """
@dataclass
class Q:
    x: str = ""
@dataclass
class R:
    y: str
X = PromptTemplate(ns="a", key="b", sections=[
    MarkdownSection[P](title="T", key="one", template="${name} ${focus}", children=[
        MarkdownSection[Q](title="T", key="two", template="${x}")]),
    Chapter[None](title="T", key="more", sections=[MarkdownSection[None](title="T", key="two", template="t")]),
])
"""


@pytest.mark.parametrize("title", CASES)
def test_what_is_wrong_is_told_at_its_place_and_nothing_else(
    fixtures: Fixtures, title: str
) -> None:
    source = (RENDERED if title.startswith("use:") else "") + CASES[title]
    fixture = fixtures.project(source)
    analysis = fixture.project.analysis("/w/prompt.py")
    assert analysis is not None
    found = [
        (item.place.start, item.place.end, f"{item.code} {item.message}")
        for item in diagnostics(analysis)
        # The fixtures' own head declares fields that few of them use, and their names say little.
        if item.code not in (Code.UNUSED_FIELD, Code.DUPLICATE_PROMPT) or item.code in source
    ]
    text = fixture.files["/w/prompt.py"]
    assert fixtures.render(text, found) == source.partition("#- ")[0]


def test_severities_are_configurable(fixtures: Fixtures) -> None:
    fixture = fixtures.project('MarkdownSection[None](title="", key="K", template="$")\n')
    analysis = fixture.project.analysis(fixture.file)
    assert analysis is not None
    found = diagnostics(
        analysis, severities={Code.INVALID_KEY: Severity.OFF, Code.STRAY_DOLLAR: Severity.HINT}
    )
    assert [
        (diagnostic.code, diagnostic.severity)
        for diagnostic in found
        if diagnostic.code != Code.UNUSED_FIELD
    ] == [
        (Code.INVALID_TITLE, Severity.ERROR),
        (Code.STRAY_DOLLAR, Severity.HINT),
    ]


@pytest.mark.parametrize(
    ("severities", "reported"),
    [
        ({}, True),
        ({Code.UNUSED_IGNORE: Severity.HINT}, True),
        ({Code.UNUSED_IGNORE: Severity.OFF}, False),
        # What is off isn't looked for, so nothing tells if a comment silences it.
        ({Code.INVALID_KEY: Severity.OFF}, False),
    ],
)
def test_a_comment_is_unused_once_what_it_silences_is_mended(
    fixtures: Fixtures, severities: dict[str, Severity], reported: bool
) -> None:
    severities = {**severities, Code.UNUSED_FIELD: Severity.OFF}
    fixture = fixtures.project(
        'S = MarkdownSection[None](title="T", key="K", template="t")'
        "  # foldline: ignore[invalid-key]\n"
    )

    def found_in(text: str) -> list[str]:
        fixture.project.open(fixture.file, text)
        analysis = fixture.project.analysis(fixture.file)
        assert analysis is not None
        return [item.code for item in diagnostics(analysis, severities=severities)]

    assert found_in(fixture.text) == []
    assert found_in(fixture.text.replace('"K"', '"k"')) == [Code.UNUSED_IGNORE] * reported
    # While a statement is being typed, nothing is known of what it uses.
    assert found_in(fixture.text.replace('"K"', '"k"') + "X = (\n") == []
    assert found_in(fixture.text) == []


def test_a_comment_about_tokens_is_never_unused(fixtures: Fixtures) -> None:
    fixture = fixtures.project(
        "X = 1  # foldline: ignore[token-budget, folding-costs-more, cache-order]\n"
    )
    analysis = fixture.project.analysis(fixture.file)
    assert analysis is not None
    assert Code.UNUSED_IGNORE not in {item.code for item in diagnostics(analysis)}


@pytest.mark.parametrize(
    ("source", "title", "expected"),
    [
        ('M = MarkdownSection[P](title="T", key="k", template="${nmae}")', "Change to `name`", "${name}"),
        ('M = MarkdownSection[P](title="T", key="k", template="${nmae}")', "Write it literally, with `$$`", "$${nmae}"),
        ('M = MarkdownSection[P](title="T", key="k", template="${nmae}")', "Add the field `nmae` to `P`", '    focus: str = "security"\n    nmae: str = ""\n'),
        ('M = MarkdownSection[P](title="T", key="k", template="$ 5")', "Write `$$`, a dollar sign", '"$$ 5"'),
        ('M = MarkdownSection(title="T", key="k", template="5")', "Declare that the section has no parameters: `[None]`", "MarkdownSection[None](title"),
        ('M = MarkdownSection[P](title="T", key="A b", template="5")', "Change the key to 'a-b'", 'key="a-b"'),
        ('class Q: x: int\nM = MarkdownSection[Q](title="T", key="k", template="${x}")', "Make `Q` a dataclass", "@dataclass(frozen=True)\nclass Q"),
        ('from typing import Annotated\nfrom foldline.prompts import Untrusted, xml\n@dataclass\nclass Q:\n    x: Untrusted[str]\nM = MarkdownSection[Q](title="T", key="k", template="${x}")', 'Show it in a tag: `Annotated[Untrusted[str], xml("x")]`', 'x: Annotated[Untrusted[str], xml("x")]'),
    ],
)  # fmt: skip
def test_a_repair_mends_what_it_says(
    fixtures: Fixtures, source: str, title: str, expected: str
) -> None:
    fixture = fixtures.project(source + "\n")
    analysis = fixture.project.analysis(fixture.file)
    assert analysis is not None
    (fix,) = [
        fix for analysi in diagnostics(analysis) for fix in analysi.fixes if fix.title == title
    ]
    text = fixture.text
    for change in sorted(fix.changes, key=lambda change: change.place, reverse=True):
        text = text[: change.place.start] + change.text + text[change.place.end :]
    assert expected in text
    fixture.project.open(fixture.file, text)
    mended = fixture.project.analysis(fixture.file)
    assert mended is not None
    assert not [
        diagnostic for diagnostic in diagnostics(mended) if diagnostic.severity is Severity.ERROR
    ]


def test_texts_of_files_are_checked_and_read_below_the_root_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "texts").mkdir(parents=True)
    (root / "texts" / "wrong.md").write_bytes(b"One\n  ${name} and ${nmae}\n")
    (root / "texts" / "plain.md").write_text("It costs $5, ${nmae}.", encoding="utf-8")
    (tmp_path / "secret.md").write_text("Secret ${nmae}", encoding="utf-8")
    (root / "texts" / "link.md").symlink_to(tmp_path / "secret.md")
    lines = [
        "from dataclasses import dataclass",
        "from foldline.prompts import *",
        "@dataclass",
        "class P:",
        "    name: str",
    ]
    calls = (
        'from_file("texts/wrong.md")', 'verbatim(from_file("texts/plain.md"))', 'verbatim("$ ${x}")',
        'from_file("../secret.md")', 'from_file("texts/link.md")', 'from_file("../none.md")',
        f'from_file("{tmp_path / "secret.md"}")',
    )  # fmt: skip
    lines += [
        f'S{n} = MarkdownSection[P](title="T", key="k", template={call})'
        for n, call in enumerate(calls)
    ]
    lines.append('X = PromptTemplate(ns="a", key="b", sections=[S1.clone(key="a"), S3])')
    file = root / "prompt.py"
    file.write_text("\n".join(lines), encoding="utf-8")
    project = Project(root)
    analysis = project.analysis(str(file))
    assert analysis is not None
    (found,) = diagnostics(analysis, severities={Code.UNUSED_FIELD: Severity.OFF})
    assert (found.code, found.message.partition(" ")[0]) == (Code.UNKNOWN_PLACEHOLDER, "`nmae`")
    assert analysis.text[found.place.start : found.place.end] == 'from_file("texts/wrong.md")'
    (related,) = found.related
    read = (root / "texts" / "wrong.md").read_bytes().decode()
    assert read[related.place.start : related.place.end] == "${nmae}"
    (prompt,) = analysis.prompts
    shown = prompt.render.text
    assert "It costs $5, ${nmae}." in shown
    assert 'from_file("../secret.md")' in shown
    assert "Secret" not in shown


@pytest.mark.parametrize(
    ("path", "content", "problem"),
    [
        ("none.md", None, "no such file or folder"),
        ("latin.md", "naïve".encode("latin-1"), "is not UTF-8: byte 2 is 0xef"),
        ("long.md", b"x" * 2_000_001, "has 2,000,001 bytes, the limit is 2,000,000"),
    ],
)
def test_a_file_that_from_file_refuses_is_found(
    tmp_path: Path, path: str, content: bytes | None, problem: str
) -> None:
    file, text = tmp_path / "prompt.py", tmp_path / path
    file.write_text(
        f"from foldline.prompts import from_file\nA, B = from_file({path!r}), from_file(f'{{A}}')\n"
    )
    if content is not None:
        text.write_bytes(content)
    project = Project(tmp_path)
    analysis = project.analysis(str(file))
    assert analysis is not None
    (found,) = diagnostics(analysis)
    assert found.code is Code.INVALID_ARGUMENT
    assert found.message == f"`from_file` can't read `{path}`: {problem}."
    assert analysis.text[found.place.start : found.place.end] == repr(path)
    text.write_text("It is there now.")
    project.look_at_disk()
    again = project.analysis(str(file))
    assert again is not None
    assert diagnostics(again) == ()


def test_stored_texts_are_checked_against_the_sections_that_they_replace(tmp_path: Path) -> None:
    head = "from dataclasses import dataclass\nfrom foldline.prompts import *\n@dataclass\nclass P:\n    name: str\n"
    source = head + (
        'A = MarkdownSection[P](title="A", key="a", template="Hi ${name}")\n'
        'B = MarkdownSection[None](title="B", key="b", template="x", children=[A])\n'
        'X = PromptTemplate(ns="team/x", key="k", sections=[B])\n'
        "Y = Prompt(X)\n"
    )
    root = tmp_path / "root"
    root.mkdir()
    file = root / "prompt.py"
    file.write_text(source, encoding="utf-8")
    store = OverridesStore(root)
    texts = (
        SectionOverride(("b", "a"), "Salut ${nmae}", text_hash("Hi ${name}"), "$5"),
        SectionOverride(("b",), "plain", text_hash("y"), title="C\nD", title_hash=text_hash("B")),
        SectionOverride(("gone",), "${nothing}"),
    )
    store.save(PromptOverride("team/x", "k", "fr", texts))
    store.save(
        PromptOverride(
            "team/x",
            "k",
            "de",
            (SectionOverride(("b", "a"), "Hallo ${name}", text_hash("Hi ${name}")),),
        )
    )
    store.save(PromptOverride("team/x", "other", "fr", (SectionOverride(("b",), "${nmae}"),)))

    def found() -> list[tuple[str, str, str]]:
        analysis = Project(root).analysis(str(file))
        assert analysis is not None
        return [
            (str(one.code), analysis.text[one.place.start : one.place.end], one.message)
            for one in diagnostics(analysis)
        ]

    place = ".foldline/prompts/overrides/team/x/k/fr.json"
    assert [one for one in found() if one[0] != "invalid-override"] == [
        ("unknown-placeholder", '"Hi ${name}"', f"In {place}:12, of `b.a`: `nmae` isn't a field of `P`. Did you mean `name`?"),
        ("stray-dollar", "X", f"In {place}:14, of `b.a`: This `$` doesn't start a placeholder: write `$$` for a dollar sign, or `${{field}}`."),
        ("stray-dollar", "Y", f"In {place}:14, of `b.a`: This `$` doesn't start a placeholder: write `$$` for a dollar sign, or `${{field}}`."),
    ]  # fmt: skip
    stored = store.path_for("team/x", "k", "fr")
    text = stored.read_text(encoding="utf-8")
    ((_, _, said),) = (one for one in found() if one[0] == "invalid-override")
    assert said.split("The override in ")[1:] == [
        f"{place}:27, of `b`, isn't applied: the title must be one line of text, not 'C\\nD'. ",
        f"{place}:23, of `b`, isn't applied: the text it replaces has changed since it was written. ",
        f"{place}:34 isn't applied: the prompt has no section `gone`.",
    ]
    last = text.count("\n") + 1
    for broken, reason in (
        ("<<<<<<< HEAD", ":1 is not JSON: Expecting value: line 1 column 1 (char 0)."),
        (
            f"{text}>>>>>>> x\n",
            f":{last} is not JSON: Extra data: line {last} column 1 (char {len(text)}).",
        ),
        ("[]", ":1 is not an overrides file of format 1."),
        (text.replace('"format": 1', '"format": 99'), ":1 is not an overrides file of format 1."),
        (text.replace('"fr"', '"it"'), ":1 says it is for team/x/k, tag 'it'."),
        (text.replace("team/x", "team"), ":1 says it is for team/k, tag 'fr'."),
    ):
        stored.write_text(broken, encoding="utf-8")
        assert found() == [("invalid-override", "X", f"The override isn't read: {place}{reason}")]
    # A folder of overrides that is a link is followed inside of the root alone.
    stored.write_text(text, encoding="utf-8")
    (root / ".foldline").rename(tmp_path / "elsewhere")
    (root / ".foldline").symlink_to(tmp_path / "elsewhere")
    assert found() == []


FOLDED = """MarkdownSection[None](
    title="T", key="z", template="Long.", summary="Z.", fit="keep", visibility=SectionVisibility.SUMMARY
)"""
"""With it, every form has the tool that opens sections."""


def _drawn(random_: random.Random, key: str, depth: int = 0) -> str:
    """Return the source of a section; its summary may be longer than it."""
    inside = [_drawn(random_, f"{key}{n}", depth + 1) for n in range(random_.randint(0, 2 - depth))]
    arguments = [
        f'title="T", key="{key}", template="{"word " * random_.randint(60, 300)}"',
        f"children=[{', '.join(inside)}]",
        *([f'fit="{random_.choice(("keep", "fold", "drop"))}"'] * random_.randint(0, 1)),
        *([f'summary="{random_.choice(("Short.", "word " * 150))}"'] * random_.randint(0, 1)),
    ]
    return f"MarkdownSection[None]({', '.join(arguments)})"


def test_a_budget_tells_what_fit_makes_of_the_prompt(fixtures: Fixtures) -> None:
    counter, seen = token_counter(exact=False), Counter[str]()
    for seed in range(30):
        random_ = random.Random(seed)
        sections = ", ".join([*(_drawn(random_, key) for key in "abc"), FOLDED])
        source = f'X = PromptTemplate(ns="a", key="b", sections=[{sections}])\n'
        fixture = fixtures.project(source)
        namespace: dict[str, Any] = {}
        exec(fixture.text, namespace)
        with pytest.raises(PromptRenderError, match="smallest form") as raised:
            namespace["X"].render(fit=Fit(1))
        analysis = fixture.project.analysis(fixture.file)
        assert analysis is not None
        tokens = costed(next(iter(analysis.prompts)), counter).render.tokens
        assert tokens is not None
        smallest = tokens.tools + int(
            re.findall(r"has ([\d,]+) tokens", str(raised.value))[0].replace(",", "")
        )
        whole = tokens.tools + estimated_tokens(namespace["X"].render().text)
        for budget in (smallest - 30, min(smallest + 30, whole - 1)):
            found = [*diagnostics(analysis, more=check_costs(analysis, budget, counter))]
            (over,) = [one for one in found if one.code == Code.TOKEN_BUDGET]
            told = re.search(r"; (.*) ~([\d,]+)\.$", over.message)
            if told is None:
                assert smallest >= whole - 30
                continue
            assert abs(int(told[2].replace(",", "")) - smallest) < 20
            fits = told[1] == "`Fit` brings it to"
            seen[told[1]] += 1
            assert fits is (budget > smallest)
    assert len(seen) == 2
    assert min(seen.values()) > 8
