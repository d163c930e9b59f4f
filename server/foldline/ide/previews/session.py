"""One preview: the choices that led to it, what it shows, and what the client was told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from foldline.ide.previews.debounce import Pace
from foldline.ide.previews.history import Versions
from foldline.ide.render import token_costs as costs
from foldline.ide.render.diff import Side
from foldline.ide.render.render_options import TOKENS, Choices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Watcher = Callable[[Mapping[str, Any] | None], None]
# How many of the most expensive sections a budget names.
MOST = 5


@dataclass(slots=True)
class Preview:
    """One preview, and what the client has of it.

    Attributes:
        steps: The user's choices from the first to those that hold now. The first are none.
        versions: For each step, the version of the preview that first showed it.
        shown: The number of the render whose outcome is shown. Renders are numbered as they start,
            so a higher number has seen a younger text.
        kept: What the last version and the one before begin with alike.
        fidelity: Whether the blocks were executed, or are what the source alone shows (`static`).
        stale: Why the blocks are not executed ones of the newest text; None where they are.
        past: What earlier versions showed.
        pace: How long to wait after a change before rendering.
        changed: Set when a document has changed since the last render started.
        turn: Held while the choices change, so that each change starts from the one before.
        watchers: Who else is told what the client is told; None tells them that it is over.
    """

    session_id: str
    uri: str
    name: str | None
    steps: list[Choices] = field(default_factory=lambda: [Choices()])
    versions: list[int] = field(default_factory=lambda: [1])
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    shown: int = 0
    version: int = 0
    document_version: int | None = None
    blocks: dict[str, dict[str, Any]] = field(default_factory=dict)
    tools: Sequence[Mapping[str, Any]] = ()
    tokens: Mapping[str, Any] | None = None
    output: Mapping[str, Any] | None = None
    descriptor: Mapping[str, Any] | None = None
    kept: Mapping[str, Any] | None = None
    generated: Sequence[str] = ()
    effects: Sequence[Mapping[str, Any]] = ()
    parameter_set: str | None = None
    parameter_sets: Sequence[Mapping[str, Any]] = ()
    parameters: Sequence[Mapping[str, Any]] = ()
    chapters: Sequence[Mapping[str, Any]] = ()
    project_budget: int | None = None
    interpreter: Mapping[str, Any] | None = None
    fidelity: str = ""
    stale: Mapping[str, Any] | None = None
    past: Versions = field(default_factory=Versions)
    pace: Pace = field(default_factory=Pace)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    watchers: list[Watcher] = field(default_factory=list)

    @property
    def choices(self) -> Choices:
        return self.steps[-1]

    def take(
        self, render: Mapping[str, Any], stale: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Take a render for what is shown, and return the blocks that it changes.

        `stale` says why it is not one of the newest text that was executed, where it is not.
        """
        blocks = {}
        changed = []
        for told in render["blocks"]:
            block = {**told, "opened": told["key"] in self.choices.opened}
            # It follows from the order, and would make every block below an edit a changed one.
            del block["span"]
            known = self.blocks.get(block["id"])
            if known == block:
                block = known
            else:
                changed.append(block)
            blocks[block["id"]] = block
        if self.blocks:
            self.kept = costs.kept(
                self.blocks.values(), blocks.values(), self.tools, render["tools"]
            )
        self.blocks = blocks
        self.name = render["name"]
        self.tools = render["tools"]
        self.tokens = render["tokens"]
        self.output = render["output"]
        self.descriptor = render["descriptor"]
        self.generated = render["generated"]
        self.effects = render["effects"]
        self.parameter_set = render["parameter_set"]
        self.parameter_sets = render["parameter_sets"]
        self.parameters = render["parameters"]
        self.chapters = render["chapters"]
        self.project_budget = render["token_budget"]
        self.interpreter = render["interpreter"]
        self.document_version = render["version"]
        self.fidelity = render["fidelity"]
        self.advance(stale)
        return changed

    def advance(self, stale: Mapping[str, Any] | None) -> None:
        """Make a version of what is shown now."""
        self.stale = stale
        self.version += 1
        label = f"version {self.version}"
        side = Side(label, tuple(self.blocks.values()), self.tools, self.tokens)
        self.past.add(self.version, side)

    def folded_around(self, section_keys: Sequence[str]) -> dict[str, str]:
        """What to open so that these sections are shown in full: they, and summaries around them.

        Without keys it is every summary.
        """
        folded = [each["key"] for each in self.blocks.values() if each["visibility"] == "SUMMARY"]
        around = (
            each for key in section_keys for each in folded if f"{key}.".startswith(f"{each}.")
        )
        return dict.fromkeys((*around, *section_keys) if section_keys else folded, "FULL")

    def state(self, blocks: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """What a client is told: `blocks` are those that it has not seen as they are now.

        Without `blocks` it is told all of them.
        """
        return {
            "sessionId": self.session_id,
            "uri": self.uri,
            "name": self.name,
            "version": self.version,
            "documentVersion": self.document_version,
            "fidelity": self.fidelity or "executed",
            "order": list(self.blocks),
            "blocks": list(self.blocks.values()) if blocks is None else blocks,
            "tools": self.tools,
            "tokens": self.tokens,
            "output": self.output,
            "descriptor": self.descriptor,
            "kept": self.kept,
            "params": self.choices.params,
            "parameter_set": self.parameter_set,
            "parameter_sets": self.parameter_sets,
            "parameters": self.parameters,
            "chapters": self.chapters,
            "budget": self.budget(),
            "generated": self.generated,
            "effects": self.effects,
            "interpreter": self.interpreter,
            "stale": self.stale,
        }

    def budget(self) -> dict[str, Any] | None:
        """What the text may cost and does cost, and which sections cost most; None without one."""
        unit = self.choices.budget_unit
        limit = self.choices.budget
        if limit is None:
            limit, unit = self.project_budget, TOKENS
        if not limit:
            return None
        spent = {key: costs.spent(block, unit) for key, block in self.blocks.items()}
        used = sum(spent.values())
        most = sorted(spent, key=lambda key: -spent[key])[:MOST]
        return {
            "limit": limit,
            "unit": unit,
            "used": used,
            "over": max(0, used - limit),
            "largest": [{"key": self.blocks[id_]["key"], "used": spent[id_]} for id_ in most],
        }

    def tell(self, state: Mapping[str, Any] | None) -> None:
        """Tell the watchers what the client is told."""
        for watcher in tuple(self.watchers):
            watcher(state)

    def history(self) -> list[dict[str, Any]]:
        """The steps that undo goes back through, the oldest first."""
        return [
            {
                "action": step.action,
                "section_keys": step.section_keys,
                "reason": step.reason,
                "params": step.params,
                "parameter_set": step.parameter_set,
                "chapters": sorted(step.chapters),
                "budget": step.budget,
                "overrides": step.overrides,
                "version": version,
            }
            for step, version in zip(self.steps, self.versions, strict=True)
        ]
