"""Options for prompts: `[tool.foldline]` of a project, and the client's configuration section.

```toml
[tool.foldline]
tokens = "o200k"          # or "cl100k"
exact-tokens = true       # false: always estimate
token-budget = 8000       # a prompt beyond it is reported; 0 for no budget
code-lens = true
inlay-hints = true

[tool.foldline.severity]
long-summary = "hint"     # error, warning, information, hint, off
```

The client's options override the project's; `tokenBudget` and `token-budget` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from foldline.backends.errors import MissingPathError, PathError, first_few, shown
from foldline.backends.files.reader import read_toml
from foldline.ide.checks import Code, Severity
from foldline.ide.token_counter import ENCODINGS

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """All options with their defaults.

    Attributes:
        tokens: The encoding in which tokens are counted.
        exact_tokens: Use a tokenizer if one is installed.
        token_budget: The most tokens that a prompt may render to; prompts over it are reported.
        code_lens: Show code lenses on prompts and sections.
        inlay_hints: Show the numbers and token counts of sections.
        severity: Severities by diagnostic code that differ from the defaults.
    """

    tokens: str = ENCODINGS[0]
    exact_tokens: bool = True
    token_budget: int | None = None
    code_lens: bool = True
    inlay_hints: bool = True
    severity: Mapping[str, Severity] = field(default_factory=dict)


def read_project_options(root: Path) -> tuple[PromptOptions, tuple[str, ...]]:
    """Read the options in a root's `pyproject.toml`; also returns a sentence per wrong value."""
    file = root / "pyproject.toml"
    try:
        configuration = read_toml(file, root=root)
    except MissingPathError:
        return PromptOptions(), ()
    except PathError as error:
        return PromptOptions(), (error.summary,)
    tool = configuration.get("tool")
    table = tool.get("foldline") if isinstance(tool, Mapping) else None
    if table is None:
        return PromptOptions(), ()
    return read_options(table, f"{file}: tool.foldline")


def read_options(
    values: object, path: str, base: PromptOptions | None = None
) -> tuple[PromptOptions, tuple[str, ...]]:
    """Read the options in a table; also returns a sentence per wrong value.

    Args:
        values: As read from TOML or JSON.
        path: The table's path, for the sentences.
        base: The options that the table doesn't set.
    """
    options = base or PromptOptions()
    if values is None:
        return options, ()
    if not isinstance(values, Mapping):
        return options, (f"{path} must be a table, not {shown(values)}",)
    problems: list[str] = []
    known = {option.name for option in fields(PromptOptions)}
    for key, value in values.items():
        name = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", str(key)).replace("-", "_").lower()
        if name not in known:
            if not _is_read_elsewhere(str(key)):
                problems.append(f"{path}.{key} is not an option; options are {_listed(known)}")
            continue
        if value is None:
            continue
        if name == "severity":
            severities, wrong = _severities(value, f"{path}.{key}")
            options = replace(options, severity={**options.severity, **severities})
            problems += wrong
            continue
        wrong_value = _refusal(name, value)
        if wrong_value is not None:
            problems.append(f"{path}.{key} {wrong_value}, not {shown(value)}")
        elif name == "token_budget" and value == 0:
            options = replace(options, token_budget=None)
        else:
            # The value was just checked against the field's type.
            options = replace(options, **{name: value})
    return options, first_few(problems)


def _is_read_elsewhere(name: str) -> bool:
    """Return True for a setting of the client, or a table that other code reads."""
    from foldline.ide.settings import Settings

    if name in {setting.name for setting in fields(Settings)} | {"trace", "server"}:
        return True
    # Slow to import, and needed only for names that aren't options.
    from foldline.backends.lsp import configuration
    from foldline.ide.render import options as preview

    return name in (configuration.TABLE, preview.TABLE)


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(name.replace("_", "-") for name in names))


def _refusal(name: str, value: object) -> str | None:
    """Return what a value must be; None if it is valid."""
    if name == "tokens":
        return None if value in ENCODINGS else f"must be one of {', '.join(ENCODINGS)}"
    if name == "token_budget":
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return None if whole else "must be a whole number, 0 for no budget"
    return None if isinstance(value, bool) else "must be true or false"


def _severities(value: object, path: str) -> tuple[dict[str, Severity], list[str]]:
    if not isinstance(value, Mapping):
        return {}, [f"{path} must be a table of codes, not {shown(value)}"]
    found: dict[str, Severity] = {}
    problems: list[str] = []
    for code, severity in value.items():
        if code not in set(Code):
            problems.append(f"{path}.{code} isn't a diagnostic; codes are {', '.join(Code)}")
        elif not isinstance(severity, str) or severity not in set(Severity):
            problems.append(
                f"{path}.{code} must be one of {', '.join(Severity)}, not {shown(severity)}"
            )
        else:
            found[str(code)] = Severity(str(severity))
    return found, problems
