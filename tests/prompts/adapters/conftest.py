"""The adapters against a provider on loopback, streaming and not."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.prompts.runtime.bounded import EVALUATION_THREAD_NAME, THREAD_NAME

from .providers import Provider, serving
from .responses_wire import OpenAIResponsesWire
from .wires import AnthropicWire, Line, OpenAIWire, Wire


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Provider]:
    """A provider on loopback; nothing of the machine's own settings reaches the SDKs."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # Nothing is encrypted here, and reading the machine's certificates takes each client 50 ms.
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    with serving(Provider()) as made:
        yield made
    for left in threading.enumerate():
        if left.name in (THREAD_NAME, EVALUATION_THREAD_NAME):
            left.join(10)
            assert not left.is_alive(), "a request that was left behind never ended"


@pytest.fixture(params=[OpenAIWire(), OpenAIResponsesWire(), AnthropicWire()], ids=lambda w: w.api)
def wire(request: pytest.FixtureRequest) -> Wire:
    found: Wire = request.param
    return found


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def line(request: pytest.FixtureRequest, wire: Wire, provider: Provider) -> Line:
    return Line(wire, provider, request.param)
