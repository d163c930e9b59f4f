"""The event of a request has the body that left, and a hook decides what of it is kept."""

import json
import re
import string
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.prompts import (
    ContextPolicy,
    MarkdownSection,
    PromptConfigurationError,
    PromptEvaluationError,
    PromptTemplate,
)
from foldline.prompts.adapters import RecordingAdapter
from foldline.prompts.runtime import (
    Conversation,
    EvaluationOptions,
    Image,
    InProcessEventBus,
    Redaction,
    evaluate_with_disclosure,
)
from foldline.prompts.runtime.events import Event, ModelAnswered, ModelFailed, RequestSent
from foldline.prompts.runtime.redaction import redacted

from .openings import SUMMARY, tool
from .providers import Json, Reply
from .wires import Line, Said

TEMPLATE = PromptTemplate[None](
    ns="t",
    key="stock",
    sections=[
        MarkdownSection[None](
            title="Stock", key="stock", template="All about it. ", tools=[tool("count")]
        ),
        MarkdownSection[None](
            title="Docs",
            key="docs",
            template="Returns go to returns@example.com.",
            summary="Returns.",
            visibility=SUMMARY,
            tools=[tool("return_item")],
        ),
    ],
)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(40))
CALLS = (
    Said("I count.", calls=(("count", {"word": "w" * 400}),), tag="a"),
    Said(calls=(("open_sections", {"section_keys": ["docs"], "reason": "returns"}),), tag="b"),
    Said(calls=(("count", {"word": "again"}),), tag="c"),
    Said("Done."),
)


def events_of(line: Line, *said: Said, **options: Any) -> list[Event]:
    events: list[Event] = []
    bus = InProcessEventBus()
    bus.subscribe(Event, events.append)
    line.will_say(*said)
    talk = Conversation().user("What is \ud800 this?", Image.of(PNG, "image/png"))
    evaluate_with_disclosure(
        line.adapter(options={"extra_body": {"trial": {"of": "it"}}, "extra_query": {"q": "1"}}),
        TEMPLATE,
        bus=bus,
        conversation=talk,
        on_text=line.on_text,
        context_policy=ContextPolicy(keep_turns=1, budget=100),
        **options,
    )
    return events


def bodies(events: list[Event]) -> list[Json]:
    return [dict(event.body) for event in events if isinstance(event, RequestSent)]


def test_the_event_has_the_body_as_the_provider_got_it(line: Line) -> None:
    """After openings, policies, images, halves of surrogate pairs, and what options add."""
    events = events_of(line, *CALLS, capture_requests=str)
    assert bodies(events) == line.provider.requests
    assert ["count heard www" in str(body) for body in bodies(events)] == [0, 1, 0, 0]
    kinds = [type(event) for event in events if isinstance(event, (RequestSent, ModelAnswered))]
    assert kinds == [RequestSent, ModelAnswered] * 4
    assert [event.turn for event in events if isinstance(event, RequestSent)] == [1, 2, 3, 4]


def test_nothing_is_captured_unless_it_is_asked_for(line: Line) -> None:
    assert not bodies(events_of(line, *CALLS))


def test_the_hook_gets_every_text_and_the_provider_what_was_written(line: Line) -> None:
    events = events_of(line, *CALLS, capture_requests=Redaction())
    assert "returns@example.com" in str(line.provider.requests[-1])
    assert "returns@example.com" not in str(bodies(events))
    assert "[address]" in str(bodies(events)[-1])


def test_a_request_that_fails_was_sent_and_one_that_is_wrapped_too(line: Line) -> None:
    events: list[Event] = []
    bus = InProcessEventBus()
    bus.subscribe(Event, events.append)
    line.provider.will(Reply(line.wire.error("no"), 400))
    adapter = RecordingAdapter(line.adapter())
    with pytest.raises(PromptEvaluationError):
        adapter.evaluate(TEMPLATE, bus=bus, capture_requests=str, on_text=line.on_text)
    kinds = [type(event) for event in events]
    assert kinds.index(RequestSent) < kinds.index(ModelFailed)
    assert bodies(events) == line.provider.requests


def test_a_hook_that_is_none_is_refused() -> None:
    with pytest.raises(PromptConfigurationError, match="such as Redaction"):
        EvaluationOptions(capture_requests=True)  # type: ignore[arg-type]


