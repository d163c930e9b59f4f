"""The process that runs user code: what that code does is an answer, never an accident."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import until

from foldline.ide.errors import RenderError
from foldline.ide.render.interpreter import Interpreter
from foldline.ide.render.render import Render
from foldline.ide.render.renderer import Job, Renderer

pytestmark = pytest.mark.real

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate
p = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[None](title="T", key="t", template="body")])
"""
Ask = Callable[[str], Coroutine[None, None, str]]
AnswerTo = Callable[[str], Coroutine[None, None, Render]]
Late = Callable[[str], Coroutine[None, None, RenderError]]
OURS = Interpreter(Path(sys.executable), "the tests' own")


def job_of(
    root: Path,
    text: str,
    *,
    name: str = "prompt.py",
    deadline: float = 20.0,
    overlays: Mapping[str, str] | None = None,
    **action: object,
) -> Job:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    return Job(
        file=file,
        root=root,
        overlays={str(file): text, **(overlays or {})},
        deadline=deadline,
        action={
            "action": "render",
            "name": None,
            "params": {},
            "overrides": {},
            "section_keys": [],
            "section_key": None,
            "reason": "",
            **action,
        },
    )


async def render(
    root: Path,
    text: str,
    *,
    name: str = "prompt.py",
    deadline: float = 20.0,
    interpreter: Interpreter = OURS,
    overlays: Mapping[str, str] | None = None,
    **action: object,
) -> Render:
    job = job_of(root, text, name=name, deadline=deadline, overlays=overlays, **action)
    renderer = Renderer()
    try:
        return await renderer.run(interpreter, job, Render)
    finally:
        await renderer.stop()


async def failure(root: Path, text: str, **options: Any) -> RenderError:
    with pytest.raises(RenderError) as caught:
        await render(root, text, **options)
    return caught.value


async def test_a_prompt_renders(tmp_path: Path) -> None:
    answer = await render(tmp_path, PROMPT)
    assert (answer.name, answer.text) == ("p", "## 1. T\n\nbody")


RAISING = {
    "raise": ("x = 1\nraise ValueError('no')", 2, "ValueError: no"),
    "syntax": ("x = 1\ny = (\n", 2, "this isn't Python: "),
    "exit": ("import sys\nsys.exit(3)", 2, "sys.exit(3)"),
    "interrupt": ("raise KeyboardInterrupt", 1, "KeyboardInterrupt"),
    "import": ("\n\nimport not_there_at_all", 3, "not_there_at_all"),
    "in a function": ("def f():\n    return 1 / 0\nf()", 2, "ZeroDivisionError"),
    "in the library": (
        "from foldline.prompts import PromptTemplate\n\nPromptTemplate(ns='', key='k')",
        3,
        "PromptValidationError",
    ),
}


@pytest.mark.parametrize("case", RAISING)
async def test_what_it_raises_is_told_with_its_line(tmp_path: Path, case: str) -> None:
    text, line, message = RAISING[case]
    error = await failure(tmp_path, text)
    assert (error.kind, error.file, error.line) == ("exception", str(tmp_path / "prompt.py"), line)
    assert message in error.message
    assert f"prompt.py:{line}" in error.message


