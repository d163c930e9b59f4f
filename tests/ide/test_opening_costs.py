"""What a button says that opening costs is what both providers bill for it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.prompts.adapters.wire import anthropic_rule, openai_rule
from tests.prompts.adapters.wire.prefix import Json, Metered, canonical

from foldline.ide import cost_texts
from foldline.ide.prompts.request import IN_EDITOR
from foldline.ide.render import renderer
from foldline.ide.render.render import Render
from foldline.ide.render.token_costs import with_costs
from foldline.ide.structuring import structure
from foldline.ide.token_counter import TokenCounter
from foldline.prompts import (
    MarkdownSection,
    PerRequest,
    PerSession,
    Prompt,
    PromptTemplate,
    RenderedPrompt,
    Section,
    SectionVisibility,
    Stable,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts import rendered as rendered_prompts
from foldline.prompts.adapters.anthropic import AnthropicAdapter
from foldline.prompts.adapters.openai import OpenAIAdapter
from foldline.prompts.cache import tokens as estimates
from foldline.prompts.disclosure.disclosure import requested_expansion
from foldline.prompts.disclosure.retry import rebind_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY
MINIMUM = 1_024
LONG = "Rules. " * 200


@dataclass(frozen=True)
class Values:
    product: Annotated[str, Stable] = "a product"
    customer: Annotated[str, PerSession] = "a customer"
    request: Annotated[str, PerRequest] = "a request"
    note: str = "a note"
    off: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    verdict: str
    score: int


def tokens(text: str) -> int:
    """A token per byte; a tool or a schema has those of what it says, whatever is put around it."""
    if not text.startswith(("{", "[{")):
        return len(text.encode())
    value = json.loads(text)
    found = value if isinstance(value, list) else [value]
    return sum(len(canonical(_bare(one)).encode()) for one in found if one is not None)


def _bare(sent: Json) -> object:
    if sent.get("type") == "json_schema":
        return sent["json_schema"]["schema"]
    sent = sent.get("function", sent)
    if "description" not in sent:
        return sent
    schema = next(sent[name] for name in ("schema", "parameters", "input_schema") if name in sent)
    return [sent["name"], sent["description"], schema]


COUNTER = TokenCounter("bytes", True, tokens)


@pytest.fixture(scope="module", autouse=True)
def _one_tokenizer() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anthropic_rule, "tokens_of", tokens)
        patch.setattr(openai_rule, "tokens_of", tokens)
        for module in (estimates, rendered_prompts):
            patch.setattr(module, "estimated_tokens", tokens)
        patch.syspath_prepend(str(renderer.WORKER.parent))
        yield
        for name in [name for name in sys.modules if name.startswith("_foldline_")]:
            del sys.modules[name]


class Anthropic:
    """Anthropic's messages, with the schema of the output in the system part."""

    adapter = AnthropicAdapter("claude-sonnet-5", client=object())  # type: ignore[arg-type]

    def __init__(self) -> None:
        self.cache = anthropic_rule.AnthropicCache()

    def bill(self, rendered: RenderedPrompt[Any]) -> Metered:
        body = self.adapter.request(rendered)
        output: Any = body.get("output_config")
        if output is not None:
            system: Any = body.get("system", [])
            schema = {"type": "text", "text": json.dumps(output["format"]["schema"])}
            body["system"] = [schema, *system]
        return self.cache.meter(body)


class OpenAI:
    """OpenAI's chat completions."""

    adapter = OpenAIAdapter("gpt-5.6", client=object())  # type: ignore[arg-type]

    def __init__(self) -> None:
        self.cache = openai_rule.OpenAICache()

    def bill(self, rendered: RenderedPrompt[Any]) -> Metered:
        return self.cache.meter(self.adapter.request(rendered))


TEXTS = st.lists(
    st.sampled_from(
        ("Short. ", "Long. " * 60, "${product} ", "${customer} ", "${request} ", "${note} ", "é🎉 ")
    ),
    min_size=1,
    max_size=4,
).map("".join)


@st.composite
def sections(draw: st.DrawFn, keys: Iterator[int], depth: int, *, tools: bool) -> Section[object]:
    key = f"s{next(keys)}"
    tool = Tool[Answer, str](
        name=f"tool_{key}", description="Looks it up. " * draw(st.integers(1, 30)), handler=_handle
    )
    children = draw(st.integers(0, 2 if depth else 0))
    gated = draw(st.booleans())
    return MarkdownSection[Values](
        title=f"Title of {key}",
        key=key,
        template=draw(TEXTS),
        summary=draw(TEXTS),
        visibility=draw(st.sampled_from((FULL, SUMMARY))),
        enabled=(lambda values: key not in values.off) if gated else None,
        tools=[tool] if tools and draw(st.booleans()) else [],
        children=[draw(sections(keys, depth - 1, tools=tools)) for _ in range(children)],
    )


def folded(number: int) -> Section[object]:
    return MarkdownSection[None](
        title="Last", key=f"s{number}", template="All.", summary="Some.", visibility=SUMMARY
    )


