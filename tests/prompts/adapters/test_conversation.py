"""Conversations: typed turns, as JSON, and as either provider is sent them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import Example, MarkdownSection, PromptTemplate, Tool, ToolContext, ToolResult
from foldline.prompts.adapters.anthropic import AnthropicAdapter
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError, PromptValidationError
from foldline.prompts.runtime import (
    AssistantTurn,
    CallMade,
    Conversation,
    DeveloperTurn,
    File,
    Image,
    Session,
    SessionSnapshot,
    SystemTurn,
    ToolAnswer,
    ToolTurn,
    UserTurn,
)

from .providers import Json, serving
from .wire.simulators import (
    AnthropicSimulator,
    OpenAIResponsesSimulator,
    OpenAISimulator,
    Simulator,
)
from .wires import Said

if TYPE_CHECKING:
    from pathlib import Path

MODELS = {
    AnthropicSimulator: "claude-opus-5-5",
    OpenAISimulator: "gpt-5.6",
    OpenAIResponsesSimulator: "gpt-5.6",
}
SIMULATORS = pytest.mark.parametrize("simulator", MODELS)


@FrozenDataclass()
class City:
    name: str = "Oslo"


def weather(params: City, *, context: ToolContext) -> ToolResult[str]:
    del context
    return ToolResult("", f"Rain in {params.name}.")


TEMPLATE = PromptTemplate(
    ns="t",
    key="chat",
    system=[
        MarkdownSection[None](
            title="Rules",
            key="rules",
            template="Be brief.",
            tools=[Tool[City, str](name="weather", description="Weather.", handler=weather)],
        )
    ],
    sections=[
        MarkdownSection[None](title="Style", key="style", template="Dry.", role="developer"),
        MarkdownSection[None](title="Ask", key="ask", template="Hello."),
    ],
)

# As JSON

TEXT = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=3)
DATA = st.binary(max_size=6)
PARTS = st.one_of(
    TEXT,
    st.builds(Image.of, DATA, st.sampled_from(["image/png", "image/jpeg"])),
    st.builds(Image, url=TEXT.map("https://x/{}".format)),
    st.builds(File.of, DATA, st.just("application/pdf"), TEXT),
)
CALLS = st.builds(CallMade, TEXT, TEXT, TEXT | OBJECTS)
ANSWERS = st.builds(ToolAnswer, TEXT, TEXT, TEXT, st.booleans(), st.lists(TEXT).map(tuple))
TURNS = st.one_of(
    st.builds(SystemTurn, TEXT),
    st.builds(DeveloperTurn, TEXT),
    st.builds(UserTurn, st.lists(PARTS, min_size=1, max_size=3).map(tuple)),
    st.builds(
        AssistantTurn,
        TEXT,
        st.lists(CALLS, max_size=2).map(tuple),
        TEXT,
        st.none() | st.lists(OBJECTS, max_size=2).map(tuple),
    ),
    st.builds(ToolTurn, st.lists(ANSWERS, max_size=2).map(tuple)),
)
CONVERSATIONS = st.builds(
    Conversation,
    st.lists(TURNS, max_size=4).map(tuple),
    st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    st.integers(0, 3),
    st.booleans(),
    st.lists(st.lists(TEXT, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
)


@given(CONVERSATIONS)
def test_a_conversation_comes_back_from_its_json(conversation: Conversation) -> None:
    assert Conversation.from_json(conversation.to_json()) == conversation


@given(CONVERSATIONS)
def test_a_session_keeps_a_conversation_in_its_snapshot(conversation: Conversation) -> None:
    session = Session()
    session[Conversation].replace(conversation)
    again = Session()
    again.restore(SessionSnapshot.from_json(session.snapshot().to_json()))
    assert again.conversation() == conversation


@pytest.mark.parametrize(
    "text", ["[]", '{"turns": [{"role": "nobody"}]}', '{"turns": [], "format": 2}', "{"]
)
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"conversation|Expecting"):
        Conversation.from_json(text)


# Images and files


def test_parts_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"png")
    (tmp_path / "a.pdf").write_bytes(b"pdf")
    (tmp_path / "a.foldline").write_bytes(b"?")
    image = Image.read(tmp_path / "a.png")
    assert (image.media_type, image.data) == ("image/png", base64.b64encode(b"png").decode())
    assert File.read(tmp_path / "a.pdf").name == "a.pdf"
    with pytest.raises(PromptValidationError, match=r"isn't that of an image"):
        Image.read(tmp_path / "a.pdf")
    with pytest.raises(PromptValidationError, match=r"isn't that of a file of a known type"):
        File.read(tmp_path / "a.foldline")
    with pytest.raises(PromptValidationError, match=r"either `data` or a `url`"):
        Image()
    with pytest.raises(PromptValidationError, match=r"needs its `media_type`"):
        File(data="eA==")
    with pytest.raises(PromptValidationError, match=r"at least one part"):
        Conversation().user()


PNG, PDF = Image.of(b"png", "image/png"), File.of(b"pdf", "application/pdf", "a.pdf")
TXT = File.of("héllo".encode(), "text/plain", "a.txt")


def last_user(simulator: type[Simulator], *parts: str | Image | File) -> Json:
    with serving(simulator([Said("Seen.")])) as provider:
        provider.adapter(model=MODELS[simulator]).evaluate(
            TEMPLATE, conversation=Conversation().user(*parts)
        )
    assert provider.refusals == []
    message: Json = provider.wire.sent(provider.requests[0])[-1]
    return message


def test_anthropic_gets_images_and_files() -> None:
    web = Image(url="https://x/y.png")
    content = last_user(AnthropicSimulator, "See:", PNG, PDF, TXT, web)["content"]
    assert content == [
        {"type": "text", "text": "See:"},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG.data},
        },
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF.data},
            "title": "a.pdf",
        },
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "héllo"},
            "title": "a.txt",
        },
        {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
    ]
    with pytest.raises(PromptConfigurationError, match=r"takes PDF and text files, not 'a/b'"):
        last_user(AnthropicSimulator, File.of(b"", "a/b", "c"))


def test_openai_gets_images_and_files() -> None:
    content = last_user(OpenAISimulator, "See:", PNG, PDF)["content"]
    assert content == [
        {"type": "text", "text": "See:"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG.data}"}},
        {
            "type": "file",
            "file": {
                "filename": "a.pdf",
                "file_data": f"data:application/pdf;base64,{PDF.data}",
            },
        },
    ]
    with pytest.raises(PromptConfigurationError, match=r"not its URL 'https://x'; give `data`"):
        last_user(OpenAISimulator, File(url="https://x"))


def test_responses_get_images_and_files() -> None:
    web = File(url="https://x/y.pdf")
    assert last_user(OpenAIResponsesSimulator, "See:", PNG, PDF, web)["content"] == [
        {"type": "input_text", "text": "See:"},
        {
            "type": "input_image",
            "image_url": f"data:image/png;base64,{PNG.data}",
            "detail": "auto",
        },
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": f"data:application/pdf;base64,{PDF.data}",
        },
        {"type": "input_file", "file_url": "https://x/y.pdf"},
    ]


# Chats


@SIMULATORS
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_chat_keeps_all_that_was_said(simulator: Any, streamed: bool) -> None:
    script = [Said("Hm.", (("weather", {}),)), Said("Rain."), Said("No.", (("weather", {}),))]
    heard: list[str] = []
    with serving(simulator([*script, Said("Still rain.")])) as provider:
        adapter = provider.adapter(model=MODELS[simulator])
        options: Any = {"on_text": heard.append} if streamed else {}
        session = Session()
        first = adapter.evaluate(TEMPLATE, session=session, conversation=Conversation(), **options)
        assert first.conversation == session.conversation()
        assert [turn.role for turn in first.conversation.turns] == [
            *("system", "developer", "user", "assistant", "tool", "assistant")
        ]
        stored = Conversation.from_json(session.conversation().to_json())
        second = adapter.evaluate(TEMPLATE, conversation=stored.user("And now?"), **options)
    assert second.text == "Still rain."
    assert provider.refusals == []
    assert provider.kept_shares() == [1.0, 1.0, 1.0]
    assert "".join(heard) == ("Hm.Rain.No.Still rain." if streamed else "")


@SIMULATORS
def test_examples_stand_between_the_instructions_and_the_user(simulator: Any) -> None:
    pairs: list[Any] = [
        ("2 + 2", "4"),
        Example(City("Rome"), {"rain": False}, reasoning="I looked."),
    ]
    with serving(simulator([Said("6")])) as provider:
        provider.adapter(model=MODELS[simulator]).evaluate(
            TEMPLATE, conversation=Conversation().with_examples(pairs).user("3 + 3")
        )
    sent = provider.wire.sent(provider.requests[0])
    messages = [m for m in sent if m["role"] in ("user", "assistant")]
    assert [_text(message) for message in messages] == [
        "2 + 2",
        "4",
        '{"name": "Rome"}',
        '{"rain": false}',
        "## 3. Ask\n\nHello.",
        "3 + 3",
    ]
    with pytest.raises(PromptConfigurationError, match="has begun"):
        Conversation().begin(TEMPLATE.render().messages).with_examples(pairs)


def _text(message: Json) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def test_one_provider_goes_on_where_the_other_was() -> None:
    with serving(OpenAISimulator([Said("Hm.", (("weather", {}),)), Said("Rain.")])) as provider:
        first = provider.adapter(model="gpt-5.6").evaluate(TEMPLATE)
    with serving(AnthropicSimulator([Said("Yes.")])) as other:
        other.adapter(model="claude-sonnet-5").evaluate(
            TEMPLATE, conversation=first.conversation.user("Sure?")
        )
    assert other.refusals == []
    said = other.requests[0]["messages"][1]["content"]
    assert [block["type"] for block in said] == ["text", "tool_use"]
    assert said[1]["input"] == {}
    assert [block["type"] for block in other.requests[0]["system"]] == ["text", "text"]


def test_a_conversation_that_the_model_ended_needs_a_turn_of_the_user() -> None:
    with serving(AnthropicSimulator([Said("Hello.")])) as provider:
        adapter = provider.adapter()
        said = adapter.evaluate(TEMPLATE).conversation
        with pytest.raises(PromptConfigurationError, match="say what the user says next"):
            adapter.evaluate(TEMPLATE, conversation=said)


def test_what_a_model_cannot_be_told_is_said_before_it_is_asked() -> None:
    only = PromptTemplate(ns="t", key="p", system=[TEMPLATE.sections[0].clone(role=None)])
    later = Conversation().user("Hi.").system("Be quick.")
    with serving(AnthropicSimulator([Said("Hi.")] * 3)) as provider:
        adapter = provider.adapter(model="claude-sonnet-5")
        with pytest.raises(PromptConfigurationError, match="has no message of the user"):
            adapter.evaluate(only)
        with pytest.raises(PromptConfigurationError, match="only at the beginning"):
            adapter.evaluate(only, conversation=later)
        newer = provider.adapter(model="claude-opus-4-8")
        with pytest.raises(PromptConfigurationError, match="after the user's turn"):
            newer.evaluate(only, conversation=later.user("Go on."))
        newer.evaluate(only, conversation=later)
    assert provider.refusals == []
    assert [m["role"] for m in provider.requests[0]["messages"]] == ["user", "system"]


@pytest.mark.parametrize(
    ("model", "deferred", "system"),
    [
        ("claude-opus-4-8", True, True),
        ("claude-opus-4-5-20251101", True, False),
        ("claude-sonnet-4-20250514", False, False),
        ("claude-sonnet-5", True, False),
        ("claude-sonnet-5-5", True, True),
        ("us.anthropic.claude-haiku-5-5-v1:0", True, True),
        ("claude-fable-5", True, True),
        ("claude-3-5-sonnet-20241022", False, False),
        ("some-other-model", False, False),
    ],
)
def test_models_are_known_by_their_names(model: str, deferred: bool, system: bool) -> None:
    appending = AnthropicAdapter(model, api_key="x").appending
    assert appending is not None
    assert (appending.tools == "deferred", appending.system) == (deferred, system)
    assert AnthropicAdapter(model, api_key="x", appending=None).appending is None


def test_a_request_that_nothing_follows_is_not_written_to_the_cache() -> None:
    plain = PromptTemplate(ns="t", key="p", sections=[TEMPLATE.sections[2]])
    with serving(AnthropicSimulator([Said("Hi.")] * 4)) as provider:
        adapter = provider.adapter()
        hello = adapter.evaluate(plain)
        adapter.evaluate(plain, conversation=hello.conversation.user("More."))
        provider.adapter(options={"cache_control": None}).evaluate(TEMPLATE)
        hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
        provider.adapter(options=hour).evaluate(TEMPLATE)
    assert [request.get("cache_control") for request in provider.requests] == [
        None,
        {"type": "ephemeral"},
        None,
        {"type": "ephemeral", "ttl": "1h"},
    ]
