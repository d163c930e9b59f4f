"""Pipeline mode, by the requirements PM-01 to PM-04 and SF-16."""

import doctest
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.agent import pipeline, pipeline_prompts
from foldline.agent.cli import main
from foldline.agent.pipeline import Pipeline
from foldline.backends import SmartFileAccess
from foldline.backends.base.waiting import run
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations import code_scoped_context
from foldline.ide.scoped_context import Sizes, SymbolChoice, pack
from foldline.ide.workspace import AccessOptions, Workspace
from foldline.prompts import RenderedPrompt
from foldline.prompts.adapters import ScriptedAdapter, ScriptedTurn, Transcript
from foldline.prompts.errors import OutputParseError, PromptEvaluationError
from foldline.prompts.runtime.response import TokenUsage

REVIEWER = Path(__file__).parents[2] / "examples" / "code_reviewer"
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


# The whole pipeline, over a workspace and an adapter.

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer" / "auth"
QUESTION = "How are function_3_7 and module_04 connected?"


def choosing(*files: tuple[str, tuple[str, ...]], whole: tuple[str, ...] = ()) -> ScriptedTurn:
    """Return a model's choice, as it is on the wire."""
    named = [{"path": path, "symbols": list(symbols)} for path, symbols in files]
    return ScriptedTurn(
        json.dumps({"files": named, "whole": list(whole)}), usage=TokenUsage(100, 10)
    )


class Model:
    """Plays turns, and keeps the prompts that it gets."""

    def __init__(self, *turns: ScriptedTurn) -> None:
        self.prompts: list[str] = []
        self._turns = list(turns)
        self.adapter = ScriptedAdapter(self._answer)

    def _answer(self, rendered: RenderedPrompt[object], _: object) -> ScriptedTurn:
        self.prompts.append(rendered.text)
        return self._turns.pop(0)


ANSWER = ScriptedTurn("They aren't.", usage=TokenUsage(200, 20))


@pytest.fixture
def workspace(access: SmartFileAccess) -> Iterator[Workspace]:
    opened = Workspace.at(access.file_backend.root, access=AccessOptions(patient=True))
    yield opened
    opened.close()


def test_the_first_call_has_the_outlines_of_twelve_files(workspace: Workspace) -> None:
    model = Model(choosing((PATHS[3], ("function_3_7",))), ANSWER)
    result = Pipeline(workspace, model.adapter).run("Which module adds to a value?")
    assert len(result.candidates) == 12
    choose, _ = model.prompts
    assert all(f"{path} (python" in choose for path in result.candidates)
    assert "Which module adds to a value?" in choose
    assert "value += 1" not in choose
    sizes = {step.name: step.size for step in result.steps}
    assert 3_000 < sizes["outlines"] <= 6_000
    assert list(sizes) == ["outlines", "choose", "symbols", "context", "answer"]
    assert sizes["choose"] == len(choose.encode())


def test_the_second_call_has_the_symbols_that_the_model_named(workspace: Workspace) -> None:
    model = Model(choosing((PATHS[3], ("function_3_7",))), ANSWER)
    result = Pipeline(workspace, model.adapter).run(QUESTION, candidates=PATHS)
    answer = model.prompts[1]
    assert "module_03.py:" in answer
    assert answer.count("    value += 21\n") == 1
    assert "def function_3_7(value: int) -> int:" in answer
    assert QUESTION in answer
    assert result.context in answer
    assert result.answer == "They aren't."
    assert result.choices == (SymbolChoice(PATHS[3], "function_3_7"),)
    assert result.usage == TokenUsage(300, 30)
    assert not result.unread


def test_two_calls_stay_within_thirty_kilobytes(workspace: Workspace) -> None:
    every = [
        (path, tuple(f"function_{number}_{index}" for index in range(20)))
        for number, path in enumerate(PATHS[:12])
    ]
    result = Pipeline(workspace, Model(choosing(*every), ANSWER).adapter).run(
        QUESTION, candidates=PATHS
    )
    assert len(result.choices) == 240
    sizes = {step.name: step.size for step in result.steps}
    assert 15_000 < sizes["symbols"] <= 25_000
    assert 25_000 < len(result.context.encode()) <= 30_000
    unread = {(one.path, one.name) for one in result.unread}
    read = {
        (one.path, one.name)
        for one in result.choices
        if f"def {one.name}(value: int) -> int:\n" in result.context
    }
    assert unread | read == {(one.path, one.name) for one in result.choices}
    assert not unread & read
    assert "no room for pkg/module_" in result.context


