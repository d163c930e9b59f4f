"""The typed output that a prompt declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args, get_origin

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.specialise import dataclass_of, type_name

__all__ = ["StructuredOutputConfig"]


@dataclass(frozen=True, slots=True)
class StructuredOutputConfig:
    """The dataclass of a prompt's answer, and whether there is one of it or a list."""

    output_type: type
    """The dataclass; for a list, that of its items."""
    container: Literal["object", "array"]
    allow_extra_keys: bool = False


def declared_output(argument: object, *, allow_extra_keys: bool) -> StructuredOutputConfig | None:
    """What `PromptTemplate[argument]` declares; None for a template without output.

    Raises:
        PromptValidationError: The argument is neither a dataclass nor a list of one.
    """
    if argument is None or argument is type(None):
        return None
    container: Literal["object", "array"] = "object"
    item = argument
    if get_origin(argument) is list:
        container = "array"
        (item,) = get_args(argument)
    kind = dataclass_of(item)
    if kind is None:
        raise PromptValidationError(
            f"PromptTemplate[{type_name(argument)}]: the output must be a dataclass or "
            "`list[…]` of a dataclass.",
            dataclass_type=item if isinstance(item, type) else None,
        )
    return StructuredOutputConfig(kind, container, allow_extra_keys)
