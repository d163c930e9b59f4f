"""The command line itself."""

import subprocess
import sys

import pytest

from foldline.agent.cli import main


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
    with pytest.raises(SystemExit) as caught:
        main(["serve", "--tcp", address])
    assert caught.value.code == 2
    assert "[HOST:]PORT" in capsys.readouterr().err


def test_a_missing_extra_says_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['lsprotocol'] = None\n"
        "from foldline.agent.cli import main; sys.exit(main(['serve']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "pip install 'foldline[server]'" in done.stderr


def test_the_command_line_imports_nothing_that_it_does_not_need() -> None:
    code = (
        "import sys, foldline.agent.cli\n"
        "print({'pygls', 'lsprotocol', 'rich', 'tree_sitter', 'asyncio'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "set()"
