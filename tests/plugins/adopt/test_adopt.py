"""Prompts in the styles of public code are adopted: whole, or with what is left marked."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from foldline.plugins.adopt import proof
from foldline.plugins.adopt.adoption import Adoption, adopt, compare, read, report
from foldline.plugins.adopt.find import candidates_at
from foldline.plugins.adopt.model import AdoptError, Kind, Style
from foldline.plugins.adopt.proof import UNTRUSTED, differences, job_of, prove, run

from .here import prove_here

PROMPTS = Path(__file__).with_name("prompts.txt")


@dataclass(frozen=True)
class Case:
    file: str
    name: str | None
    outcome: str
    text: str


def cases() -> list[Case]:
    found = []
    for entry in PROMPTS.read_text(encoding="utf-8").split("#- ")[1:]:
        head, _, text = entry.partition("\n")
        target, outcome = head.split()
        file, _, name = target.partition(":")
        found.append(Case(file, name or None, outcome, text))
    return found


CASES = cases()


def adopted(text: str, name: str | None = None, file: str = "p.py", **more: Any) -> Adoption:
    return adopt(read(Path(file), text, name=name, **more))


@pytest.mark.real
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
def test_a_prompt_is_adopted_and_shows_the_same_text(case: Case) -> None:
    adoption = adopted(case.text, case.name, case.file)
    proof = prove_here(adoption.plan, adoption.text)
    assert proof.is_same, proof
    assert proof.count > 0
    assert ("whole" if adoption.is_whole else "remainder") == case.outcome, adoption.text
    # Each remainder is in the module with its source, and why it is one.
    for field in adoption.plan.of_kind(Kind.REMAINDER):
        assert f"# REMAINDER: {field.reason}"[:60] in adoption.text
        assert field.source.strip().split("\n")[0] in adoption.text
    if case.outcome == "remainder":
        assert "# REMAINDER: " in adoption.text or "# LEFT OUT: " in adoption.text
    ast.parse(adoption.text)


def test_most_prompts_are_adopted_whole() -> None:
    counts = Counter(case.outcome for case in CASES)
    assert len(CASES) >= 50
    assert counts == {"whole": 43, "remainder": 9}


@pytest.mark.real
def test_the_modules_are_python_that_check_finds_nothing_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from foldline.agent.cli import main

    # Sources of several projects have a few names twice.
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'adopted'\nversion = '1'\n"
        "[tool.foldline.severity]\nduplicate-prompt = 'off'\n"
    )
    for case in CASES:
        adoption = adopted(case.text, case.name, case.file)
        (tmp_path / f"p{Path(case.file).stem}.py").write_text(adoption.text, encoding="utf-8")
        scope: dict[str, Any] = {"__name__": "adopted"}
        exec(compile(adoption.text, case.file, "exec", dont_inherit=True), scope)
        preview = scope.get(f"preview_{adoption.plan.variable}")
        assert (preview is not None) == bool(adoption.plan.fields)
        if preview is not None:
            assert scope[adoption.plan.variable].render(preview()).text
    status = main(["check", str(tmp_path), "--fail-on", "hint"])
    assert (status, capsys.readouterr().out) == (
        0,
        f"{len(CASES)} files: no diagnostics\n",
    )


@pytest.mark.real
def test_a_module_that_shows_another_text_is_told_with_the_difference() -> None:
    adoption = adopted("You are {{ name }}.\n\n# Rules\nBe brief.\n", file="p.j2")
    for wrong in ("Be long.", "", "Be brief. Be kind."):
        changed = prove_here(adoption.plan, adoption.text.replace("Be brief.", wrong))
        assert not changed.is_same
        assert "-Be brief." in changed.difference


@pytest.mark.real
def test_a_condition_that_is_turned_round_is_told() -> None:
    adoption = adopted("Hello.\n{% if vip %}\nGold.\n{% endif %}\n", file="p.j2")
    changed = prove_here(adoption.plan, adoption.text.replace("params.vip", "not params.vip"))
    assert "Gold." in changed.difference


def test_the_other_branch_of_a_comparison_is_the_opposite_comparison() -> None:
    adoption = adopted("{% if tone == 'a' %}\nA.\n{% else %}\nB.\n{% endif %}\n", file="p.j2")
    assert "enabled=lambda params: params.tone == 'a'," in adoption.text
    assert "enabled=lambda params: params.tone != 'a'," in adoption.text


@pytest.mark.parametrize(
    ("original", "pieces", "same"),
    [
        ("# A\nb", ["# A", "b"], True),
        ("\n# A\n\n\nb  \n", ["# A", "b"], True),
        ("# A b", ["# A", "b"], False),
        ("# A\n  b", ["# A", "b"], False),
        ("a\nb", ["a\n\nb"], False),
        ("a\n\nb", ["a", "", "b"], True),
        ("a\nb\nc", ["a", "b"], False),
        ("a", ["a", "b"], False),
    ],
)
def test_only_blank_lines_between_sections_are_not_compared(
    original: str, pieces: list[str], same: bool
) -> None:
    assert (differences(original, "\n\n".join(pieces), pieces) is not None) is same


async def test_a_worker_runs_the_module_as_this_process_does() -> None:
    for name in ("12_review.py", "41_joined.j2", "50_dict.j2"):
        case = next(case for case in CASES if case.file == name)
        adoption = adopted(case.text, case.name, case.file)
        assert adoption.proof == UNTRUSTED
        compared = await compare(adoption)
        assert compared.proof == prove_here(adoption.plan, adoption.text)
        assert compared.proof.is_same, compared.proof


async def test_a_module_that_is_broken_is_told() -> None:
    adoption = adopted("PROMPT = 'You are a friendly assistant, and answer briefly.'")
    for wrong, said in (("x = (", "never closed"), ("1 / 0", "division"), ("import nowhere", "no")):
        failure = (await prove(adoption.plan, f"{adoption.text}{wrong}\n")).failure
        assert failure.startswith("the new prompt can't be rendered: ")
        assert said in failure


async def test_the_source_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "legacy.py"
    source.write_text("open('ran', 'w')\nPROMPT = 'You are a friendly bot, and answer briefly.'\n")
    original = read(source)
    assert (await compare(adopt(original))).proof.is_same
    assert [*tmp_path.iterdir()] == [source]


@pytest.mark.real
@pytest.mark.parametrize(
    "hostile",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}x",
        "{{ 'x' * 9999999999 }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{% set x = 'abcdefgh' %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}",
    ],
)
async def test_a_hostile_template_ends_without_a_proof(
    hostile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "SECONDS", 2.0)
    adoption = adopted(hostile, file="p.j2", style=Style.JINJA)
    failure = (await prove(adoption.plan, adoption.text)).failure
    assert failure.startswith(
        ("Jinja can't render it with sample values: ", "with sample values, ")
    )


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("x = (", None, "which runs foldline: '(' was never closed"),
        ("x = 1", None, "no text of the file looks like a prompt"),
        ("PROMPT = 'You are a bot that answers questions in verse.'", "PROMT", "mean PROMPT?"),
        (
            "A = 'You are a bot that answers in verse, always.'\nB = A + ' Be brief.'",
            None,
            "the file has 2 prompts",
        ),
        (
            "def f(q):\n    a = f'You help {q}.'\n    b = f'You ask {q}.'\n    return g(a, b)",
            "f",
            "`f` has 2 texts; name one",
        ),
    ],
)
def test_what_cannot_be_adopted_is_refused(text: str, name: str | None, message: str) -> None:
    with pytest.raises(AdoptError) as refused:
        adopted(text, name)
    assert message in str(refused.value)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python writes each f-string")
def test_an_f_string_that_python_cannot_write_is_refused() -> None:
    with pytest.raises(AdoptError, match=r"line 2: .*: give it a name first"):
        adopted("def make(a):\n    return f'You help {a[\"\x0b\"]} with it.'\n", "make")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{% extends 'base.j2' %}", "extends another one"),
        ("Hello {{ name", "this isn't a Jinja template"),
        ("{% if %}{% endif %}", "this isn't a Jinja template"),
        ("{# nothing #}", "the text is empty"),
        ("Hello \ue000 {{ name }}", "a character for private use, U+E000"),
        ("{% if a %}\n# T\nHi \ue000 {{ b }}\n{% endif %}", "a character for private use, U+E000"),
    ],
)
def test_a_template_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(AdoptError) as refused:
        adopted(text, file="p.j2", style=Style.JINJA)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("line", "minor"),
    [
        ('P = f"You help {d["k"]} now."', 12),
        ("type Names = list[str]", 12),
        ("def first[T](items: list[T]) -> T: ...", 12),
        ("class Box[T = int]: ...", 13),
        ("P = t'You help {name}.'", 14),
        ("try: ...\nexcept ValueError, TypeError: ...", 14),
        ("P = 'You help'  )", None),
    ],
)
def test_source_for_a_newer_python_names_it(
    line: str, minor: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(text: str) -> ast.Module:
        # As the oldest Python that foldline runs on does.
        raise SyntaxError("invalid syntax", ("p.py", text.count("\n") + 1, 1, None))

    monkeypatch.setattr(sys, "version_info", (3, 11, 0))
    monkeypatch.setattr(ast, "parse", refuse)
    with pytest.raises(AdoptError) as refused:
        adopted(line)
    install = (
        f"; Python 3.{minor} may read it: install foldline with that, `uv tool install --python"
    )
    assert str(refused.value).partition("invalid syntax")[2].startswith(install) is bool(minor)


def test_types_come_from_annotations_defaults_and_call_sites() -> None:
    text = (
        "ASK = 'Ask {name} for {count} items of {kind} at {rate}, and wait.'\n"
        "def send(count: int, name='Ada'):\n"
        "    return ASK.format(name=name, count=count, kind=f'{name}', rate=2.5)\n"
    )
    fields = adopted(text, "ASK").plan.fields
    assert [(field.name, field.type) for field in fields] == [
        ("name", "str"),
        ("count", "int"),
        ("kind", "str"),
        ("rate", "float"),
    ]


async def test_a_parameter_that_may_be_none_is_tried_with_none() -> None:
    text = (
        "def ask(q, context=None, limit: int = None, tone: str | None = 'kind', *, n: Optional[int]"
        ", x: list = None):\n"
        "    return f'Answer {q} with {context}, {limit} and {n} in tone {tone}, {x}.'\n"
    )
    adoption = adopted(text)
    assert [(field.name, field.type, field.default) for field in adoption.plan.fields] == [
        ("q", "str", None),
        ("context", "str | None", "None"),
        ("limit", "int | None", "None"),
        ("n", "int | None", None),
        ("tone", "str | None", '"kind"'),
        ("x", "str", None),
    ]
    tried = [case[0] for case in run(job_of(adoption.plan, adoption.text))]
    for name in ("context", "limit", "n", "tone"):
        assert len({str(values[name]) for values in tried} - {"None"}) > 2
        assert None in [values[name] for values in tried]
    assert (await compare(adoption)).proof.is_same


def test_a_long_section_is_offered_and_no_summary_is_invented() -> None:
    text = next(case.text for case in CASES if case.file == "09_long.py")
    adoption = adopted(
        text.replace("# Hand over", "It goes on. " * 60 + "\n\n# Hand over"), "HANDBOOK"
    )
    assert any(line.startswith("  long      `handbook`, ") for line in report(adoption))
    assert "summary=" not in adoption.text


def test_candidates_are_found_at_a_place() -> None:
    text = "A = 'You are a bot that answers in verse, always.'\n\nB = 1\n"
    assert [found.name for found in candidates_at(text, 3, 3)] == ["A"]
    assert candidates_at(text, text.index("B"), len(text)) == []
    assert candidates_at("A = (", 0, 0) == []
