"""Options for prompts: `[tool.foldline]` of a project, and the client's configuration section.

```toml
[tool.foldline]
tokens = "o200k"          # or "cl100k"
exact-tokens = true       # false: always estimate
token-budget = 8000       # a prompt beyond it is reported; 0 for no budget
code-lens = true
inlay-hints = true
instructions = ["docs/agents/*.md", "!old/AGENTS.md"]  # more files that instruct agents, or fewer

[tool.foldline.severity]
long-summary = "hint"     # error, warning, information, hint, off
```

The client's options override the project's; `tokenBudget` and `token-budget` are the same.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - The reader resolves the annotations.
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Annotated

from foldline.backends.base.reading import Between, read_project, read_table
from foldline.backends.errors import PathError
from foldline.ide.checks import Code, Severity  # noqa: TC001 - Likewise.
from foldline.ide.settings import Settings
from foldline.ide.token_counter import Encoding  # noqa: TC001 - Likewise.
from foldline.records import record

if TYPE_CHECKING:
    from pathlib import Path


@record
class PromptOptions:
    """All options with their defaults.

    Attributes:
        tokens: The encoding in which tokens are counted.
        exact_tokens: Use a tokenizer if one is installed.
        token_budget: The most tokens that a request with a prompt may cost, tools and output schema
            included; prompts over it are reported.
        code_lens: Show code lenses on prompts and sections.
        inlay_hints: Show the numbers and token counts of sections.
        instructions: More files that instruct agents, besides those that clients load by
            themselves, in the syntax of `.gitignore`; `!` takes files out.
        severity: Severities by diagnostic code that differ from the defaults.
    """

    tokens: Encoding = "o200k"
    exact_tokens: bool = True
    token_budget: Annotated[int | None, Between(0)] = None
    code_lens: bool = True
    inlay_hints: bool = True
    instructions: tuple[str, ...] = ()
    severity: Mapping[Code, Severity] = field(default_factory=dict)


def read_project_options(root: Path) -> tuple[PromptOptions, tuple[str, ...]]:
    """Read the options in a root's `pyproject.toml`; also returns a sentence per wrong value."""
    base = PromptOptions()
    try:
        found = read_project(root / "pyproject.toml", root, base, others=_others())
    except PathError as error:
        return base, (error.summary,)
    return (base, ()) if found is None else (_without_zero(found[0]), found[1])


def read_options(
    values: object, path: str, base: PromptOptions | None = None
) -> tuple[PromptOptions, tuple[str, ...]]:
    """Read the options in a client's section; also returns a sentence per wrong value.

    Args:
        values: The section, as read from JSON.
        path: Its name, for the sentences.
        base: The options that it doesn't set.
    """
    options, problems = read_table(values, base or PromptOptions(), path, others=_others())
    return _without_zero(options), problems


def _without_zero(options: PromptOptions) -> PromptOptions:
    return replace(options, token_budget=options.token_budget or None)


def _others() -> tuple[str, ...]:
    """Return the keys of the client's section and of `[tool.foldline]` that other code reads."""
    return (
        "lsp",
        "preview",
        "server",
        "store",
        "trace",
        *(setting.name for setting in fields(Settings)),
    )
