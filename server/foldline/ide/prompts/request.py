"""The prompt that a request is about, what its user chose, and what its caller needs."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TOKENS = "tokens"
IN_EDITOR = "Opened in the editor"
"""The reason of a step whose user gives none."""


@record
class View:
    """What a user chose of a prompt, and the step that led there.

    Attributes:
        overrides: `FULL` or `SUMMARY` by section key.
        opened: The sections that a model or a user has opened. Those without an override are
            opened by the prompt's own tool, as a model does.
        params: Values for fields by dataclass name or section key.
        parameter_set: The parameter set; None for the one that a preview begins with.
        chapters: The chapters that are open, as far as the prompt lets them; None for all, as
            `evaluate` opens them by default.
        budget: The most that the text may cost; None for the project's budget, 0 for none.
        budget_unit: What it costs: `tokens` or UTF-8 `bytes`.
        instructions: What opening the sections told the prompt's tasks to go on with.
        action: The step: `start`, `open`, `close`, `params`, `reset`.
        section_keys: The sections and chapters that the step opened or closed.
        reason: Why, where the step has a reason.
        tag: The tag of the overrides that are shown.
    """

    overrides: Mapping[str, str] = field(default_factory=dict)
    opened: tuple[str, ...] = ()
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    parameter_set: str | None = None
    chapters: frozenset[str] | None = None
    budget: int | None = None
    budget_unit: str = TOKENS
    instructions: str | None = None
    action: str = "start"
    section_keys: tuple[str, ...] = ()
    reason: str | None = None
    tag: str | None = None

    @property
    def pending(self) -> list[str]:
        """The opened sections that the prompt's own tool has to open."""
        return [key for key in self.opened if key not in self.overrides]

    def step(
        self, action: str, section_keys: Sequence[str] = (), reason: str | None = None, **to: Any
    ) -> View:
        """This view with other fields, after a step."""
        keys = tuple(section_keys)
        return replace(self, action=action, section_keys=keys, reason=reason, **to)

    def opening(self, opened: Mapping[str, str], section_keys: Sequence[str], reason: str) -> View:
        """This view with sections opened, by the visibility that each gets."""
        return self.step(
            "open",
            section_keys,
            reason,
            overrides={**self.overrides, **opened},
            opened=tuple(dict.fromkeys((*self.opened, *opened))),
        )

    def request(self) -> dict[str, Any]:
        """The fields of a worker's request."""
        sent = ("overrides", "params", "parameter_set", "instructions", "tag")
        chapters = None if self.chapters is None else sorted(self.chapters)
        return {**{name: getattr(self, name) for name in sent}, "chapters": chapters}


@record(kw_only=True)
class RenderMode:
    """What a caller needs of renders and answers, whatever its user chose.

    Attributes:
        tolerant: A section that can't be rendered is a block that has an `error`.
        for_model: The answer goes to a model: the values that the project declares for previews
            aren't used, and an empty list of keys is the model's mistake.
        fallback: Where nothing may be executed, the answer is from the source alone.
        of_preview: The view is a preview's: it's executed, and its values were typed there.
        opening_reason: The reason for opening a section, which the prompt's tasks are told, in what
            opening costs.
        costs: Renders have tokens, a document and the locations of their sections.
        texts: Texts by path, in place of files and of open documents.
        at_revision: The texts are a revision's: nothing that is open counts.
        compared: The answer says what was read from the disk, and has hashes of the texts.
        params_file: One more file of values.
    """

    tolerant: bool = False
    for_model: bool = False
    fallback: bool = False
    of_preview: bool = False
    opening_reason: str = IN_EDITOR
    costs: bool = True
    texts: Mapping[str, str] = field(default_factory=dict)
    at_revision: bool = False
    compared: bool = False
    params_file: Path | None = None


@record(kw_only=True)
class PromptRef:
    """A prompt without a preview, what its user chose of it, and what its caller needs.

    Attributes:
        uri: The document, as the editor has it; the one that has the focus by default.
        file: The module, as it is on disk, instead of a `uri`.
        root: The folder that `file` belongs to; by default the workspace's that holds it.
        name: The prompt's variable, or `ns/key`; by default the prompt last shown, or the first.
    """

    uri: str | None = None
    file: Path | None = None
    root: Path | None = None
    name: str | None = None
    view: View = field(default_factory=View)
    mode: RenderMode = field(default_factory=RenderMode)
