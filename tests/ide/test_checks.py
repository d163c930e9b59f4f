"""Diagnostics, each shown at its place in the source."""

# ruff: noqa: E501 - a fixture reads best as its author would write it.

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foldline.ide.analysis.project import Project
from foldline.ide.checks import Code, Severity, diagnostics
from foldline.prompts import OverridesStore, PromptOverride, SectionOverride

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.ide.conftest import Fixtures


@pytest.fixture
def check(fixtures: Fixtures) -> Callable[[str], None]:
    def check_diagnostics(source: str) -> None:
        fixture = fixtures.project(source)
        analysis = fixture.project.analysis("/w/prompt.py")
        assert analysis is not None
        found = [
            (analysi.place.start, analysi.place.end, f"{analysi.code} {analysi.message}")
            for analysi in diagnostics(analysis)
            # The fixtures' own head declares fields that few of them use.
            if analysi.code != Code.UNUSED_FIELD or Code.UNUSED_FIELD in source
        ]
        text = fixture.files["/w/prompt.py"]
        assert fixtures.render(text, found) == source.partition("#- ")[0]

    return check_diagnostics


def in_template(sections: str) -> str:
    return f"""X = PromptTemplate(ns="a", key="b", sections=[
{sections}
])
"""


@pytest.mark.parametrize(
    "source",
    [
        """
MarkdownSection[P](title="T", key="k", template="Hi ${nam}, ${focus}, $$5, $name")
#                                                   ^^^^^^ unknown-placeholder `nam` isn't a field of `P`. Did you mean `name`?
""",
        """
MarkdownSection[P](title="T", key="k", template="Costs $ 5 and ${}.", summary="s $")
#                                                      ^ stray-dollar This `$` doesn't start a placeholder: write `$$` for a dollar sign, or `${field}`.
#                                                              ^ stray-dollar This `$` doesn't start a placeholder: write `$$` for a dollar sign, or `${field}`.
#                                                                                ^ stray-dollar This `$` doesn't start a placeholder: write `$$` for a dollar sign, or `${field}`.
""",
        """
MarkdownSection[P](title="T", key="k", template="Hi ${name.x} ${name[0]}")
#                                                   ^ stray-dollar `${name.x}` isn't the name of a field; placeholders are plain names of fields: compute the text in a field, or in a section's `derive`.
#                                                             ^ stray-dollar `${name[0]}` isn't the name of a field; placeholders are plain names of fields: compute the text in a field, or in a section's `derive`.
""",
        '''
MarkdownSection[P](title="T", key="k", template="""
    🎉 \\t ${name} \\N{BULLET} ${nmae}
#                           ^^^^^^^ unknown-placeholder `nmae` isn't a field of `P`. Did you mean `name`?
    """)
''',
        """
MarkdownSection[P](title="T", key="k", template="a" 'b ${x' "y} "
#                                                      ^^^^^^^^ unknown-placeholder `xy` isn't a field of `P`.
    r"\\${name} ${q}")
#              ^^^^ unknown-placeholder `q` isn't a field of `P`.
""",
        """
MarkdownSection[None](title="T", key="k", template="${name}")
#                                                   ^^^^^^^ unknown-placeholder `name` isn't a field: the section takes no parameters (it is specialised with None).
""",
        """
MarkdownSection[P](title="T", key="k", template=f"{x} ${{name}} ${{nam}} ${name}")
#                                                               ^^^^^^^^ unknown-placeholder `nam` isn't a field of `P`. Did you mean `name`?
""",
        '''
BODY = """
    Hello ${who}
#         ^^^^^^ unknown-placeholder `who` isn't a field of `P`.
"""
import textwrap
MarkdownSection[P](title="T", key="k", template=textwrap.dedent(BODY) + "${name}")
''',
        """
def section(text, key="k"):
    return MarkdownSection[P](title="T", key=key, template=text)
A = section("${nam}")
#            ^^^^^^ unknown-placeholder `nam` isn't a field of `P`. Did you mean `name`?
"""
        + in_template(
            '    section("${wrong}", "l"), A,\n#            ^^^^^^^^ unknown-placeholder `wrong` isn\'t a field of `P`.'
        ),
        """
class Mine(MarkdownSection[P]):
    def __init__(self, **kwargs):
        super().__init__(title="T", key="k", template="${nam}", **kwargs)
#                                                      ^^^^^^ unknown-placeholder `nam` isn't a field of `P`. Did you mean `name`?
""",
    ],
)
def test_a_placeholder_that_names_no_field_is_found_where_it_was_written(
    check: Callable[[str], None], source: str
) -> None:
    check(source)


