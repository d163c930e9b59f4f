"""The command line itself."""

import argparse
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from foldline.agent import cli
from foldline.agent.cli import main
from foldline.agent.refusals import report
from foldline.ide.operations import MODULES

from .verbs import PLUGIN_VERBS, VERB_MODULES

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert "serve" in text
    assert "tour" in text


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:", "127.0.0.1:99999", "1.2.3.4:-1"])
def test_an_address_that_is_none_is_refused(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--tcp", address]) == 2
    assert "[HOST:]PORT" in capsys.readouterr().err


@pytest.mark.real
def test_a_missing_extra_says_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['lsprotocol'] = None\n"
        "from foldline.agent.cli import main; sys.exit(main(['serve']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "install foldline[server]" in done.stderr


def loaded_by(*words: str) -> set[str]:
    """The modules that a process has loaded when this command line has been carried out."""
    code = (
        "import contextlib, sys\n"
        "from foldline.agent.cli import main\n"
        "with contextlib.suppress(SystemExit):\n"
        "    main(sys.argv[1:])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=EXAMPLE,
    )
    return set(done.stderr.splitlines()[-1].split())


def own(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("foldline.")}


@pytest.mark.real
def test_the_version_is_shown_without_the_parser_or_a_verb() -> None:
    loaded = loaded_by("--version")
    assert own(loaded) == {
        "foldline.agent",
        "foldline.agent.cli",
        "foldline.lazy",
        "foldline.version",
    }
    assert not loaded & {"argparse", "json", "logging", "pathlib"}


def test_the_version_is_the_parsers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    shown = capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--versio"])
    assert capsys.readouterr().out == shown


# What each command may load: packages of others, and how many modules of ours, with those of the
# thread that indexes, which may have begun or not when the command ends.
FILES = {"platformdirs", "regex", "typing_extensions"}
PARSERS = {"tree_sitter", "tree_sitter_python"}
IMPORTS = {
    "tree": (FILES, 87),
    "lines review.py 1-9": (set(), 91),
    "read review.py": (set(), 100),
    "outline review.py": (FILES | PARSERS, 112),
    "symbol review.py Reviewer": (FILES | PARSERS, 120),
    # With the plugins, as files here name it.
    "refs --seconds 0 Review": (FILES | PARSERS | {"tree_sitter_markdown"}, 214),
    "search review": (FILES | PARSERS, 125),
    "grep review": (FILES, 91),
}


@pytest.mark.real
@pytest.mark.parametrize("line", IMPORTS)
def test_a_command_keeps_to_its_budget_of_imports(line: str) -> None:
    packages, most = IMPORTS[line]
    loaded = loaded_by(*line.split())
    others = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert others <= {"foldline", "__main__", *packages}
    assert 50 < len(own(loaded)) <= most


# What no verb needs to show its help.
LATER = {
    "asyncio", "cattrs", "foldline.backends.file_access", "foldline.backends.models",
    "foldline.ide.analysis", "foldline.prompts", "jedi", "lsprotocol", "mcp", "pygls", "regex",
    "rich", "sqlite3", "tree_sitter",
}  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize("verb", VERB_MODULES)
def test_a_verb_loads_the_module_of_no_other(verb: str) -> None:
    loaded = loaded_by(verb, "--help")
    expected = {VERB_MODULES[verb]}
    if verb == "context" or verb in PLUGIN_VERBS:
        # It may be answered by a model as operations are, or is looked for among them first.
        expected.add("foldline.agent.code")
    assert loaded & set(VERB_MODULES.values()) == expected
    assert not loaded & LATER


@pytest.mark.real
def test_an_operation_is_loaded_without_those_behind_it() -> None:
    loaded = loaded_by("grep", "--help")
    names = [name for name in MODULES if f"foldline.ide.operations.{name}" in loaded]
    assert names == ["code_tree", "code_search_files", "code_grep"]


PARSING = {
    "foldline.backends.ast_backend",
    "foldline.backends.outlines.locations",
    "foldline.backends.models.references",
    "foldline.backends.models.symbols",
    "foldline.backends.outlines.parsing",
    "tree_sitter",
}
# Besides those that it needs: the modules that each verb doesn't load to answer.
UNUSED = {
    ("tree",): {*PARSING, "foldline.backends.search.grep"},
    ("grep", "SessionStore"): {*PARSING, "foldline.backends.search.search"},
    ("search", "session"): {"foldline.backends.search.grep"},
    ("outline", "auth/service.py"): {
        "foldline.backends.search.grep",
        "foldline.backends.search.search",
    },
    ("refs", "--seconds", "0", "SessionStore"): {
        "foldline.backends.search.grep",
        "foldline.backends.models.hits",
        "multiprocessing",
    },
    ("symbol", "auth/service.py", "AuthService"): {
        "foldline.backends.references.references",
        "foldline.backends.search.grep",
    },
    ("lines", "auth/errors.py", "1-2"): {*PARSING, "foldline.backends.search.grep"},
}


@pytest.mark.real
@pytest.mark.parametrize("words", UNUSED, ids=lambda words: words[0])
def test_a_command_loads_what_its_answer_needs(words: tuple[str, ...]) -> None:
    never = {
        "asyncio", "cattrs", "foldline.backends.lsp", "foldline.ide.analysis", "foldline.prompts",
        "jedi", "mcp", "pygls", "rich",
    }  # fmt: skip
    loaded = loaded_by(*words)
    assert "foldline.backends.file_access" in loaded
    assert not loaded & (never | UNUSED[words])


def shown(*words: str) -> str:
    with pytest.raises(SystemExit), redirect_stdout(StringIO()) as out, redirect_stderr(out):
        main(words)
    return out.getvalue()


@pytest.mark.parametrize("verb", VERB_MODULES)
def test_the_parser_of_one_verb_is_the_one_among_all(verb: str) -> None:
    parser = argparse.ArgumentParser(prog="foldline")
    verbs = parser.add_subparsers(metavar="COMMAND", required=True)
    cli.add_verbs(cli.Listing(verbs))
    assert shown(verb, "--help") == verbs.choices[verb].format_help()


@pytest.mark.parametrize("words", [("--help",), ("help",)])
def test_help_lists_every_verb_in_its_group(words: tuple[str, ...]) -> None:
    text = shown(*words)
    assert text.startswith("usage: foldline [-h] [--version] COMMAND ...")
    for verb in VERB_MODULES:
        assert f"\n  {verb} " in text
    for heading in cli.HEADINGS:
        assert f"\n{heading}:\n  " in text
    prompts = text.partition("Prompts:")[2].partition("Code:")[0]
    assert {"adopt", "runs"} <= set(prompts.split())


def test_nothing_shows_the_help_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "First steps:" in capsys.readouterr().err


def test_help_of_a_verb_is_that_of_its_option() -> None:
    assert shown("help", "grep") == shown("grep", "--help")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["prevew"], "there is no command 'prevew': did you mean `preview`?"),
        (["chek", "--help"], "there is no command 'chek': did you mean `check`?"),
        (["nonsense"], "there is no command 'nonsense': `foldline --help` lists what there is."),
        ([""], "there is no command '': `foldline --help`"),
        (
            ["grep", "x", "--budegt", "5"],
            "`foldline grep` takes no '--budegt': did you mean `--budget`? `foldline grep --help`",
        ),
        (["check", "--formt=json"], "did you mean `--format`?"),
        (["check", "--format=jsn"], "concise, json, sarif, github: did you mean `json`?"),
        *(
            ([*verb, wrong], f"there is no client {wrong!r}; did you mean {near!r}?")
            for verb in (["install"], ["stack", "--client"])
            for wrong, near in (("claude", "claude-code"), ("VSCode", "copilot"))
        ),
        (["install"], "name a client, or set `clients` in foldline.toml: there are opencode, "),
        (["--budget=5", "tree"], "foldline: write --budget behind `foldline tree`"),
        (
            ["--bugdet=5", "tree"],
            "`foldline tree` takes no '--bugdet': did you mean `--budget`?",
        ),
        (["doctor", "a", "b"], "`foldline doctor` takes no 'b': `foldline doctor --help`"),
    ],
)
def test_what_does_not_exist_is_told_with_near_names(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["preview", "a\u202eb"], ["adopt", "a\u202eb.py"], ["mcp", "--root", "a\u202eb"], ["check"]],
)
def test_marks_that_turn_text_round_are_shown(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.\n")
    (tmp_path / "pyproject.toml").write_text('[tool.foldline]\n"a\u202eb" = 1\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    main(words)
    said = capsys.readouterr()
    assert "a\\u202eb" in said.err
    assert "\u202e" not in said.out + said.err


def test_every_example_of_the_help_is_a_command_line() -> None:
    lines = [line for line in cli.EXAMPLES.splitlines() if line.startswith("  foldline")]
    assert len(lines) > 5
    for line in lines:
        first, *words = line.split()[1:]
        parser, _ = cli._parser(first)
        assert callable(parser.parse_args([first, *words]).run)


@pytest.mark.real
def test_the_package_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "foldline", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == f"{cli.TITLE}\n"


def completed(line: str, folder: Path) -> list[str]:
    """What bash offers for a line, as its own completion function computes it."""
    script = f"""
        eval "$(foldline completion bash)"
        COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)} COMP_TYPE=9
        read -r -a COMP_WORDS <<<"$COMP_LINE"
        [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _python_argcomplete foldline "${{COMP_WORDS[-1]}}" "${{COMP_WORDS[-2]}}"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
    )
    return sorted(found.strip() for found in done.stdout.splitlines() if found.strip())


@pytest.mark.real
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("foldline che", ["check"]),
        ("foldline check --f", ["--fail-on", "--format"]),
        ("foldline check --format g", ["github"]),
        ("foldline check pro", ["prompts/"]),
    ],
)
def test_bash_completes(line: str, offered: list[str], tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    assert completed(line, tmp_path) == offered


@pytest.mark.real
@pytest.mark.parametrize("shell", ["zsh", "fish", "powershell"])
def test_other_shells_have_a_script(shell: str) -> None:
    assert main(["completion", shell]) == 0


@pytest.mark.parametrize("json", [False, True])
def test_what_the_system_refuses_is_no_fault(
    capsys: pytest.CaptureFixture[str], json: bool
) -> None:
    error = PermissionError(13, "Permission denied", "locked/\n.py")
    assert report(error, ["check", *["--json"] * json]) == 2
    out, err = capsys.readouterr()
    assert "locked/\\n.py: Permission denied" in (out if json else err).replace("\\\\", "\\")
    assert "report it" not in out + err
