"""Prompts of a workspace as far as their source tells: nothing is executed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from foldline.backends.base.near_names import near_names
from foldline.ide.errors import NoPrompt, PromptRefused
from foldline.ide.render.render import STATIC, Block, Render, Segment
from foldline.ide.render.token_costs import opened_costs, subtrees, with_costs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from foldline.ide.analysis.model import Visibility
    from foldline.ide.analysis.module_analysis import PromptFacts
    from foldline.ide.analysis.static_render import StaticBlock
    from foldline.ide.prompts.request import View
    from foldline.ide.render.render import Location
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.token_counter import TokenCounter
    from foldline.ide.workspace import Result, Workspace


@dataclass(frozen=True, slots=True)
class SectionTokens:
    """The tokens of a section; `if_opened` is what opening it adds, if summarized and known."""

    key: str
    path: tuple[str, ...]
    number: str
    title: str
    visibility: str
    tokens: int
    subtree: int
    if_opened: int | None


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """The tokens of a prompt; `certain` if running it gives the text that was counted.

    `budget` is what the project lets it cost. They are a `lower_bound` if running it gives more.
    """

    name: str
    uri: str
    fidelity: str
    certain: bool
    encoding: str
    exact: bool
    tokens: int
    budget: int | None
    lower_bound: bool
    sections: tuple[SectionTokens, ...]


async def static_render(workspace: Workspace, target: PromptTarget, view: View) -> Render:
    """The prompt with fidelity `static`: placeholders stand for what is unknown.

    A chapter stays closed if only running its `enabled` tells whether it may open.

    Raises:
        IdeError: The source shows no such prompt, or an override names no section.
    """

    def query(snapshot: Snapshot, prompt: PromptFacts) -> Render:
        from foldline.ide.analysis.model import Visibility
        from foldline.ide.analysis.static_render import (
            SummarizedBlock,
            render,
            render_opened,
            text_of,
        )
        from foldline.ide.analysis.values import with_chapters

        wanted = _overrides(prompt, {**dict.fromkeys(view.opened, "FULL"), **view.overrides})
        value = with_chapters(prompt.value, view.chapters)
        shown = render(value, wanted)
        folded = [block for block in shown.blocks if block.visibility is Visibility.SUMMARY]
        behind = map(SummarizedBlock, folded, render_opened(value, folded, wanted))
        opened = {one.block.path: text_of(one.opened) for one in behind if one.is_known}
        blocks = _with_own_ids(
            _block(block, opened.get(block.path), workspace.locate(snapshot, block.source))
            for block in shown.blocks
        )
        found = Render(
            name=prompt.name.id,
            text=shown.text,
            blocks=blocks,
            fidelity=STATIC,
            certain=shown.certain,
            uri=snapshot.uri,
            version=target.document.version,
            token_budget=snapshot.options.token_budget,
        )
        return with_costs(found, snapshot.counter)

    return await query_prompt(workspace, target, query)


async def static_tokens(workspace: Workspace, target: PromptTarget) -> PromptTokens:
    """The tokens of the prompt and of each section.

    Raises:
        IdeError: The source shows no such prompt.
    """

    def query(snapshot: Snapshot, prompt: PromptFacts) -> PromptTokens:
        counter = snapshot.counter
        return PromptTokens(
            prompt.name.id,
            snapshot.uri,
            STATIC,
            prompt.render.exact,
            counter.encoding,
            counter.exact,
            prompt.render.tokens(counter),
            snapshot.options.token_budget,
            prompt.render.is_partial,
            section_tokens(prompt.render.blocks, counter, opened_costs(prompt, counter)),
        )

    return await query_prompt(workspace, target, query)


def section_tokens(
    blocks: Sequence[StaticBlock | Block],
    counter: TokenCounter,
    gains: Mapping[tuple[str, ...], int | None],
) -> tuple[SectionTokens, ...]:
    """The tokens of sections, and what opening each of them adds."""
    tokens = [counter.count(block.text) for block in blocks]
    found = zip(blocks, tokens, subtrees([block.path for block in blocks], tokens), strict=True)
    return tuple(
        SectionTokens(
            ".".join(one.path),
            one.path,
            one.number,
            one.title,
            one.visibility,
            own,
            subtree,
            gains.get(one.path),
        )
        for one, own, subtree in found
    )


async def query_prompt(
    workspace: Workspace, target: PromptTarget, query: Callable[[Snapshot, PromptFacts], Result]
) -> Result:
    """The result of a query on the prompt `target`, as its source shows it."""

    def find(snapshot: Snapshot) -> Result:
        for prompt in snapshot.analysis.prompts:
            if target.name in (None, prompt.name.id):
                return query(snapshot, prompt)
        raise _no_prompt(target.name, [prompt.name.id for prompt in snapshot.analysis.prompts])

    found = await workspace.query(target.document.uri, find)
    if found is None:
        raise _no_prompt(target.name)
    return found


def _no_prompt(name: str | None, names: Sequence[str] = ()) -> NoPrompt:
    which = f"no prompt {name!r}" if name else "no prompt"
    near = near_names(name or "", names) or sorted(names)
    shown = f"; it shows {', '.join(near)}" if near else ""
    message = f"The source shows {which} without being executed{shown}"
    return NoPrompt(message, name=name, near=near or None)


def _overrides(
    prompt: PromptFacts, overrides: Mapping[str, str]
) -> dict[tuple[str, ...], Visibility]:
    from foldline.ide.analysis.model import Visibility

    everything = prompt.described.walk()
    paths = {".".join(section.path): section.path for section in everything}
    found: dict[tuple[str, ...], Visibility] = {}
    for key, visibility in overrides.items():
        if key not in paths:
            raise PromptRefused(
                f"There is no section {key!r}; there are {', '.join(paths)}", key=key
            )
        if visibility not in ("FULL", "SUMMARY"):
            raise PromptRefused(f"{key}: FULL or SUMMARY, not {visibility!r}", key=key)
        found[paths[key]] = Visibility(visibility)
    return found


def _with_own_ids(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return the blocks with an id each: while typing, two sections may have the same key."""
    seen: Counter[str] = Counter()
    made = []
    for block in blocks:
        seen[block.id] += 1
        times = seen[block.id]
        made.append(block if times == 1 else replace(block, id=f"{block.id}~{times}"))
    return tuple(made)


def _block(block: StaticBlock, opened_text: str | None, location: Location | None) -> Block:
    from foldline.ide.analysis.stability import block_stability

    stability = block_stability(block)
    return Block(
        id="/".join(block.path),
        path=block.path,
        key=".".join(block.path),
        number=block.number,
        title=block.title,
        depth=block.depth,
        visibility=block.visibility,
        enabled=True,
        text=block.text,
        segments=tuple(
            Segment(segment.kind, segment.text, segment.field, own.name.lower(), segment.known)
            for segment, own in zip(block.segments, stability.segments, strict=True)
        ),
        role=block.role.value,
        stability=stability.presence.name.lower(),
        opened_text=opened_text,
        location=location,
    )