@pytest.mark.parametrize(
    "source",
    [
        """
MarkdownSection[P](title="T", key="k", template="t", visibility=SectionVisibility.SUMMARY)
#                                                               ^^^^^^^^^^^^^^^^^^^^^^^^^ missing-summary A section with the visibility SUMMARY needs a `summary` text.
""",
        """
MarkdownSection[P](title="T", key="k", template="short", summary="A long summary.")
#                                                                ^^^^^^^^^^^^^^^^^ long-summary The summary (15 characters) is longer than the section (5): folding it costs more than showing it.
""",
        """
MarkdownSection[P](title="T", key="Bad Key", template="t")
#                                 ^^^^^^^^^ invalid-key The key 'Bad Key' must be 1 to 64 characters of a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit.
""",
        """
MarkdownSection[P](title=" ", key="k", template="t")
#                        ^^^ invalid-title The title must be one line of text, not ' '.
""",
        """
MarkdownSection(title="T", key="k", template="t")
^^^^^^^^^^^^^^^ unspecialised-section The section doesn't declare its parameters: write `MarkdownSection[Params](…)`, or `MarkdownSection[None](…)` if it has none.
""",
        """
class Plain: name: str
MarkdownSection[Plain](title="T", key="k", template="t")
#               ^^^^^ params-not-dataclass `Plain` is not a dataclass; specialise the section with a dataclass or Pydantic model, or with None if it has no parameters.
MarkdownSection[str](title="T", key="k", template="t")
#               ^^^ params-not-dataclass `str` is not a dataclass; specialise the section with a dataclass or Pydantic model, or with None if it has no parameters.
""",
        """
MarkdownSection[P](title="T", key="k", template="${name} ${focus}", tools=[Tool[None, str](name="open_sections", description="d", handler=h)])
#                                                                                               ^^^^^^^^^^^^^^^ tool-name The tool name `open_sections` is reserved by the library; rename yours.
""",
        """
MarkdownSection[P](title="T", key="k", template="t", enabled=lambda p: False)
#                                                            ^^^^^^^^^^^^^^^ unreachable-section The section can never be shown: `enabled` is always false.
Chapter[None](title="T", key="k", sections=[])
#                            ^^^ chapter-never-opens The chapter holds no sections, so opening it shows nothing.
""",
    ],
)  # fmt: skip
def test_a_section_that_can_not_be_as_it_is_written_is_found(
    check: Callable[[str], None], source: str
) -> None:
    check(source)


@pytest.mark.parametrize(
    "source",
    [
        """
X = PromptTemplate(ns="", key="b")
#                     ^^ invalid-key A template needs a non-empty `ns`.
""",
        """
X = PromptTemplate[str](ns="a", key="b")
#                  ^^^ output-not-dataclass `str` cannot be an output: the output must be a dataclass, a Pydantic model, or `list[…]` of one.
Y = PromptTemplate[list[int]](ns="a", key="b")
#                  ^^^^^^^^^ output-not-dataclass `list[int]` cannot be an output: the output must be a dataclass, a Pydantic model, or `list[…]` of one.
Z = PromptTemplate[list[P]](ns="a", key="b")
V = PromptTemplate[P](ns="a", key="b")
""",
        """
def s(key, children=()):
    return MarkdownSection[None](title="T", key=key, template="t", children=children)
X = PromptTemplate(ns="a", key="b", sections=[s("one"), s("two"), s("one")])
#                                                                    ^^^ duplicate-key Two sections have the key `one`. Rename one of them.
Y = PromptTemplate(ns="a", key="b", sections=[s("one", [s("a"), s("b")]), s("two", [s("a"), s("a")])])
#                                                                                              ^ duplicate-key Two sections have the key `two.a`. Rename one of them.
Z = PromptTemplate(ns="a", key="b", sections=[s("one", [s("a")]), s("one.a")])
#                                                                    ^^^^^ duplicate-key The key `one.a` could mean two sections, one.a or one > a. Rename one of them.
A = s("a")
V = PromptTemplate(ns="a", key="b", sections=[A, A])
#                                                ^ duplicate-key Two sections have the key `a`. Rename one of them.
W = PromptTemplate(ns="a", key="b", sections=[s("c"), Chapter[None](title="T", key="c", sections=[s("b")])])
""",
        """
def t(name): return Tool[None, str](name=name, description="d", handler=h)
X = PromptTemplate(ns="a", key="b", sections=[
    MarkdownSection[None](title="T", key="a", template="t", tools=[t("x"), t("y")]),
    MarkdownSection[None](title="T", key="b", template="t", tools=[t("x")]),
#                                                                  ^^^^^^ tool-name Two tools have the name `x`, in the sections `a` and `b`; rename one.
])
""",
    ],
)  # fmt: skip
def test_a_template_that_names_something_twice_is_found(
    check: Callable[[str], None], source: str
) -> None:
    check(source)


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


