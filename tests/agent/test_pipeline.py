"""Pipeline mode, by the requirements PM-01 to PM-04."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.agent.pipeline import SymbolChoice, explore, parse_choices, scoped_context
from foldline.backends import SmartFileAccess

PATHS = [f"pkg/module_{number:02}.py" for number in range(15)]


def source(number: int) -> str:
    functions = [
        f'def function_{number}_{index}(value: int) -> int:\n    """Adds {index}."""\n'
        + "".join(f"    value += {step}\n" for step in range(22))
        + "    return value\n"
        for index in range(20)
    ]
    return "\n\n".join(functions)


@pytest.fixture
def access(tmp_path: Path) -> Iterator[SmartFileAccess]:
    (tmp_path / "pkg").mkdir()
    for number, path in enumerate(PATHS):
        (tmp_path / path).write_text(source(number))
    opened = SmartFileAccess.for_workspace(tmp_path)
    yield opened
    opened.close()


def test_pm01_the_model_is_asked_once_about_the_outlines_of_twelve_files(
    access: SmartFileAccess,
) -> None:
    questions: list[str] = []

    def ask(question: str) -> str:
        questions.append(question)
        return ""

    found = explore(access, [*PATHS, PATHS[0]], ask)
    (question,) = questions
    assert all(f"{path} (python" in question for path in PATHS[:12])
    assert PATHS[12] not in question
    assert "value += 1" not in question
    assert found.choices == ()
    assert found.size <= 6_000
    whole = sum(len(access.read_file(path)) for path in PATHS[:12])
    assert whole > 96_000


def test_pm02_the_symbols_that_the_model_names_are_read(access: SmartFileAccess) -> None:
    found = explore(
        access, PATHS, lambda _: f"{PATHS[0]}: function_0_1, function_0_2\n{PATHS[3]}: function_3_7"
    )
    assert [choice.name for choice in found.choices] == [
        "function_0_1",
        "function_0_2",
        "function_3_7",
    ]
    assert found.text.count("    value += 21\n") == 3
    assert not found.unread


def test_pm02_all_that_is_read_stays_within_thirty_kilobytes(access: SmartFileAccess) -> None:
    everything = "\n".join(
        f"{path}: " + ", ".join(f"function_{number}_{index}" for index in range(20))
        for number, path in enumerate(PATHS)
    )
    found = explore(access, PATHS, lambda _: everything)
    assert len(found.choices) == 240
    assert found.unread
    assert found.unread[0][1] == "no room is left"
    read = found.text.partition("(function_")[0]
    assert 25_000 < len(read.encode()) <= 30_100


def test_a_symbol_that_is_not_there_is_told_with_the_nearest(access: SmartFileAccess) -> None:
    found = explore(access, PATHS, lambda _: f"{PATHS[0]}: function_0_99")
    ((choice, reason),) = found.unread
    assert choice == SymbolChoice(PATHS[0], "function_0_99")
    assert "did you mean 'function_0_9'" in reason
    assert reason in found.text


def test_a_candidate_that_is_gone_does_not_end_the_exploration(access: SmartFileAccess) -> None:
    found = explore(access, ["pkg/gone.py", PATHS[0]], lambda _: "")
    assert "pkg/gone.py: no such file" in found.text
    assert f"{PATHS[0]} (python" in found.text


def test_pm03_generation_gets_primary_files_whole_and_others_as_outlines(
    access: SmartFileAccess,
) -> None:
    text = scoped_context(access, [PATHS[0]], [PATHS[1], PATHS[0]], file_budget=100_000)
    assert source(0).rstrip("\n") in text
    assert f"{PATHS[1]} (python" in text
    assert "def function_1_0(value: int) -> int" in text
    assert text.count("    value += 21\n") == 20


def test_pm03_a_primary_file_over_its_budget_says_how_much_is_shown(
    access: SmartFileAccess,
) -> None:
    text = scoped_context(access, [PATHS[0], "pkg/gone.py"], file_budget=2_000)
    first, _, rest = text.partition("\n")
    assert first.startswith(f"{PATHS[0]}:1-")
    assert first.endswith(" lines")
    assert len(rest.encode()) < 2_200
    assert "pkg/gone.py: no such file" in rest


def test_pm04_without_access_whole_files_are_read_as_before() -> None:
    def refuse(_: str) -> str:
        raise AssertionError("the model was asked")

    texts = {"a.py": "whole a", "b.py": "whole b"}
    found = explore(None, list(texts), refuse, read_file=texts.__getitem__)
    assert found.text == "a.py\nwhole a\n\nb.py\nwhole b"
    assert scoped_context(None, ["a.py"], ["b.py"], read_file=texts.__getitem__) == found.text
    with pytest.raises(TypeError, match="read_file"):
        explore(None, ["a.py"], refuse)


@pytest.mark.parametrize(
    "answer",
    [
        "a/b.py: A, C.method\nb.py: f",
        "- `a/b.py`: `A` and `C.method`\n- `b.py`: `f`",
        "1. a/b.py::A\n2. a/b.py::C.method (signs in)\n3. b.py - function f",
        '{"a/b.py": ["A", "C.method"], "b.py": "f"}',
        'Sure:\n```json\n[{"path": "a/b.py", "symbols": ["A", "C.method"]}, '
        '{"path": "b.py", "symbols": ["f"]}]\n```',
    ],
)
def test_a_models_answer_is_understood_in_the_forms_that_models_use(answer: str) -> None:
    assert parse_choices(answer, ["b.py", "a/b.py"]) == (
        SymbolChoice("a/b.py", "A"),
        SymbolChoice("a/b.py", "C.method"),
        SymbolChoice("b.py", "f"),
    )


@pytest.mark.parametrize(
    "answer", ["", "nothing", "c/b.py: f", "b.pyx: f", "{broken", '{"c.py": ["f"]}', "[1]", "b.py"]
)
def test_an_answer_that_names_no_candidate_chooses_nothing(answer: str) -> None:
    assert parse_choices(answer, ["b.py", "a/b.py"]) == ()
    assert parse_choices(answer, []) == ()
