"""Parameter sets: the values that a module's `preview_*()` functions give a prompt of it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from foldline.prompts.prompt import Prompt
from foldline.prompts.specialise import dataclass_of
from foldline.prompts.template import PromptTemplate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

PREFIX = "preview_"
DEFAULT = "default"


def set_functions(
    source: ModuleType, module: ModuleType, prompt: str
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the functions of `source` for a prompt of `module`, each after the name of its set.

    The rest of a function's name after `preview_` names the set. If it starts with the name of one
    of the module's prompts, the function is for that prompt only: `preview_reviewer_security` is
    the set `security` of `reviewer`, and `preview_reviewer` its set `default`.
    """
    kinds = (Prompt, PromptTemplate)
    prompts = [variable for variable, value in vars(module).items() if isinstance(value, kinds)]
    for name, value in vars(source).items():
        if not name.startswith(PREFIX) or not inspect.isfunction(value):
            continue
        rest = name.removeprefix(PREFIX)
        owners = [variable for variable in prompts if f"{rest}_".startswith(f"{variable}_")]
        owner = max(owners, key=len, default=None)
        if owner == prompt:
            rest = rest.removeprefix(prompt).removeprefix("_") or DEFAULT
        if owner in (None, prompt):
            yield rest, value


def instances(returned: object) -> Iterator[tuple[object, str | None]]:
    """Yield what such a function returned: an instance, or those of a list, tuple or generator.

    Those of a dictionary are each for the section that has the key.
    """
    if not isinstance(returned, Iterable) or dataclass_of(type(returned)) is not None:
        yield returned, None
        return
    for value in (returned,) if isinstance(returned, Mapping) else returned:
        if isinstance(value, Mapping):
            yield from ((inner, str(key)) for key, inner in value.items())
        else:
            yield value, None