async def test_an_error_in_an_import_names_the_imported_file(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("\nraise RuntimeError('helper')\n", encoding="utf-8")
    error = await failure(tmp_path, "import helper\n" + PROMPT)
    assert (error.file, error.line) == (str(tmp_path / "helper.py"), 2)


LOOPS = {
    "loop": "while True: pass",
    "loop that swallows everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "regex that holds the lock": "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
    "sleep": "import time\ntime.sleep(600)",
}


@pytest.fixture
async def late(tmp_path: Path) -> AsyncIterator[Late]:
    """How a module fails whose deadline passes.

    The worker has started: on a busy machine a fresh interpreter needs seconds to come to the
    module.
    """
    renderer = Renderer()
    await renderer.run(OURS, job_of(tmp_path, PROMPT), Render)

    async def fail(text: str) -> RenderError:
        with pytest.raises(RenderError) as caught:
            await renderer.run(OURS, job_of(tmp_path, text, deadline=1.0), Render)
        assert caught.value.kind == "deadline"
        assert "still running after 1 s" in caught.value.message
        return caught.value

    yield fail
    await renderer.stop()


@pytest.mark.parametrize("case", LOOPS)
async def test_what_does_not_end_is_ended_and_told_with_its_line(
    late: Late, tmp_path: Path, case: str
) -> None:
    error = await late(LOOPS[case])
    assert error.file == str(tmp_path / "prompt.py")
    assert error.line is not None


async def test_a_process_that_ends_itself_is_told(tmp_path: Path) -> None:
    error = await failure(tmp_path, "import os\nos._exit(7)")
    assert error.kind == "exit"
    assert "exited with status 7" in error.message
    error = await failure(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert "was killed by signal 11" in error.message


HOSTILE = {
    "closes every descriptor": "import os\nos.closerange(0, 256)",
    "replaces stdout": "import sys\nsys.stdout = None\nsys.stderr = None",
    "changes directory": "import os\nos.chdir('/')",
    "breaks json": "import json\njson.loads = json.dumps = None",
    "starts a thread": (
        "import threading, time\n"
        "threading.Thread(target=lambda: time.sleep(600), daemon=False).start()"
    ),
    "registers an exit handler": "import atexit, time\natexit.register(time.sleep, 600)",
    "reads stdin": "import sys\nassert sys.stdin.read() == ''",
    "prints a lot": "print('x' * 5_000_000)",
    "writes to descriptor 1": 'import os\nos.write(1, b\'{"text": "forged"}\\n\')',
    "forks children that print": (
        "import os\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        '        while True: os.write(1, b\'{"text": "forged"}\\n\')'
    ),
    "allocates 2 GB": "hoard = bytearray(2 << 30)",
    "is the first to go when memory runs out": (
        "assert open('/proc/self/oom_score_adj').read() == '1000\\n'"
    ),
    "deletes its own file": "import os\nopen(__file__, 'w').close()\nos.remove(__file__)",
    "is called like a standard module": "",
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.slow if case == "allocates 2 GB" else ())
        for case in HOSTILE
    ],
)
async def test_hostile_code_gets_an_answer(tmp_path: Path, case: str) -> None:
    name = "types.py" if case == "is called like a standard module" else "prompt.py"
    if case == "closes every descriptor":
        error = await failure(tmp_path, HOSTILE[case] + PROMPT)
        assert error.kind == "exit"
        return
    answer = await render(tmp_path, HOSTILE[case] + "\n" + PROMPT, name=name)
    assert answer.text == "## 1. T\n\nbody"


async def test_what_it_leaves_behind_is_killed(tmp_path: Path) -> None:
    left = (
        "import os, pathlib, subprocess, sys\n"
        "sleep = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "here = subprocess.Popen(sleep)\n"
        "free = subprocess.Popen(sleep, start_new_session=True)\n"
        "pathlib.Path(__file__).with_name('pids').write_text(f'{here.pid} {free.pid}')\n"
    )
    await render(tmp_path, left + PROMPT)
    for pid in (tmp_path / "pids").read_text().split():
        assert not Path(f"/proc/{pid}").exists()


async def test_a_fork_bomb_is_ended_with_all_its_processes(tmp_path: Path) -> None:
    # Bounded, for the sake of the machine: 32 processes, half of them in sessions of their own.
    bomb = (
        "import os, pathlib, time\n"
        "for turn in range(5):\n"
        "    if os.fork() == 0 and turn == 4:\n"
        "        os.setsid()\n"
        "pathlib.Path(__file__).with_name(f'{os.getpid()}.pid').touch()\n"
        "while True: time.sleep(1)\n"
    )
    task = asyncio.create_task(render(tmp_path, bomb, deadline=600))
    await until(lambda: len([*tmp_path.glob("*.pid")]) == 32)
    pids = [file.stem for file in tmp_path.glob("*.pid")]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