def test_choices_that_name_nothing_are_reported(workspace: Workspace) -> None:
    model = Model(
        choosing(
            (PATHS[0], ("function_0_99", "function_0_1")),
            ("pkg/other.py", ("thing",)),
            whole=("../secret.txt",),
        ),
        ANSWER,
    )
    result = Pipeline(workspace, model.adapter).run(QUESTION, candidates=PATHS[:2])
    reasons = {(one.path, one.name): one.reason for one in result.unread}
    assert "did you mean 'function_0_9'" in reasons[PATHS[0], "function_0_99"]
    assert "isn't one of the files" in reasons["pkg/other.py", "thing"]
    assert "isn't one of the files" in reasons["../secret.txt", ""]
    assert len(reasons) == 3
    assert "def function_0_1(value" in result.context
    assert "function_0_99" in result.context
    assert result.answer == "They aren't."


def test_errors_of_the_adapter_pass_through(workspace: Workspace) -> None:
    with pytest.raises(OutputParseError):
        Pipeline(workspace, Model(ScriptedTurn("no JSON")).adapter).run(QUESTION)
    with pytest.raises(PromptEvaluationError, match="this is one more"):
        Pipeline(workspace, ScriptedAdapter(Transcript(()))).run(QUESTION)


def test_primary_files_are_whole_and_others_outlines(workspace: Workspace) -> None:
    model = Model(choosing((PATHS[0], ("function_0_1",)), whole=(PATHS[1],)), ANSWER)
    result = Pipeline(workspace, model.adapter, budget=100_000).run(
        QUESTION, files=[PATHS[2]], candidates=PATHS[:4]
    )
    assert source(1).rstrip("\n") in result.context
    assert source(2).rstrip("\n") in result.context
    assert "def function_0_1(value" in result.context
    assert f"{PATHS[3]} (python" in result.context
    assert f"{PATHS[0]} (python" in result.context
    assert f"{PATHS[1]} (python" not in result.context
    assert result.context.count("    value += 21\n") == 41


@pytest.mark.parametrize("budget", [100, 101, 150, 333, 1_000, 5_000, 30_000])
def test_the_budget_is_never_exceeded(workspace: Workspace, budget: int) -> None:
    every = choosing(
        *((path, tuple(f"function_{n}_{i}" for i in range(9))) for n, path in enumerate(PATHS[:9])),
        ("é" * 300, ("ü" * 300,)),
        whole=(PATHS[10],),
    )
    for adapter in (None, Model(every, ANSWER).adapter):
        result = Pipeline(workspace, adapter, budget=budget).run(
            QUESTION, files=[PATHS[11], "pkg/gone.py"], candidates=PATHS[:11]
        )
        assert 0 < len(result.context.encode()) <= budget
        assert result.unread
    with pytest.raises(ArgumentsError, match="must be 100 or more"):
        Pipeline(workspace, None, budget=99)


def test_without_a_workspace_whole_files_are_read() -> None:
    texts = {"a.py": "whole a\n", "b.py": "whole b\n", "c.py": "c" * 5_000}
    model = Model(ANSWER)
    pipeline = Pipeline(None, model.adapter, read_file=texts.__getitem__, budget=1_000)
    result = pipeline.run("What?", candidates=texts)
    (answer,) = model.prompts
    assert "whole a" in answer
    assert "whole b" in answer
    assert result.answer == "They aren't."
    assert [one.path for one in result.unread] == ["c.py"]
    assert len(result.context.encode()) <= 1_000
    with pytest.raises(ArgumentsError, match="name files"):
        pipeline.run("What?")
    with pytest.raises(TypeError, match="read_file"):
        Pipeline(None, model.adapter)