@pytest.mark.parametrize(
    "source",
    [
        """
Prompt(X).bind(P("a"), Q(), P("b")).render()
#                           ^^^^^^ bound-twice `P` is bound twice in one call, and either could be meant: bind one instance, and those of single sections with `section_params`.
""",
        """
X.render(P("a"), R("b"))
#                ^^^^^^ unknown-params No section takes `R`; the sections take `P`, `Q`.
""",
        """
Prompt(X).bind(Q()).render()
#                   ^^^^^^ missing-params The section `one` needs `P`, which is not bound and has no default for `name`.
X.render()
# ^^^^^^ missing-params The section `one` needs `P`, which is not bound and has no default for `name`.
X.render(P("a"))
X.render(*everything)
prompt = Prompt(X)
prompt.bind(P("a"))
prompt.render()
""",
        """
X.render(P("a"), visibility_overrides={("one", "tow"): a, ("one", "two"): b, ("three",): c, (k,): d})
#                                      ^^^^^^^^^^^^^^ unknown-section No section has the path `one.tow`. Did you mean `one.two` or `one`?
#                                                                            ^^^^^^^^^^ unknown-section No section has the path `three`.
""",
        """
X.bind(P("a"), section_params={"one.tow": Q(), "two": Q(), "zzz": Q(), "more": Q(), "one": P("b"), k: 1})
#                              ^^^^^^^^^ unknown-section No section has the key `one.tow`. Did you mean `one.two` or `one`?
#                                                     ^^^ unknown-params The section `two` takes no parameters.
#                                                          ^^^^^ unknown-section No section has the key `zzz`.
#                                                                      ^^^^^^ unknown-section `more` is a chapter: give its parameters in `chapter_params`.
X.render(section_params={"one": Q(), "one.two": P("b"), "two": Q()})
#                               ^^^ unknown-params The section `one` takes `P`, not `Q`.
#                                               ^^^^^^ unknown-params The section `one.two` takes `Q`, not `P`.
#                                                              ^^^ unknown-params The section `two` takes no parameters.
adapter.evaluate(X, P("a"), section_params={"oen": P("b")})
#                                           ^^^^^ unknown-section No section has the key `oen`. Did you mean `one`?
""",
        """
X.render(section_params={"one": P("a")})
X.render(section_params={"one.two": Q()})
# ^^^^^^ missing-params The section `one` needs `P`, which is not bound and has no default for `name`.
Prompt(X).bind(section_params={"one": P("a")}).render()
X.render(section_params=given)
X.render(**given)
X.render(section_params={key: P("a")})
X.bind(section_params={**given}).render()
""",
        """
adapter.evaluate(Prompt(X), goal_section_key="one")
adapter.evaluate(Prompt(X), goal_section_key="tow")
#                                            ^^^^^ goal-section No section has the key `tow`. Did you mean `two`?
evaluate(X)
adapter.evaluate(X, chapters_expansion_policy=ChaptersExpansionPolicy.INTENT_CLASSIFIER)
#                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ goal-section INTENT_CLASSIFIER chooses chapters by the goal: give `goal_section_key`.
""",
    ],
)  # fmt: skip
def test_a_prompt_that_is_used_wrongly_is_found(check: Callable[[str], None], source: str) -> None:
    check(RENDERED + source)


def test_a_field_that_nothing_uses_is_found(check: Callable[[str], None]) -> None:
    check("""
@dataclass
class Q:
    used: str
    unused: str = ""
#   ^^^^^^ unused-field No template uses `unused`.
    asked: bool = True
MarkdownSection[Q](title="T", key="k", template="${used}", enabled=lambda q: q.asked)
MarkdownSection[P](title="T", key="k", template="${name} ${focus}")
Q(used="a", unused="b")
""")


def test_types_of_other_files_are_known(check: Callable[[str], None]) -> None:
    check("""
import types_of_mine
from types_of_mine import Mine as M
MarkdownSection[M](title="T", key="k", template="${one} ${two} ${three}")
#                                                              ^^^^^^^^ unknown-placeholder `three` isn't a field of `Mine`.
MarkdownSection[types_of_mine.Mine](title="T", key="k", template="${oen}")
#                                                                 ^^^^^^ unknown-placeholder `oen` isn't a field of `Mine`. Did you mean `one`?
#- types_of_mine.py
from foldline.prompts.dataclasses import FrozenDataclass
from base import Base
@FrozenDataclass()
class Mine(Base):
    one: str
#- base.py
import dataclasses
@dataclasses.dataclass(frozen=True)
class Base:
    two: str
""")


