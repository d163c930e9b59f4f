"""What the client sets, and what it is told about what it set wrongly."""

from pathlib import Path

import pytest

from foldline.ide.settings import Network, Settings, read_settings

from .conftest import Connect


def test_nothing_set_is_untrusted() -> None:
    assert read_settings(None) == (Settings(), ())
    assert Settings().trusted is False


def test_what_fits_is_taken_and_what_does_not_is_named() -> None:
    settings, problems = read_settings(
        {
            "trusted": "yes",
            "render_deadline": 3,
            "interpreter": None,
            "client_commands": ["foldline.preview", 3],
            "colour": "blue",
        }
    )
    assert settings == Settings(render_deadline=3.0)
    assert len(problems) == 3
    assert any("colour" in problem for problem in problems)
    assert any("trusted" in problem for problem in problems)


def test_the_network_is_allowed_or_denied() -> None:
    settings, problems = read_settings({"preview": {"network": "deny"}})
    assert (settings.preview.network, problems) == (Network.DENY, ())
    settings, problems = read_settings({"preview": {"network": "no"}})
    assert settings == Settings()
    assert len(problems) == 1


@pytest.mark.parametrize("options", [3, [], "trusted"])
def test_options_that_are_no_object_are_named(options: object) -> None:
    settings, problems = read_settings(options)
    assert settings == Settings()
    assert problems


@pytest.mark.real
async def test_wrong_settings_are_told_once(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path, trusted="yes")
    await editor.command("status")
    (message,) = editor.client.messages
    assert "trusted" in message.message
