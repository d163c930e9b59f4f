"""Prompts of a workspace as far as their source tells: nothing is executed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.base.near_names import near_names
from foldline.ide import render as rendering
from foldline.ide.analysis.model import Visibility
from foldline.ide.analysis.values import with_chapters
from foldline.ide.errors import NoPrompt, PromptRefused
from foldline.ide.render.render import IfOpened, Render
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from foldline.ide.analysis.module_analysis import PromptFacts
    from foldline.ide.prompts.request import View
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.sources.source import PromptSource
    from foldline.ide.workspace import Result


@record
class SectionTokens:
    """The tokens of a section; `if_opened` is what opening it costs, if summarized and known."""

    key: str
    path: tuple[str, ...]
    number: str
    title: str
    visibility: str
    tokens: int
    subtree: int
    if_opened: IfOpened | None


@record
class PromptTokens:
    """The tokens of a request; `certain` if running the prompt gives what was counted.

    `tokens` are all of them: those of the text, the tools and the output's schema. `budget` is what
    the project lets it cost. They are a `lower_bound` if running it gives more. `unresolved` names
    what isn't counted.
    """

    name: str
    uri: str
    fidelity: str
    certain: bool
    encoding: str
    exact: bool
    tokens: int
    text: int
    tools: int
    output: int
    budget: int | None
    lower_bound: bool
    unresolved: tuple[str, ...]
    sections: tuple[SectionTokens, ...]


async def static_render(source: PromptSource, view: View) -> Render:
    """The prompt with fidelity `static`: placeholders stand for what is unknown.

    A chapter stays closed if only running its `enabled` tells whether it may open.

    Raises:
        IdeError: The source shows no such prompt, or an override names no section.
    """

    def query(snapshot: Snapshot, prompt: PromptFacts) -> Render:
        wanted = _overrides(prompt, {**dict.fromkeys(view.opened, "FULL"), **view.overrides})
        value = with_chapters(prompt.value, view.chapters)
        request = rendering.request_of(value, snapshot.analysis.evaluator, wanted)
        render = _of_prompt(request.render, prompt, snapshot, source.document.version)
        located = {
            section.path: source.workspace.locate(snapshot, section.source)
            for section in prompt.described.walk()
        }
        return rendering.costs_of(replace(request, render=render), snapshot.counter, located)

    return await query_prompt(source, query)


async def static_tokens(source: PromptSource) -> PromptTokens:
    """The tokens of the prompt and of each section.

    Raises:
        IdeError: The source shows no such prompt.
    """

    def query(snapshot: Snapshot, prompt: PromptFacts) -> PromptTokens:
        request = rendering.costed(prompt, snapshot.counter)
        render = _of_prompt(request.render, prompt, snapshot)
        return tokens_of(render, certain=request.exact)

    return await query_prompt(source, query)


def tokens_of(render: Render, *, certain: bool = True) -> PromptTokens:
    """The token counts of a render."""
    tokens = render.tokens
    assert tokens is not None
    return PromptTokens(
        render.name,
        render.uri or "",
        render.fidelity,
        certain,
        tokens.encoding,
        tokens.exact,
        tokens.total,
        tokens.text,
        tokens.tools,
        tokens.output,
        render.token_budget,
        tokens.lower_bound,
        tokens.unresolved,
        tuple(
            SectionTokens(
                block.key,
                block.path,
                block.number,
                block.title,
                block.visibility,
                block.tokens.own,
                block.tokens.subtree,
                block.tokens.if_opened,
            )
            for block in render.blocks
            if block.tokens is not None
        ),
    )


async def query_prompt(
    source: PromptSource, query: Callable[[Snapshot, PromptFacts], Result]
) -> Result:
    """The result of a query on a prompt, as its source shows it."""

    def find(snapshot: Snapshot) -> Result:
        for prompt in snapshot.analysis.prompts:
            if source.name in (None, prompt.name.id):
                return query(snapshot, prompt)
        raise _no_prompt(source.name, [prompt.name.id for prompt in snapshot.analysis.prompts])

    answer = await source.workspace.query(source.document.uri, find)
    if answer is None:
        raise _no_prompt(source.name)
    return answer


def _of_prompt(
    render: Render, prompt: PromptFacts, snapshot: Snapshot, version: int | None = None
) -> Render:
    name, budget = prompt.name.id, snapshot.options.token_budget or None
    return replace(render, name=name, uri=snapshot.uri, version=version, token_budget=budget)


def _no_prompt(name: str | None, names: Sequence[str] = ()) -> NoPrompt:
    which = f"no prompt {name!r}" if name else "no prompt"
    near = near_names(name or "", names) or sorted(names)
    shown = f"; it shows {', '.join(near)}" if near else ""
    message = f"The source shows {which} without being executed{shown}"
    return NoPrompt(message, name=name, near=near or None)


def _overrides(
    prompt: PromptFacts, overrides: Mapping[str, str]
) -> dict[tuple[str, ...], Visibility]:
    everything = prompt.described.walk()
    paths = {".".join(section.path): section.path for section in everything}
    visibilities: dict[tuple[str, ...], Visibility] = {}
    for key, visibility in overrides.items():
        if key not in paths:
            raise PromptRefused(
                f"There is no section {key!r}; there are {', '.join(paths)}", key=key
            )
        if visibility not in ("FULL", "SUMMARY"):
            raise PromptRefused(f"{key}: FULL or SUMMARY, not {visibility!r}", key=key)
        visibilities[paths[key]] = Visibility(visibility)
    return visibilities
