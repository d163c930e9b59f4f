"""`foldline adopt`: from what people have to a prompt that is previewed and checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from foldline.agent.cli import main

from ...agent.verbs import foldline

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


def test_a_stranger_adopts_three_styles_after_a_first_prompt(tmp_path: Path) -> None:
    assert foldline("new", "first.py", folder=tmp_path).returncode == 0
    assert foldline("preview", "first.py", folder=tmp_path).returncode == 0
    assert foldline("check", "first.py", folder=tmp_path).returncode == 0
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
        done = foldline("adopt", target, folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"wrote {module}: the prompt `")
        assert (
            "the same text for 24 sets of sample values, but for line breaks and blanks"
            in done.stdout
        )
        # The next steps are commands that work.
        assert f"  foldline preview {module}\n  foldline check {module}\n" in done.stdout
        preview = foldline("preview", module, folder=tmp_path)
        assert (preview.returncode, preview.stdout) == (0, text)
        check = foldline("check", module, folder=tmp_path)
        assert (check.returncode, check.stdout) == (0, "1 file: no diagnostics\n")


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


def test_a_text_in_a_variable_is_found_by_its_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "def ask(q):\n    p = f'Q: {q}'\n    return send(p)\nX = 'A bot.'\n"
    (tmp_path / "llm.py").write_text(source)
    assert main(["adopt", f"{tmp_path}/llm.py:ask", "--dry-run"]) == 0
    assert "adopted from the f-string `ask.p`" in capsys.readouterr().out


def test_what_is_no_file_is_said_for_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / ".gitignore").write_text("old/\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / "old").mkdir()
    for target, said in (
        ("pipe.py", "is a pipe or a device"),
        ("pipe.py:X", "is a pipe or a device"),
        ("old:X", "is a folder; give a FILE in it"),
        ("none.py", "there is no such file"),
        ("old", "is ignored by the pattern 'old/' of .gitignore; name a file in it"),
    ):
        assert main(["adopt", f"{tmp_path}/{target}"]) == 2
        assert said in capsys.readouterr().err


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
    done = foldline(verb, "legacy.py", folder=tmp_path)
    assert done.returncode > 0
    assert "foldline adopt" in done.stderr


def test_a_jinja_template_names_the_extra_that_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "foldline.plugins.adopt.jinja", raising=False)
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
    assert (
        "checked: the new prompt shows the same text for 24 sets of sample values, byte for byte"
        in shown
    )
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


def test_a_line_break_of_a_call_is_not_that_of_a_string(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "app.py").write_text(
        'SLACK_PROMPT = "You help {name} in verse, and say {text} to all who ask."\n'
        "def ask(client):\n"
        "    return client.send(SLACK_PROMPT.format(name='Ada\\nLovelace', text='"
        + "so " * 30
        + "'))\n"
    )
    assert main(["adopt", f"{tmp_path}/app.py:SLACK_PROMPT"]) == 0
    (call,) = [line for line in capsys.readouterr().out.split("\n") if "app.py:3: " in line]
    assert call.count("⏎") == 5
    assert call.count("\\n") == 1
    assert r"name='Ada\nLovelace'," in call


def test_the_call_is_rewritten_only_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "prompts.py").write_text('SYSTEM = "You help {who} with all things."\n')
    use = tmp_path / "use.py"
    source = (
        b"\xef\xbb\xbfimport prompts\r\ndef f(w):\r\n    return prompts.SYSTEM.format(who=w)\r\n"
    )
    use.write_bytes(source)
    new = "    return system.render(SystemParams(who=w)).text"
    assert main(["adopt", "prompts.py:SYSTEM", "--rewrite-call", "--dry-run"]) == 0
    assert f"\n+{new}\n" in capsys.readouterr().err
    assert main(["adopt", "prompts.py:SYSTEM", "--dry-run", "--json"]) == 0
    call = json.loads(capsys.readouterr().out)["rewrite"]
    assert (call["path"], f"\n+{new}" in call["diff"]) == ("use.py", True)
    assert main(["adopt", "prompts.py:SYSTEM"]) == 0
    assert capsys.readouterr().out.endswith(f"{new.strip()[7:]}\n  which --rewrite-call does\n")
    assert use.read_bytes() == source
    (tmp_path / "system_prompt.py").unlink()
    assert main(["adopt", "prompts.py:SYSTEM", "--rewrite-call"]) == 0
    assert f"\n+{new}\n" in capsys.readouterr().out
    expected = source.replace(
        b"import prompts\r\n",
        b"import prompts\r\nfrom system_prompt import SystemParams, system\r\n",
    )
    assert use.read_bytes() == expected.replace(
        b"prompts.SYSTEM.format(who=w)", new.split("return ")[1].encode()
    )


@pytest.mark.parametrize("protected", [True, False])
def test_a_call_that_cannot_be_rewritten_leaves_all_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], protected: bool
) -> None:
    (tmp_path / "pyproject.toml").touch()
    use = tmp_path / "use.py"
    call = "S.format(who=w)" if protected else "S.format(**w)"
    use.write_text(f"S = 'You help {{who}} with all things.'\ndef f(w):\n    return {call}\n")
    use.chmod(0o400 if protected else 0o600)
    assert main(["adopt", f"{use}:S", "--rewrite-call"]) == 2
    said = "is read-only" if protected else "use.py:3 doesn't show each value: s.render("
    assert said in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"pyproject.toml", "use.py"}


RULES = "# Rules\\n- Never promise a date to anyone.\\n- Be brief.\\n"


def test_several_prompts_share_the_sections_that_they_have_in_common(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'app'\nversion = '1'\n")
    (tmp_path / "bots.py").write_text(
        f'SUPPORT = "You are a support agent.\\n\\n{RULES}"\n'
        f'SALES_PROMPT = "You sell {{{{ what }}}}.\\n\\n{RULES}"\n'
        'ASK = "You are a bot of {who}, nobody fills this in."\n'
        "import jinja2\nSALES = jinja2.Template(SALES_PROMPT)\n"
    )
    (tmp_path / "other.py").write_text("SUPPORT = 'You are another agent of this other file.'\n")
    (tmp_path / "shared_sections.py").write_text("mine = 1\n")
    assert main(["adopt", ".", "bots.py:SUPPORT", "bots.py:SALES_PROMPT"]) == 0
    shown = capsys.readouterr().out
    assert (
        "wrote support_prompt.py: the prompt `support`, with sections of shared_sections_2.py\n"
        in shown
    )
    assert "wrote sales_prompt.py: the prompt `sales_prompt`, with sections" in shown
    assert shown.count("  checked: the new prompt shows the same text") == 2
    assert (tmp_path / "shared_sections_2.py").read_text().count("Never promise a date") == 1
    assert "Never promise" not in (tmp_path / "support_prompt.py").read_text()
    assert (tmp_path / "shared_sections.py").read_text() == "mine = 1\n"
    preview = foldline("preview", "support_prompt.py", folder=tmp_path).stdout
    assert preview.endswith("# Rules\n\n- Never promise a date to anyone.\n- Be brief.\n")
    assert main(["check", "."]) == 0
    for module in ("support_prompt.py", "sales_prompt.py", "shared_sections_2.py"):
        (tmp_path / module).unlink()
    capsys.readouterr()
    # A folder's list leaves out prompts of foldline's; what can't be adopted is said.
    assert main(["adopt", ".", "--all", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in data["adopted"]] == [
        *("support_prompt.py", "sales_prompt.py", "other_support_prompt.py"),
    ]
    assert all(one["same"] for one in data["adopted"])
    assert "bots.py:ASK: {who} looks like a placeholder" in data["failed"][0]
    assert main(["adopt", ".", "--all"]) == 1
    refused = capsys.readouterr()
    assert "support_prompt.py exists, and is left alone\n" in refused.err
    assert refused.out == ""
    assert main(["adopt", "bots.py", "--all"]) == 2
    assert main(["adopt", "bots.py:SUPPORT", "bots.py:ASK", "--output", "x.py"]) == 2


def test_options_of_a_text_count_for_all_prompts_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    items = "Items:\n{% for i in items %}\n- {{ i }}\n{% endfor %}\n"
    (tmp_path / "items_prompt.j2").write_text(items)
    (tmp_path / "text_prompt.txt").write_text("You help {name} with all of it.\n")
    assert main(["adopt", ".", "--all", "--trim-blocks", "--style", "jinja"]) == 0
    assert r'separator="\n",' in (tmp_path / "items_prompt.py").read_text()
    assert "You help {name} with all of it." in (tmp_path / "text_prompt.py").read_text()


def test_nothing_outside_of_the_project_is_read_through_a_link(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
        (folder / "pyproject.toml").touch()
    monkeypatch.chdir(root)
    text = "P = 'You are a bot that answers in verse, always.'\n"
    (outside / "secret.py").write_text(text)
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "here.py").write_text(text)
    (root / "same.py").symlink_to(root / "here.py")
    assert main(["adopt", ".", "--json"]) == 0
    assert [one["target"] for one in json.loads(capsys.readouterr().out)] == ["here.py:P"]
    assert main(["adopt", "link.py"]) == 2
    assert f"link.py links out of {root}: name {outside / 'secret.py'}" in capsys.readouterr().err
    assert main(["adopt", "same.py", "--dry-run"]) == 0
    # A link that leads out isn't written through, either.
    (root / "p_prompt.py").symlink_to(outside / "planted.py")
    capsys.readouterr()
    assert main(["adopt", "here.py"]) == 2
    assert "p_prompt.py exists, and is left alone" in capsys.readouterr().err
    assert {path.name for path in outside.iterdir()} == {"pyproject.toml", "secret.py"}


def test_a_message_that_is_left_out_is_told_by_the_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "shots.py"
    turns = [("system", "Classify it."), ("user", "I love it"), ("assistant", "good")]
    shots = [{"role": role, "content": text} for role, text in [*turns, ("user", "I hate it")]]
    source.write_text(f"M = {shots}\n")
    assert main(["adopt", str(source), "--dry-run"]) == 1
    told = capsys.readouterr().err
    assert "checked: the new prompt shows the same text, byte for byte\nLEFT OUT: 2 mess" in told
    assert main(["adopt", str(tmp_path), "--all", "--dry-run"]) == 1
