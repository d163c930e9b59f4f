"""Every example of the pages on evaluation runs, those with providers against loopback."""

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from .providers import Provider
from .responses_wire import OpenAIResponsesWire
from .wires import AnthropicWire, Line, OpenAIWire, Said

DOCS = Path(__file__).resolve().parents[3] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_last_step_of_the_first_tutorial(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    provider.will(
        OpenAIWire().whole(Said(calls=(("read_section", {"section_key": "policies"}),))),
        OpenAIWire().whole(Said("Within 14 days.")),
    )
    blocks = BLOCK.findall((DOCS / "02-first-prompt.md").read_text(encoding="utf-8"))
    module = ModuleType("review")
    monkeypatch.setitem(sys.modules, "review", module)
    exec(blocks[0], module.__dict__)
    exec(blocks[-1], {})
    assert capsys.readouterr().out == "Within 14 days.\n"
    assert "Never ask for a password" in json.dumps(provider.requests[1])


def run_page(name: str) -> None:
    """Run the blocks of a page one after the other in one namespace, with the page's lines."""
    page = DOCS / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": name}
    blocks = list(BLOCK.finditer(text))
    assert blocks
    for block in blocks:
        before = text[: block.start(1)].count("\n")
        exec(compile("\n" * before + block[1], page, "exec"), namespace)


def test_the_page_on_evaluation() -> None:
    run_page("06-evaluate")


def test_the_page_on_adapters(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
    answer = Said(json.dumps({"title": "Move", "steps": ["Try it"]}))
    openai, responses, anthropic = OpenAIWire(), OpenAIResponsesWire(), AnthropicWire()
    provider.will(
        openai.whole(answer),
        anthropic.whole(answer),
        responses.whole(answer),
        openai.whole(answer),
        responses.whole(answer),
        responses.whole(answer),
        Line(responses, provider, streaming=True).reply(answer),
        openai.whole(answer),
    )
    run_page("adapters")
    assert provider.replies == []
    assert provider.paths == [
        "/v1/chat/completions",
        "/v1/messages",
        "/v1/responses",
        "/v1/chat/completions",
        *["/v1/responses"] * 3,
        "/v1/chat/completions",
    ]
