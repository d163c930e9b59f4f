"""Sections opened by appending: the same is shown as by rendering anew, and the prefix stays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from foldline.prompts import (
    MarkdownSection,
    PromptTemplate,
    RenderedPrompt,
    SectionPath,
    SectionVisibility,
)
from foldline.prompts.disclosure.disclosure import requested_expansion
from foldline.prompts.runtime import (
    PromptResponse,
    evaluate_with_disclosure,
)

from .openings import FULL, SUMMARY, WIRES, tool
from .providers import Json, serving
from .wires import Said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .wire.simulators import (
        Simulator,
    )


@dataclass(frozen=True)
class Shape:
    """A section as data."""

    path: str
    summarized: bool
    tools: int
    long: bool
    children: tuple[Shape, ...] = ()

    def section(self, role: str | None = None) -> MarkdownSection[None]:
        key = self.path.rpartition(".")[2]
        body = f"<BODY {self.path}>" + " All of it, at length." * (40 if self.long else 1)
        return MarkdownSection[None](
            title=key.title(),
            key=key,
            template=body,
            summary=f"<SUMMARY {self.path}>",
            visibility=SUMMARY if self.summarized else FULL,
            tools=[tool(f"t_{self.path.replace('.', '_')}_{n}") for n in range(self.tools)],
            children=[child.section() for child in self.children],
            role=role,
        )


@st.composite
def shapes(draw: st.DrawFn, path: str, depth: int = 0) -> Shape:
    size = draw(st.integers(0, 2 if depth < 2 else 0))
    return Shape(
        path,
        draw(st.booleans()),
        draw(st.integers(0, 2)),
        draw(st.booleans()),
        tuple(draw(shapes(f"{path}.s{n}", depth + 1)) for n in range(size)),
    )


@st.composite
def templates(draw: st.DrawFn) -> PromptTemplate[None]:
    tops = [
        draw(shapes(f"s{n}")).section(draw(st.sampled_from([None, "system", "developer"])))
        for n in range(draw(st.integers(1, 3)))
    ]
    last = MarkdownSection[None](title="Goal", key="goal", template="Do it.", role="user")
    disclosure: Literal["auto", "open"] = draw(st.sampled_from(["auto", "open"]))
    return PromptTemplate(ns="t", key="t", sections=[*tops, last], disclosure=disclosure)


@dataclass
class Model:
    """Opens sections, and calls each tool that it gets by that once."""

    template: PromptTemplate[None]
    picks: Sequence[int]
    opened: int = 0

    def __post_init__(self) -> None:
        self.overrides: dict[SectionPath, SectionVisibility] = {}
        self.renders = [self.template.render()]
        self.to_call: list[str] = []

    def said(self, request: Json) -> Said:
        if self.to_call:
            names, self.to_call = self.to_call, []
            return Said(calls=tuple(self._call(request, name) for name in names))
        now = self.renders[-1]
        offered = {t.get("function", t)["name"] for t in request.get("tools", ())}
        closed = {block.path for block in now.blocks if block.opened_by}
        keys = [
            ".".join(path)
            for path in self._paths()
            if any(path[: len(top)] == top for top in closed)
        ]
        needs = any(block.opened_by == "open_sections" for block in now.blocks)
        if not keys or not needs or self.opened == len(self.picks):
            return Said("Done.")
        assert "open_sections" in offered
        pick = self.picks[self.opened]
        self.opened += 1
        wanted = tuple({keys[pick % len(keys)]: 0, keys[pick // 7 % len(keys)]: 0})
        self.overrides |= requested_expansion(now, wanted, "why").requested_overrides
        after = self.template.render(visibility_overrides=self.overrides)
        self.to_call = sorted(own_tools(after) - own_tools(now))
        self.renders.append(after)
        return Said(calls=(("open_sections", {"section_keys": list(wanted), "reason": "why"}),))

    def _paths(self) -> list[SectionPath]:
        return list(self.template.plan.by_path)

    def _call(self, request: Json, name: str) -> tuple[str, object]:
        offered = [t.get("function", t)["name"] for t in (*request["tools"], *added(request))]
        if name in offered:
            return name, {"word": name}
        return "call_tool", {"name": name, "arguments": {"word": name}}


def own_tools(rendered: RenderedPrompt[Any]) -> set[str]:
    return {t.name for t in rendered.tools} - {"open_sections", "read_section"}


class Bench:
    """A provider and an adapter, used for one run after the other; a client takes long to make."""

    def __init__(self, provider: Simulator, model: str) -> None:
        self.provider = provider
        self.adapter = provider.adapter(model=model, max_turns=64)

    def run(
        self, template: PromptTemplate[None], picks: Sequence[int], **options: Any
    ) -> tuple[list[Json], list[float], Model, PromptResponse[None]]:
        """Return the requests, the share of each that the next one keeps, and what came of it."""
        model = Model(template, picks)
        provider = self.provider
        provider._script = model.said
        provider.requests, provider.metered = [], []
        response = evaluate_with_disclosure(self.adapter, template, max_expansions=32, **options)
        assert provider.refusals == []
        return provider.requests, provider.kept_shares(), model, response


@pytest.fixture(params=WIRES)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    simulator, model = WIRES[request.param]
    with serving(simulator([])) as provider:
        yield Bench(provider, model)


def texts(request: Json) -> str:
    """Everything that a request says to the model, apart from its tools."""

    def strings(value: object) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, dict):
            return [
                s for k in ("content", "text", "output") if k in value for s in strings(value[k])
            ]
        return [s for item in value for s in strings(item)] if isinstance(value, list) else []

    return "\n\n".join(strings(request.get("system", [])) + strings(_said(request)))


def _said(request: Json) -> list[Json]:
    said: list[Json] = request["input"] if "input" in request else request["messages"]
    return said


def added(request: Json) -> list[Json]:
    """The tools that the input itself brings."""
    return [tool for item in request.get("input", ()) for tool in item.get("tools", ())]


def known_tools(request: Json) -> set[str]:
    """The tools that a request shows to the model: offered, added, referred to, or described."""
    offered = [t.get("function", t) for t in (*request.get("tools", ()), *added(request))]
    names = {t["name"] for t in offered if not t.get("defer_loading")}
    names |= set(re.findall(r"'tool_name': '(\w+)'", str(_said(request))))
    names |= set(re.findall(r"^`(t_\w+)`: The tool", texts(request), re.MULTILINE))
    return names - {"open_sections", "read_section", "call_tool"}


def check(bench: Bench, template: PromptTemplate[None], picks: list[int]) -> None:
    requests, kept, model, response = bench.run(template, picks)
    anew, kept_anew, _, response_anew = bench.run(template, picks, opening="render")
    event(f"{len(response.expansions)} openings")
    keys = [expansion.section_keys for expansion in response.expansions]
    assert keys == [expansion.section_keys for expansion in response_anew.expansions]
    assert all(expansion.appended for expansion in response.expansions)
    assert not any(expansion.appended for expansion in response_anew.expansions)
    assert response.rendered.text == response_anew.rendered.text == model.renders[-1].text

    shown, shown_anew = texts(requests[-1]), texts(anew[-1])
    for block in response.rendered.blocks:
        ends = bool(block.segments) and block.segments[-1].kind == "separator"
        text = block.text.removesuffix("\n\n") if ends else block.text
        assert text in shown
        assert text in shown_anew
    for mark in re.findall(r"<BODY [^>]*>", shown + shown_anew):
        assert shown.count(mark) == shown_anew.count(mark) == 1
    own = own_tools(response.rendered)
    assert known_tools(requests[-1]) == known_tools(anew[-1]) == own
    outcomes = [o for o in response.tool_outcomes if o.call.name.startswith("t_")]
    assert {o.call.name for o in outcomes} == own - own_tools(model.renders[0])
    assert all(o.result.value == f"{o.call.name} heard {o.call.name}" for o in outcomes)

    assert all(request.get("tools") == requests[0].get("tools") for request in requests)
    assert all(share >= 0.99 for share in kept)
    assert len(kept) == len(kept_anew)
    assert all(share >= share_anew for share, share_anew in zip(kept, kept_anew, strict=True))


def test_appending_shows_what_rendering_anew_shows_and_keeps_the_prefix(bench: Bench) -> None:
    @given(templates(), st.lists(st.integers(0, 400), max_size=4))
    @settings(settings.get_profile("costly"))
    def holds(template: PromptTemplate[None], picks: list[int]) -> None:
        check(bench, template, picks)

    holds()