@pytest.mark.parametrize(
    "source",
    [
        'MarkdownSection[Elsewhere](title="T", key="k", template="${anything}")',
        'from other import Q\nMarkdownSection[Q](title="T", key="k", template="${anything}")',
        'class Q(Unknown): pass\nMarkdownSection[Q](title="T", key="k", template="${anything}")',
        '@decorated\nclass Q: x: str\nMarkdownSection[Q](title="T", key="k", template="${anything}")',
        'MarkdownSection[P](title="T", key="k", template=load())',
        'MarkdownSection[P](title="T", key="k", template="${name}" % x)',
        'MarkdownSection[P](title="T", key="k", template=f"${name}${{focus}}")',
        'TaskSection[Task](summary="${request}", visibility=SectionVisibility.SUMMARY)',
        'MarkdownSection[P](title="T", key="k", template="x", visibility=SectionVisibility.SUMMARY, **more)',
        'class Own(MarkdownSection[P]):\n    derived_placeholders = ("date",)\n    def derive(self, params): return {"date": "now"}\n'
        'Own(title="T", key="k", template="${date}")',
        'class Sec(Section[P]):\n    def render_body(self, params): return "x"\nSec(title="T", key="k", visibility=SectionVisibility.SUMMARY)',
        'X = PromptTemplate(ns=ns(), key="b", sections=[*load(), make()])\nX.render(P("a"), R())',
        'T = TypeVar("T")\nclass Gen(MarkdownSection[T]): pass\nGen[P](title="T", key="k", template="${name}")',
        "for name in names:\n    MarkdownSection[P](title=name, key=name, template=name)",
        'class Q(P):\n    pass\nMarkdownSection[Q](title="T", key="k", template="${name}")',
        'from typing import ClassVar\n@dataclass\nclass Q:\n    c: ClassVar[str] = "x"\nMarkdownSection[Q](title="T", key="k", template="${c}")',
    ],
)  # fmt: skip
def test_what_is_not_known_for_certain_is_never_reported(
    check: Callable[[str], None], source: str
) -> None:
    check(source + "\n")


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
    fixtures: Fixtures, severities: dict[Code, Severity], reported: bool
) -> None:
    severities = {**severities, Code.UNUSED_FIELD: Severity.OFF}
    fixture = fixtures.project(
        'S = MarkdownSection[None](title="T", key="K", template="t")'
        "  # foldline: ignore[invalid-key]\n"
    )

    def found_in(text: str) -> list[Code]:
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
        'from_file("../secret.md")', 'from_file("texts/link.md")', 'from_file("texts/none.md")',
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
        SectionOverride(("b", "a"), "Salut ${nmae}", summary="$5"),
        SectionOverride(("b",), "plain"),
        SectionOverride(("gone",), "${nothing}"),
    )
    store.save(PromptOverride("team/x", "k", "fr", texts))
    store.save(PromptOverride("team/x", "k", "de", (SectionOverride(("b", "a"), "Hallo ${name}"),)))
    store.save(PromptOverride("team/x", "other", "fr", (SectionOverride(("b",), "${nmae}"),)))

    def found() -> list[tuple[str, str, str]]:
        analysis = Project(root).analysis(str(file))
        assert analysis is not None
        return [
            (str(one.code), analysis.text[one.place.start : one.place.end], one.message)
            for one in diagnostics(analysis)
        ]

    assert found() == [
        ("unknown-placeholder", '"Hi ${name}"', "In the override `fr` of `b.a`: `nmae` isn't a field of `P`. Did you mean `name`?"),
        ("stray-dollar", "X", "In the override `fr` of `b.a`: This `$` doesn't start a placeholder: write `$$` for a dollar sign, or `${field}`."),
        ("stray-dollar", "Y", "In the override `fr` of `b.a`: This `$` doesn't start a placeholder: write `$$` for a dollar sign, or `${field}`."),
    ]  # fmt: skip
    stored = store.path_for("team/x", "k", "fr")
    text = stored.read_text(encoding="utf-8")
    stored.write_text("{", encoding="utf-8")
    assert found() == []
    # A folder of overrides that is a link is followed inside of the root alone.
    stored.write_text(text, encoding="utf-8")
    (root / ".foldline").rename(tmp_path / "elsewhere")
    (root / ".foldline").symlink_to(tmp_path / "elsewhere")
    assert found() == []