async def test_an_import_cycle_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("\nfrom prompt import p\n", encoding="utf-8")
    error = await failure(tmp_path, "from other import p\n" + PROMPT)
    assert (error.kind, error.file, error.line) == ("exception", str(tmp_path / "other.py"), 2)
    assert "partially initialized" in error.message


async def test_a_slow_import_is_told_with_its_line(late: Late, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(600)\n", encoding="utf-8")
    error = await late("import slow\n" + PROMPT)
    assert (error.file, error.line) == (str(tmp_path / "slow.py"), 2)


async def test_a_program_that_is_no_python_is_told(tmp_path: Path) -> None:
    error = await failure(tmp_path, PROMPT, interpreter=Interpreter(Path("/bin/cat"), "a test"))
    assert error.kind == "interpreter"
    assert "/bin/cat (a test) is no Python" in error.message
    error = await failure(tmp_path, PROMPT, interpreter=Interpreter(Path("/bin/true"), "a test"))
    assert error.kind == "exit"


EFFECTS = """import os, socket, subprocess
subprocess.run(["true"])
open("written.txt", "w").close()
with socket.socket() as plug:
    plug.connect_ex(("127.0.0.1", 9))
os.remove("written.txt")
open(__file__)
"""


async def test_what_a_module_does_beside_its_prompts_is_reported(tmp_path: Path) -> None:
    (tmp_path / "prompt.py").touch()
    answer = await render(tmp_path, EFFECTS + PROMPT)
    assert [(effect.line, effect.message, effect.subject) for effect in answer.effects] == [
        (2, "started a process", "true"),
        (3, "wrote a file", "written.txt"),
        (5, "opened a connection", "('127.0.0.1', 9)"),
        (6, "removed a file", "written.txt"),
    ]
    assert {effect.file for effect in answer.effects} == {str(tmp_path / "prompt.py")}


async def test_the_network_can_be_denied(tmp_path: Path) -> None:
    (tmp_path / "prompt.py").touch()
    error = await failure(tmp_path, EFFECTS + PROMPT, network="deny")
    assert (error.kind, error.line) == ("exception", 5)
    assert "PermissionError: socket.connect: the setting preview.network" in error.message


async def test_a_prompt_that_touches_nothing_has_no_effects(tmp_path: Path) -> None:
    assert (await render(tmp_path, PROMPT)).effects == ()


async def test_cancelling_ends_the_process(tmp_path: Path) -> None:
    text = (
        "import os, pathlib\n"
        "pathlib.Path(__file__).with_name('pid').write_text(str(os.getpid()))\n"
        "while True: pass\n"
    )
    task = asyncio.create_task(render(tmp_path, text, deadline=600))
    await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    pid = (tmp_path / "pid").read_text()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands for the interpreter")
async def test_a_process_that_holds_the_output_open_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.ide.render.renderer.STOP_SECONDS", 0.2)
    program, left = tmp_path / "python", tmp_path / "left"
    # What it starts leaves its group, and outlives it with the same output and errors.
    program.write_text(f"#!/bin/sh\nsetsid sh -c 'echo $$ > {left}; exec sleep 600' &\nsleep 600\n")
    program.chmod(0o700)
    task = asyncio.create_task(
        render(tmp_path, PROMPT, interpreter=Interpreter(program, "the test's"))
    )
    try:
        await until(lambda: left.exists() and left.read_text().strip())
        task.cancel()
        async with asyncio.timeout(30):
            await asyncio.wait({task})
        assert task.cancelled()
    finally:
        os.kill(int(left.read_text()), signal.SIGKILL)


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands for the interpreter")
async def test_a_start_that_is_given_up_at_any_moment_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.ide.render.renderer.STOP_SECONDS", 0.2)
    program, left = tmp_path / "python", tmp_path / "left"
    # As above: half-way through a start, nobody else closes the pipes that it holds open.
    holder = f"setsid sh -c 'echo $$ >> {left}; exec sleep 600'"
    program.write_text(f"#!/bin/sh\n{holder} &\nsleep 600\n")
    program.chmod(0o700)

    async def given_up(steps: int) -> bool:
        task = asyncio.create_task(
            render(tmp_path, PROMPT, interpreter=Interpreter(program, "the test's"))
        )
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=30)
        return bool(done)

    try:
        ended = await asyncio.gather(*map(given_up, range(24)))
        assert [steps for steps, has_ended in enumerate(ended) if not has_ended] == []
    finally:
        for pid in left.read_text().split() if left.exists() else ():
            os.kill(int(pid), signal.SIGKILL)