def _handle(params: Answer, *, context: ToolContext) -> ToolResult[str]:
    raise NotImplementedError


@st.composite
def prompts(draw: st.DrawFn) -> Prompt[Any]:
    """A prompt with values: roles, tools, tasks, chosen and gated sections, an output."""
    keys = count()
    # Often a long prefix that caches keep, and tools that stay as they are.
    stays = draw(st.booleans())
    system = [
        draw(sections(keys, 1, tools=not stays))
        for _ in range(draw(st.integers(0, 0 if stays else 2)))
    ]
    user = [draw(sections(keys, 2, tools=not stays)) for _ in range(draw(st.integers(1, 3)))]
    if stays:
        ends = st.sampled_from(("${product}", "${customer}", "${request}", "${note}"))
        for text in (LONG + draw(ends), draw(TEXTS)):
            long = MarkdownSection[Values](title="Long", key=f"s{next(keys)}", template=text)
            draw(st.sampled_from((system, user))).insert(0, long)
        user.append(folded(next(keys)))
    task = TaskSection[Task](summary="A task." if draw(st.booleans()) else None)
    user.insert(draw(st.integers(0, len(user))), task)
    kind: Any = PromptTemplate[Answer] if draw(st.booleans()) else PromptTemplate[None]
    disclosure = draw(st.sampled_from(("auto", "open")))
    template = kind(ns="t", key="t", system=system, sections=user, disclosure=disclosure)
    off = draw(st.lists(st.sampled_from([f"s{n}" for n in range(next(keys))]), unique=True))
    bound = [Values(off=tuple(off))]
    tasks = [Task(request="Go.")] if draw(st.booleans()) else [Task(request="Go on." * 200)]
    made: Prompt[Any] = template.bind(*bound, *tasks)
    return made


def shown(rendered: RenderedPrompt[Any]) -> Render:
    """A render as a preview gets it, with its costs."""
    import _foldline_failures  # noqa: F401 - First, as in a worker.
    from _foldline_actions import _block
    from _foldline_openings import Openings, tool_json

    openings = Openings(
        rendered, IN_EDITOR, (), lambda block: _block(block, rendered.stability_of(block))
    )
    blocks = [
        {**_block(block, rendered.stability_of(block)), "opening": openings.opening(place)}
        for place, block in enumerate(rendered.blocks)
    ]
    output = rendered.structured_output
    return with_costs(
        structure(
            {
                "name": "p",
                "text": rendered.text,
                "blocks": json.loads(json.dumps(blocks)),
                "tools": [tool_json(tool, rendered) for tool in rendered.tools],
                "tools_stability": openings.stability(),
                "output": output
                and {"type": "Answer", "container": "object", "schema": output.schema},
            },
            Render,
        ),
        COUNTER,
    )


def opened(prompt: Prompt[Any], key: str) -> RenderedPrompt[Any]:
    """The prompt as it's rendered once a model has opened a section."""
    asked = requested_expansion(prompt.render(), (key,), IN_EDITOR)
    return rebind_tasks(prompt, asked).render(visibility_overrides=asked.requested_overrides)


def of_tools(metered: Metered) -> int:
    return sum(block.tokens for block in metered.blocks if block.kind == "tool")


@pytest.mark.parametrize("wire", [Anthropic, OpenAI])
@settings(settings.get_profile("costly"), max_examples=25)
@given(prompt=prompts())
def test_opening_costs_what_the_next_request_is_billed_for(
    wire: type[Anthropic | OpenAI], prompt: Prompt[Any]
) -> None:
    rendered = prompt.render()
    before = shown(rendered)
    assert before.tokens is not None
    assert before.cache is not None
    assert sum(stage["tokens"] for stage in before.cache["stages"]) == before.tokens.total
    # The blank lines between messages are counted, and not sent.
    ends = [message.span.end for message in rendered.messages[:-1]]
    marks = [mark["tokens"] for mark in before.cache["breakpoints"]]
    assume(not any(MINIMUM <= mark < MINIMUM + 2 * len(ends) for mark in marks))
    for block in before.blocks:
        if not block.is_summarized:
            assert block.tokens is not None
            assert block.tokens.if_opened is None
            continue
        provider = wire()
        first, second = provider.bill(rendered), provider.bill(opened(prompt, block.key))
        assert block.tokens is not None
        said = block.tokens.if_opened
        assert said is not None
        assert first.total == before.tokens.total - 2 * len(ends)
        assert second.total - first.total == said.total == said.text + said.tools
        assert of_tools(second) - of_tools(first) == said.tools
        at = said.breakpoint
        offset = 0 if at is None else before.cache["breakpoints"][at]["offset"]
        again = cost_texts.read_again(said, before.cache)
        if again:
            again -= 2 * sum(end >= offset for end in ends)
        # Anthropic keeps the tools also where all of the text is read again, OpenAI doesn't.
        read = second.read if second.read > of_tools(second) else 0
        if at is None and not any(part.mark for part in second.blocks):
            # OpenAI looks for the developer's messages without a breakpoint behind them, too.
            read = 0
        assert again == sum(first.written.values()) - read