def test_an_access_alone_is_enough(access: SmartFileAccess) -> None:
    assert "def function_3_7" in Pipeline(access).run("function_3_7").context


def test_without_a_model_the_best_matches_are_packed(workspace: Workspace) -> None:
    result = Pipeline(workspace).run("What does function_3_7 do?")
    assert result.answer is None
    assert result.choices == (SymbolChoice(PATHS[3], "function_3_7"),)
    assert result.context.count("    value += 21\n") == 1
    assert result.usage == TokenUsage()
    nothing = Pipeline(workspace).run("zebra")
    assert (nothing.context, nothing.choices) == ("", ())
    assert "no path and no symbol has any of: zebra" in nothing.reason


def test_a_question_that_matches_nothing_calls_no_model(workspace: Workspace) -> None:
    model = Model()
    assert Pipeline(workspace, model.adapter).run("zebra").answer is None
    assert model.prompts == []


def test_several_folders_are_searched_together(
    workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("lib")
    (other / "zebra.py").write_text("def zebra(): ...\n")
    workspace.set_roots([*workspace.roots, other])
    result = Pipeline(workspace).run("zebra function_3_7")
    assert f"{other.name}/zebra.py:1 zebra" in result.context
    assert f"{workspace.roots[0].name}/{PATHS[3]}:" in result.context
    assert {one.name for one in result.choices} == {"zebra", "function_3_7"}
    gone = f"{other.name}/zebras.py"
    (left_out,) = Pipeline(workspace).run("zebra", files=[gone]).unread
    assert left_out.path == gone
    assert left_out.reason.startswith(f"{gone}: ")
    assert f"'{other.name}/zebra.py'" in left_out.reason


def test_the_symbols_of_a_question_are_those_that_answer_it() -> None:
    workspace = Workspace.at(EXAMPLE, access=AccessOptions(patient=True))
    result = Pipeline(workspace).run("How are passwords hashed?")
    workspace.close()
    assert SymbolChoice("passwords.py", "hash_password") in result.choices
    assert "hashlib.pbkdf2_hmac" in result.context


@pytest.mark.real
def test_the_pipelines_prompts_can_be_previewed(capsys: pytest.CaptureFixture[str]) -> None:
    module = pipeline_prompts.__file__
    assert main(["preview", f"{module}:CHOOSE_SYMBOLS"]) == 0
    shown = capsys.readouterr().out
    assert "1-3 class Cart" in shown
    assert main(["check", str(module)]) == 0


def test_the_examples_of_docstrings_run() -> None:
    tested = doctest.testmod(pipeline)
    assert tested.attempted
    assert not tested.failed


def test_paths_may_be_spelled_in_another_way(workspace: Workspace) -> None:
    model = Model(choosing((PATHS[3], ("function_3_7",))), ANSWER)
    result = Pipeline(workspace, model.adapter).run("What?", candidates=[f"./{PATHS[3]}"])
    assert [choice.name for choice in result.choices] == ["function_3_7"]
    assert result.unread == ()
    whole = Pipeline(workspace).run("function_3_7", files=[f"./{PATHS[3]}"], candidates=[PATHS[3]])
    assert whole.context.count("def function_3_7") == 1


def test_without_access_each_file_gets_its_share() -> None:
    texts = {f"{number}.py": f"line {number}\n" * 9_000 for number in range(14)}
    result = Pipeline(None, read_file=texts.__getitem__).run("What?", candidates=list(texts))
    for number in range(12):
        assert f"line {number}\n" in result.context
    assert [one.path for one in result.unread] == ["12.py", "13.py"]


def test_what_has_no_room_is_counted_once() -> None:
    workspace = Workspace.at(REVIEWER, access=AccessOptions(patient=True))
    try:
        access = workspace.access(workspace.roots[0])
        arguments = code_scoped_context.Arguments(query="How is a review summarised?", budget=2_000)
        context = run(code_scoped_context.run(access, arguments))
    finally:
        workspace.close()
    _, left_out = pack(context, Sizes(total=2_000))
    assert left_out
    assert len(set(left_out)) == len(left_out)
