"""`foldline adopt`: from what people have to a prompt that is previewed and checked."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from foldline.agent.cli import main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.real

SUPPORT = """# Agent
You help {{ name }}.

# Question
{{ question }}
"""
CONDITION = """Hello {{ name }}.
{% if vip %}
Offer a call.
{% endif %}
"""
LOOP = """# Documents
{% for doc in docs %}
- {{ doc.title }}
{% endfor %}
"""


def foldline(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "foldline", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_stranger_adopts_three_styles_after_a_first_prompt(tmp_path: Path) -> None:
    assert foldline(tmp_path, "new", "first.py").returncode == 0
    assert foldline(tmp_path, "preview", "first.py").returncode == 0
    assert foldline(tmp_path, "check", "first.py").returncode == 0
    (tmp_path / "support.j2").write_text(SUPPORT)
    (tmp_path / "hello.py").write_text(f"from jinja2 import Template\n\nHELLO = {CONDITION!r}\n")
    (tmp_path / "docs.txt").write_text(LOOP)
    for target, module, text in (
        (
            "support.j2",
            "support_prompt.py",
            "# Agent\n\nYou help name.\n\n# Question\n\nquestion\n",
        ),
        ("hello.py:HELLO", "hello_prompt.py", "Hello name.\n\nOffer a call.\n"),
        ("docs.txt", "docs_prompt.py", "# Documents\n\n- title\n"),
    ):
        done = foldline(tmp_path, "adopt", target)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"wrote {module}: the prompt `")
        assert "same text with 24 sets of sample values, byte for byte" in done.stdout
        # The next steps are commands that work.
        assert f"  foldline preview {module}\n  foldline check {module}\n" in done.stdout
        preview = foldline(tmp_path, "preview", module)
        assert (preview.returncode, preview.stdout) == (0, text)
        check = foldline(tmp_path, "check", module)
        assert (check.returncode, check.stdout) == (0, "1 prompt module: no diagnostics\n")


def test_a_module_that_exists_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, module = tmp_path / "support.txt", tmp_path / "support_prompt.py"
    source.write_text("You are a support agent, and answer briefly.")
    module.write_text("mine")
    assert main(["adopt", str(source)]) == 2
    assert "exists, and is left alone" in capsys.readouterr().err
    assert module.read_text() == "mine"
    assert main(["adopt", str(source), "--output", str(tmp_path / "new" / "other.py")]) == 0
    assert "MarkdownSection[None](" in (tmp_path / "new" / "other.py").read_text()


@pytest.mark.parametrize("words", ["adopt long.txt --output out.py", "new out.py"])
def test_a_full_disk_leaves_no_half_module(tmp_path: Path, words: str) -> None:
    """A file of more than 900 bytes can't be written, as on a disk that is full."""
    (tmp_path / "long.txt").write_text("\n".join(f"# h{n}\ntext {{x}}" for n in range(40)))
    limited = (
        "import resource, sys\n"
        "from foldline.agent.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900))\n"
        f"sys.exit(main({words.split()}))"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", limited],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"foldline {words.split(maxsplit=1)[0]}: out.py: File too large\n"
    assert not (tmp_path / "out.py").exists()


def test_a_dry_run_prints_the_module_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "hello.j2"
    source.write_text("Hello{% if vip %}, dear{% endif %} {{ name }}.")
    assert main(["adopt", str(source), "--dry-run"]) == 0
    printed = capsys.readouterr()
    compile(printed.out, "hello_prompt.py", "exec")
    assert "remainder if_vip: the condition is within a line" in printed.err
    assert [*tmp_path.iterdir()] == [source]
    assert main(["adopt", str(source), "--dry-run", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["whole"], data["same"], data["exact"]) == (False, True, True)
    assert data["text"] == printed.out


def test_several_prompts_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "llm.py"
    source.write_text(
        "A = 'You are a bot that answers in verse, always.'\n"
        "def ask(name: str):\n    return f'Write a letter to {name}.'\n"
    )
    assert main(["adopt", str(source)]) == 2
    assert capsys.readouterr().err.splitlines()[1:] == [
        f"  foldline adopt {source}:A  (string, line 1)",
        f"  foldline adopt {source}:ask  (f-string, line 3)",
    ]


@pytest.mark.parametrize("verb", ["check", "preview"])
def test_an_empty_answer_names_the_next_step(tmp_path: Path, verb: str) -> None:
    (tmp_path / "legacy.py").write_text("PROMPT = 'You are a bot that answers in verse.'\n")
    done = foldline(tmp_path, verb, "legacy.py")
    assert done.returncode > 0
    assert "foldline adopt" in done.stderr


def test_a_jinja_template_names_the_extra_that_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    source = tmp_path / "hello.j2"
    source.write_text("Hello {{ name }}.")
    assert main(["adopt", str(source)]) == 2
    assert "install foldline[adopt]" in capsys.readouterr().err