async def test_a_job_that_waits_when_the_renderer_closes_is_not_run(tmp_path: Path) -> None:
    renderer = Renderer()
    proof = tmp_path / "executed"
    job = job_of(tmp_path, f"open({str(proof)!r}, 'w')\n")
    jobs = [asyncio.create_task(renderer.run(OURS, job, Render)) for _ in range(6)]
    # Two are about to start their workers; the others wait for their turn.
    await asyncio.sleep(0)
    renderer.close()
    outcomes = await asyncio.gather(*jobs, return_exceptions=True)
    assert [getattr(outcome, "kind", outcome) for outcome in outcomes] == ["untrusted"] * 6
    assert not proof.exists()
    await renderer.stop()


# The module replaces what answers are made with, before and while it is asked.
REPLACED = {
    "dumps": "import json\njson.dumps = lambda *_, **__: '{}'",
    "dumps, everywhere": (
        "import json, sys\n"
        "for module in list(sys.modules.values()):\n"
        "    if hasattr(module, 'dumps'): module.dumps = lambda *_, **__: '{}'"
    ),
    "the encoder": "import json\njson.JSONEncoder.encode = lambda *_: '{}'",
    "the encoder's parts": (
        "import json.encoder as e\n"
        "e.JSONEncoder.iterencode = lambda *_, **__: iter(['{}'])\n"
        "e.c_make_encoder = e.encode_basestring_ascii = None"
    ),
}


@pytest.mark.parametrize("case", REPLACED)
async def test_what_a_module_replaces_forges_no_answer(tmp_path: Path, case: str) -> None:
    answer = await render(tmp_path, f"{REPLACED[case]}\n{PROMPT}")
    assert answer.text == "## 1. T\n\nbody"


@pytest.mark.parametrize(
    "answer", ["{}", "[]", "null", '{"failure": 1}', '{"failure": {}}', '{"interpreter": 1}']
)
async def test_an_answer_of_another_shape_is_told(tmp_path: Path, answer: str) -> None:
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        "request = json.loads(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))\n"
        f"print(request['token'] + {answer!r}, flush=True)\n"
    )
    program.chmod(0o700)
    error = await failure(tmp_path, PROMPT, interpreter=Interpreter(program, "the test's"))
    assert error.kind == "output"
    assert "prompt.py" in error.message


async def test_modules_are_imported_under_their_own_names(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "words.py").write_text("WORD = 'relative'\n", encoding="utf-8")
    text = "from .words import WORD\nassert __name__ == 'package.prompt'\n" + PROMPT.replace(
        '"body"', "WORD"
    )
    answer = await render(tmp_path, text, name="package/prompt.py")
    assert answer.text == "## 1. T\n\nrelative"


async def test_a_file_whose_name_is_no_identifier_renders(tmp_path: Path) -> None:
    answer = await render(tmp_path, PROMPT, name="my-prompt.v2.py")
    assert answer.text == "## 1. T\n\nbody"


async def test_rendering_leaves_no_compiled_file_of_unsaved_text(tmp_path: Path) -> None:
    await render(tmp_path, PROMPT)
    assert list(tmp_path.rglob("*.pyc")) == []


