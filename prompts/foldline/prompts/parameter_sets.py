"""Parameter sets: the values that a module's `preview_*()` functions give a prompt of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType

from foldline.prompts.prompt import Prompt
from foldline.prompts.specialise import dataclass_of
from foldline.prompts.template import PromptTemplate

PREFIX = "preview_"
DEFAULT = "default"


def set_functions(
    source: ModuleType, module: ModuleType, prompt: str
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the functions of `source` for a prompt of `module`, each after the name of its set.

    The rest of a function's name after `preview_` names the set. If it starts with the name of one
    of the module's prompts, the function is for that prompt only: `preview_reviewer_security` is
    the set `security` of `reviewer`, and `preview_reviewer` its set `default`. Values that only
    other prompts of the module take are no set of this one.
    """
    kinds = (Prompt, PromptTemplate)
    prompts = {name: value for name, value in vars(module).items() if isinstance(value, kinds)}
    types = {
        name: (value.template if isinstance(value, Prompt) else value).plan.known_types
        for name, value in prompts.items()
    }
    for name, value in vars(source).items():
        if not name.startswith(PREFIX) or not inspect.isfunction(value):
            continue
        rest = name.removeprefix(PREFIX)
        owners = [variable for variable in prompts if f"{rest}_".startswith(f"{variable}_")]
        owner = max(owners, key=len, default=None)
        if owner == prompt:
            rest = rest.removeprefix(prompt).removeprefix("_") or DEFAULT
        if owner == prompt or (owner is None and not _is_of_others(value, types, prompt)):
            yield rest, value


def _is_of_others(
    function: Callable[[], object], types: Mapping[str, frozenset[type]], prompt: str
) -> bool:
    """Return True if other prompts of the module take what the function returns, and not this."""
    if len(types) < 2:
        return False
    try:
        kinds = {type(value) for value, _ in instances(function())}
    except Exception:
        return False  # It is raised where the values are needed.
    taking = {name for name, taken in types.items() if kinds & taken}
    return bool(taking) and prompt not in taking


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


def misfit(
    function: Callable[[], object], given: Iterable[tuple[object, str | None]], takes: Iterable[str]
) -> str:
    """Say that the prompt takes none of what such a function gave, but instances of `takes`."""
    names = {
        f"{type(value).__name__}{f' for the section {key!r}' if key else ''}"
        for value, key in given
    }
    rest = function.__name__.removeprefix(PREFIX)
    return (
        f"returns {', '.join(sorted(names))}, and the prompt takes "
        f"{', '.join(takes) or 'no parameters'}; for another prompt of the module, call it "
        f"`{PREFIX}<prompt>_{rest}`"
    )
