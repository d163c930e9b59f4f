"""Prompts as far as their source tells: what the commands answer without executing anything."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from foldline.ide.errors import NoPrompt, PromptRefused
from foldline.ide.render.render import STATIC, Block, Render, Segment
from foldline.ide.render.token_costs import with_costs
from foldline.server.execute import location_of
from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.ide.analysis.model import Visibility
    from foldline.ide.analysis.module_analysis import PromptFacts
    from foldline.ide.analysis.static_render import StaticBlock
    from foldline.server.prompt_index import Asked
    from foldline.server.resolve import PromptTarget
    from foldline.server.server import FoldlineServer


async def static_render(
    ls: FoldlineServer, target: PromptTarget, overrides: Mapping[str, str]
) -> Render:
    """The prompt with fidelity `static`: placeholders stand for what is unknown.

    Raises:
        IdeError: The source shows no such prompt, or an override names no section.
    """

    def question(asked: Asked) -> Render:
        from foldline.ide.analysis.model import Visibility
        from foldline.ide.analysis.static_render import render, render_opened, text_of

        prompt = _prompt(asked, target.name)
        wanted = _overrides(prompt, overrides)
        shown = render(prompt.value, wanted)
        folded = [block for block in shown.blocks if block.visibility is Visibility.SUMMARY]
        inside = render_opened(prompt.value, folded, wanted)
        opened = {block.path: text_of(b) for block, b in zip(folded, inside, strict=True)}
        found = Render(
            name=prompt.name.id,
            text=shown.text,
            blocks=tuple(_block(block, asked, opened.get(block.path)) for block in shown.blocks),
            fidelity=STATIC,
            certain=shown.certain,
            uri=asked.uri,
            version=target.document.version,
            token_budget=asked.options.token_budget,
        )
        return with_costs(found, asked.counter)

    answer = await ask(ls, target.document.uri, question)
    if answer is None:
        raise _nothing(target.name)
    return answer


async def static_tokens(ls: FoldlineServer, target: PromptTarget) -> dict[str, Any]:
    """The tokens of the prompt and of each section, and what opening a folded one adds.

    Raises:
        IdeError: The source shows no such prompt.
    """

    def question(asked: Asked) -> dict[str, Any]:
        from foldline.ide.features.hover import opened_costs

        prompt = _prompt(asked, target.name)
        counter = asked.counter
        costs = opened_costs(prompt, counter)
        return {
            "name": prompt.name.id,
            "uri": asked.uri,
            "fidelity": "static",
            "certain": prompt.render.certain,
            "encoding": counter.encoding,
            "exact": counter.exact,
            "tokens": prompt.render.tokens(counter),
            "sections": [
                {
                    "key": ".".join(block.path),
                    "path": block.path,
                    "number": block.number,
                    "title": block.title,
                    "visibility": block.visibility,
                    "tokens": counter.count(block.text),
                    "subtree": prompt.render.tokens_below(block.path, counter),
                    "if_opened": costs.get(block.path),
                }
                for block in prompt.render.blocks
            ],
        }

    answer = await ask(ls, target.document.uri, question)
    if answer is None:
        raise _nothing(target.name)
    return answer


def _prompt(asked: Asked, name: str | None) -> PromptFacts:
    for prompt in asked.analysis.prompts:
        if name in (None, prompt.name.id):
            return prompt
    raise _nothing(name, [prompt.name.id for prompt in asked.analysis.prompts])


def _nothing(name: str | None, names: Sequence[str] = ()) -> NoPrompt:
    which = f"no prompt {name!r}" if name else "no prompt"
    near = difflib.get_close_matches(name or "", names, n=3, cutoff=0.5) or sorted(names)
    shown = f"; it shows {', '.join(near)}" if near else ""
    message = f"The source shows {which} without being executed{shown}"
    return NoPrompt(message, name=name, near=near or None)


def _overrides(
    prompt: PromptFacts, overrides: Mapping[str, str]
) -> dict[tuple[str, ...], Visibility]:
    from foldline.ide.analysis.model import Visibility

    everything = prompt.described.walk() if prompt.described is not None else ()
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


def _block(block: StaticBlock, asked: Asked, opened_text: str | None) -> Block:
    return Block(
        id="/".join(block.path),
        path=block.path,
        key=".".join(block.path),
        number=block.number,
        title=block.title,
        depth=block.depth,
        visibility=block.visibility,
        enabled=True,
        span=(block.span.start, block.span.end),
        text=block.text,
        segments=tuple(
            Segment(segment.kind, segment.text, segment.field, segment.known)
            for segment in block.segments
        ),
        opened_text=opened_text,
        location=location_of(asked, block.source),
    )