async def test_a_missing_interpreter_is_told_with_the_reason(tmp_path: Path) -> None:
    nowhere = Interpreter(tmp_path / "no" / "python", "the setting `interpreter`")
    error = await failure(tmp_path, PROMPT, interpreter=nowhere)
    assert error.kind == "interpreter"
    assert str(nowhere.path) in error.message
    assert "the setting `interpreter`" in error.message


async def test_an_interpreter_without_foldline_says_what_to_do(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -E -S -P "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    error = await failure(tmp_path, PROMPT, interpreter=Interpreter(bare, "a test"))
    assert error.kind == "no_foldline"
    assert "install foldline there" in error.message


async def test_a_module_without_a_prompt_says_so(tmp_path: Path) -> None:
    error = await failure(tmp_path, "x = 1\n")
    assert error.kind == "no_prompt"


async def test_params_that_do_not_fit_are_told(tmp_path: Path) -> None:
    text = (
        "from dataclasses import dataclass\n"
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "@dataclass\n"
        "class P:\n"
        "    name: str\n"
        "    tags: tuple[str, ...] = ()\n"
        "p = PromptTemplate(ns='n', key='k', sections=[\n"
        "    MarkdownSection[P](title='T', key='t', template='${name} ${tags}')])\n"
    )
    error = await failure(tmp_path, text, params={"Q": {"name": "x"}})
    assert (error.kind, error.data["near"]) == ("prompt", ["P", "t"])
    error = await failure(tmp_path, text, params={"P": {"nme": "x"}})
    assert error.data["near"] == ["name", "tags"]
    answer = await render(tmp_path, text, params={"P": {"name": "x", "tags": ["a", "b"]}})
    assert answer.text == "## 1. T\n\nx ('a', 'b')"
    text = text.replace("template=", "default_params=P('default', ('c',)), template=")
    answer = await render(tmp_path, text, params={"P": {"name": "x"}})
    assert answer.text == "## 1. T\n\nx ('c',)"


SAYS = """
from foldline.prompts import MarkdownSection, PromptTemplate
p = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[None](title="T", key="t", template=SAID.replace("$", "$$"))])
"""


@pytest.fixture
async def answer_to(tmp_path: Path) -> AsyncIterator[AnswerTo]:
    """Asks one renderer for a module, again and again."""
    renderer = Renderer()

    async def answer(text: str) -> Render:
        job = job_of(tmp_path, text + SAYS, deadline=30.0)
        return await renderer.run(OURS, job, Render)

    yield answer
    await renderer.stop()


def said(answer: Render) -> str:
    """What the module says that an answer is about."""
    return answer.text.partition("\n\n")[2]


@pytest.fixture
def ask(answer_to: AnswerTo) -> Ask:
    """Asks one renderer what a module says, again and again."""

    async def ask_for(text: str) -> str:
        return said(await answer_to(text))

    return ask_for


async def test_installed_packages_are_there_the_next_time(ask: Ask) -> None:
    text = "import sys\nSAID = str('rich.text' in sys.modules)\nimport rich.text\n"
    assert [await ask(text), await ask(text)] == ["False", "True"]


async def test_modules_of_the_workspace_are_imported_afresh(ask: Ask, tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("WORD = 'old'\n", encoding="utf-8")
    text = (
        "import sys\nBEFORE = 'helper' in sys.modules\n"
        "import helper\nSAID = f'{BEFORE} {helper.WORD}'"
    )
    assert await ask(text) == "False old"
    helper.write_text("WORD = 'younger'\n", encoding="utf-8")
    assert await ask(text) == "False younger"


async def test_what_one_render_changes_the_next_does_not_see(ask: Ask) -> None:
    text = (
        "import os, json\n"
        "SAID = f\"{os.environ.get('LEFT')} {getattr(json, 'left', None)}\"\n"
        "os.environ['LEFT'] = 'here'; json.left = 'here'; os.chdir('/')\n"
    )
    assert [await ask(text), await ask(text)] == ["None None", "None None"]


THREADED = """
import os, threading, time
if os.environ.get("OPENBLAS_NUM_THREADS") {condition}:
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
"""
USES_THREADED = """
import os, sys
BEFORE = "threaded.parts" in sys.modules
import threaded
SAID = f"{BEFORE} {os.environ.get('OPENBLAS_NUM_THREADS')}"
"""


def install_threaded(root: Path, monkeypatch: pytest.MonkeyPatch, condition: str) -> None:
    """Install a package that starts a thread on a condition."""
    folder = root / "site-packages"
    (folder / "threaded").mkdir(parents=True)
    (folder / "threaded" / "__init__.py").write_text("import threaded.parts\n", encoding="utf-8")
    threaded = THREADED.format(condition=condition)
    (folder / "threaded" / "parts.py").write_text(threaded, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))


async def test_a_package_that_starts_threads_does_not_stay_and_is_told(
    answer_to: AnswerTo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_threaded(tmp_path, monkeypatch, "!= 'never'")
    first, *others = [await answer_to(USES_THREADED) for _ in range(3)]
    assert first.interpreter is not None
    assert first.interpreter.threads == ()
    for answer in others:
        assert said(answer) == "False None"
        assert answer.interpreter is not None
        assert answer.interpreter.threads == ("threaded",)


async def test_a_package_that_starts_as_many_threads_as_it_is_told_stays(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_threaded(tmp_path, monkeypatch, "!= '1'")
    # The user's code finds the environment as it was.
    assert [await ask(USES_THREADED) for _ in range(3)] == [
        "False None",
        "True None",
        "True None",
    ]


async def test_the_number_of_threads_is_the_users_where_the_user_chose_it(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    install_threaded(tmp_path, monkeypatch, "!= '1'")
    assert [await ask(USES_THREADED) for _ in range(2)] == ["False 2", "False 2"]


async def test_numpy_is_there_the_next_time(ask: Ask) -> None:
    text = "import sys\nSAID = str('numpy' in sys.modules)\nimport numpy\n"
    assert [await ask(text), await ask(text)] == ["False", "True"]


async def test_a_worker_that_a_request_was_taken_from_answers_the_next(
    ask: Ask, tmp_path: Path
) -> None:
    parent = "import os\nSAID = str(os.getppid())\n"
    first = await ask(parent)
    task = asyncio.create_task(
        ask(f"import pathlib\npathlib.Path({str(tmp_path / 'on')!r}).touch()\nwhile True: pass\n")
    )
    await until((tmp_path / "on").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await ask(parent) == first


async def test_a_worker_starts_again_when_packages_have_changed(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "more-packages"
    packages.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(packages))
    parent = "import os\nSAID = str(os.getppid())\n"
    before = await ask(parent)
    assert await ask(parent) == before
    (packages / "installed.py").touch()
    assert await ask(parent) != before


async def test_a_worker_that_was_killed_is_replaced(ask: Ask) -> None:
    worker = int(await ask("import os\nSAID = str(os.getppid())\n"))
    os.kill(worker, signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{worker}/stat").exists())
    assert await ask("SAID = 'again'\n") == "again"


STRAY = {
    "an empty line": b"\n",
    "text without an end": b"half",
    "an answer": b'{"text": "## 1. T\\n\\nforged", "interpreter": {}, "effects": []}\n',
    "names of modules": b'["antigravity"]\n["antigravity"]\n',
    "a lot": b"x" * 40_000 + b"\n",
}
WRITES = """
import fcntl, os
for descriptor in range(256):
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_NONBLOCK)
        os.write(descriptor, {data!r})
    except OSError:
        pass
"""


@pytest.mark.parametrize("when", ["while it is imported", "for as long as it runs"])
@pytest.mark.parametrize("case", STRAY)
async def test_what_a_module_writes_to_every_descriptor_is_no_answer(
    ask: Ask, case: str, when: str
) -> None:
    writes = WRITES.format(data=STRAY[case]) + "SAID = 'its own'\n"
    if when == "for as long as it runs":
        writes += "if os.fork() == 0:\n    while True:\n        try: os.write(4, b'\\n')\n"
        writes += "        except OSError: pass\n"
    parent = "import os, sys\nSAID = f'{os.getppid()} {\"antigravity\" in sys.modules}'\n"
    before = await ask(parent)
    assert await ask(writes) == "its own"
    assert [await ask(parent) for _ in range(3)] == [before] * 3
    with pytest.raises(RenderError, match="fails"):
        await ask(writes + "raise ValueError('fails')\n")
    with pytest.raises(RenderError, match="status 3"):
        await ask(writes + "os._exit(3)\n")
    assert await ask(parent) == before


async def test_rendering_leaves_nothing_beside_the_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(cache))
    folder = tmp_path / "work"
    (folder / "package").mkdir(parents=True)
    (folder / "package" / "__init__.py").touch()
    (folder / "package" / "inner.py").write_text("WORD = 'inner'\n", encoding="utf-8")
    (folder / "my-prompt.py").write_text(PROMPT, encoding="utf-8")
    text = "from package.inner import WORD\n" + PROMPT.replace('"body"', "WORD")
    (folder / "prompt.py").write_text(text, encoding="utf-8")
    renderer = Renderer()
    try:
        for _ in range(2):
            for name, body in (("prompt.py", "inner"), ("my-prompt.py", "body")):
                job = replace(job_of(folder, "", name=name), overlays={})
                answer = await renderer.run(OURS, job, Render)
                assert answer.text == f"## 1. T\n\n{body}"
                assert answer.effects == ()
    finally:
        await renderer.stop()
    assert sorted(path.name for path in folder.rglob("*")) == [
        "__init__.py",
        "inner.py",
        "my-prompt.py",
        "package",
        "prompt.py",
    ]
    compiled = {path.name.partition(".")[0] for path in cache.rglob("*.pyc")}
    assert compiled == {"__init__", "inner", "my-prompt", "prompt"}


async def test_an_edit_of_the_same_length_within_a_second_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    text = "from words import WORD\n" + PROMPT.replace('"body"', "WORD")
    answers = []
    for word, nanoseconds in (("one", 1), ("two", 2)):
        (tmp_path / "words.py").write_text(f"WORD = {word!r}\n", encoding="utf-8")
        os.utime(tmp_path / "words.py", ns=(nanoseconds, nanoseconds))
        answers.append((await render(tmp_path, text)).text)
    assert answers == ["## 1. T\n\none", "## 1. T\n\ntwo"]


async def test_many_renders_side_by_side_are_all_answered(tmp_path: Path) -> None:
    renderer = Renderer()
    texts = [PROMPT.replace('"body"', f'"body {number}"') for number in range(8)]
    jobs = [job_of(tmp_path, text, name=f"prompt{n}.py") for n, text in enumerate(texts)]
    answers = await asyncio.gather(*(renderer.run(OURS, job, Render) for job in jobs))
    await renderer.stop()
    assert [answer.text for answer in answers] == [f"## 1. T\n\nbody {n}" for n in range(8)]


async def test_a_foldline_that_lacks_what_is_needed_is_named_with_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "packages"
    (old / "foldline" / "prompts").mkdir(parents=True)
    (old / "foldline" / "__init__.py").touch()
    (old / "foldline" / "prompts" / "__init__.py").touch()
    (old / "foldline-0.0.1.dist-info").mkdir()
    (old / "foldline-0.0.1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: foldline\nVersion: 0.0.1\n", encoding="utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", str(old))
    error = await failure(tmp_path, PROMPT, version="9.9")
    assert error.kind == "no_foldline"
    assert "has foldline 0.0.1, which does not go with this server's 9.9" in error.message