def test_a_hook_that_fails_keeps_nothing_of_the_text() -> None:
    def broken(text: str) -> str:
        raise ValueError(text)

    assert redacted(
        {"a": ["secret"], "b": 1}, lambda text: broken(text) if text == "secret" else text
    ) == {
        "a": ["[not redacted: ValueError]"],
        "b": 1,
    }


WORD = st.text(string.ascii_letters + string.digits, min_size=40, max_size=60).map("7a".__add__)
SECRETS = {
    "key": (
        "sk-{}", "sk-ant-api03-{}", "sk_live_{}", "ghp_{}", "github_pat_{}", "glpat-{}", "xoxb-{}",
        "hf_{}", "gsk_{}", "npm_{}", "pypi-{}", "-----BEGIN EC PRIVATE KEY-----\n{}",
        "PASSWORD={}", "client_secret: '{}'", '"api_key": "{}"', "DB_PASSPHRASE = {}",
    ),
    "token": ("eyJh{0}.{0}.{0}", "Authorization: Bearer {}", "postgresql://ann:{}@db.example/x"),
    "address": ("{}@mail.example.com",),
}  # fmt: skip


@given(
    st.sampled_from([(name, form) for name, forms in SECRETS.items() for form in forms]),
    WORD,
    st.sampled_from(["", "See ", "a\n", "\\n", "(", '"', "key is: "]),
    st.sampled_from(["", " and more", "\nend", '"}', ", then"]),
)
@example(("address", "{}@mail.example.com"), "7a" * 20, "\\n", "")
def test_planted_secrets_go_and_what_is_around_them_stays(
    secret: tuple[str, str], word: str, before: str, after: str
) -> None:
    name, form = secret
    text = Redaction()(f"{before}{form.format(word)}{after}")
    assert word not in text
    assert f"[{name}]" in text
    assert text.startswith(before)
    assert "PRIVATE" in form or text.endswith(after)
    assert Redaction()(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Version 1.2.3.4.5 of 12:30:45, std::vector, a@b, and C++ a::b.",
        "password = getpass.getpass()\napi_key: str | None = None",
        "The api_key: string, see section 4. Section_key: docs2.",
        "Never log passwords, keys or tokens: 12 of them did.",
        "task-force-of-the-year-2026, sk-learn, https://example.com/a:b@c",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redaction()(text) == text


@pytest.mark.parametrize("times", [1, 2], ids=["JSON", "JSON in JSON"])
@pytest.mark.parametrize("value", ["ab\"cd' ef", "it's \\ mine", "end\\", '"', '\\"'])
def test_a_quoted_value_goes_whole_with_the_quotes_in_it(value: str, times: int) -> None:
    text = json.dumps({"password": value, "note": 'it "stays"'})
    for _ in range(times - 1):
        text = json.dumps({"arguments": text})
    around = r'\{(?:"arguments": "\{)?\\?"\[key\]\\?", \\?"note.*stays.*'
    assert re.fullmatch(around, Redaction()(text))


VALUES = st.text(st.sampled_from("ab1 \"'\\\n]é"), min_size=1, max_size=12)
TREES = st.recursive(
    st.dictionaries(st.sampled_from(["password", "api_key", "note", "$defs"]), VALUES),
    lambda inner: st.dictionaries(st.sampled_from(["a", "secret"]), inner | st.lists(inner)),
)


def by_name(tree: Any) -> Any:
    if isinstance(tree, list):
        return [by_name(item) for item in tree]
    secret = {"password", "api_key"}
    return {
        name: ("[key]" if name in secret else value) if isinstance(value, str) else by_name(value)
        for name, value in tree.items()
    }


@given(TREES)
def test_a_text_that_its_name_tells_to_be_a_secret_goes(tree: Json) -> None:
    assert redacted(tree, Redaction()) == by_name(tree)
    assert redacted(tree, str) == tree


def test_patterns_of_ones_own_replace_the_ready_ones() -> None:
    redact = Redaction({"customer": r"C-\d+"})
    assert redact("C-12 wrote to a@example.com") == "[customer] wrote to a@example.com"
    with pytest.raises(re.error):
        Redaction({"bad": "("})
