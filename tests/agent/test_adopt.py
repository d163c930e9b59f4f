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
        assert (
            "same text with 24 sets of sample values, but for line breaks and blanks" in done.stdout
        )
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
    (tmp_path / "long.txt").write_text("\n".join(f"# h{n}\ntext" for n in range(90)))
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
    monkeypatch.delitem(sys.modules, "foldline.ide.adopt.jinja", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    source = tmp_path / "hello.j2"
    source.write_text("Hello {{ name }}.")
    assert main(["adopt", str(source)]) == 2
    assert "install foldline[adopt]" in capsys.readouterr().err


def test_calls_in_other_modules_say_what_is_filled_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'app'\nversion = '1'\n")
    (tmp_path / "prompts.py").write_text(
        'SYSTEM = "You help {who}. Answer as JSON: {{\\"a\\": 1}}"\n'
        'OTHER = "You help {who}, and nobody fills this in."\n'
        'class Coder:\n    main = "Use {fence[0]} around code, and then {reminder}"\n'
    )
    (tmp_path / "use.py").write_text(
        "from prompts import SYSTEM as S\n"
        "def go(user: str, coder):\n"
        "    coder.main.format(fence=coder.fence, reminder='x')\n"
        "    return S.format(who=user)\n"
    )
    target = str(tmp_path / "prompts.py")
    assert main(["adopt", f"{target}:SYSTEM"]) == 0
    shown = capsys.readouterr().out
    assert "same text with 24 sets of sample values, byte for byte" in shown
    assert "  use.py:4: system.render(SystemParams(who=user)).text\n" in shown
    assert '{"a": 1}' in (tmp_path / "system_prompt.py").read_text()
    assert main(["adopt", f"{target}:Coder.main", "--dry-run"]) == 0
    assert "Use ${fence_0} around code, and then ${reminder}" in capsys.readouterr().out
    # Nothing says whether these braces are fields.
    assert main(["adopt", f"{target}:OTHER", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["styles"] == ["format", "replace", "text"]
    assert "{who} looks like a placeholder" in error["message"]
    assert main(["adopt", f"{target}:OTHER", "--style", "text", "--dry-run"]) == 0
    assert "You help {who}" in capsys.readouterr().out


def test_the_prompts_of_a_folder_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "app.py").write_text(
        "def ask(client, q):\n"
        "    return client.chat(messages=[{'role': 'system', 'content': 'You are terse.'},\n"
        "                                 {'role': 'user', 'content': f'Question: {q}'}])\n"
    )
    (tmp_path / "prompts/a.prompty").write_text(
        "---\nname: x\n---\nsystem:\nYou help {{ name }}.\n\nuser:\n{{ question }}\n"
    )
    (tmp_path / "prompts/b.yaml").write_text(
        "tools:\n  use: You can call {{ tool }} when unsure.\n"
    )
    (tmp_path / "prompts/c.prompt").write_text("{{#if x}}You are a bot{{/if}} of {{name}}.")
    (tmp_path / "package.json").write_text('{"prompt": "You are not a prompt of this list."}')
    assert main(["adopt", str(tmp_path), "--json"]) == 0
    found = {
        one["target"][len(str(tmp_path)) + 1 :]: one for one in json.loads(capsys.readouterr().out)
    }
    assert {name: one["fields"] for name, one in found.items()} == {
        "app.py:ask.messages": 1,
        "prompts/a.prompty": 2,
        "prompts/b.yaml:tools.use": 1,
        "prompts/c.prompt": None,
    }
    assert "`{{#if x}}` is of Handlebars" in found["prompts/c.prompt"]["reason"]
    assert main(["adopt", str(tmp_path)]) == 0
    assert "4 prompts, 1 that can't be adopted as they are\n" in capsys.readouterr().out
