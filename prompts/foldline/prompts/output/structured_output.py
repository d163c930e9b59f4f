"""The typed output that a prompt declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from foldline.prompts import refusals
from foldline.prompts.errors import PromptValidationError
from foldline.prompts.specialise import dataclass_of, type_name
from foldline.prompts.visibility import SectionPath

if TYPE_CHECKING:
    from foldline.prompts.output.schema import JsonSchema, StrictSchema

ARRAY_PROPERTY = "items"
"""The property that holds the array in a schema for strict modes."""


@dataclass(frozen=True, slots=True)
class StructuredOutputConfig:
    """The dataclass of a prompt's answer, as one object or a list."""

    output_type: type
    """The dataclass of the object, or of the list's items."""
    container: Literal["object", "array"]
    allow_extra_keys: bool = False
    specialised: object = None
    """A generic dataclass with its arguments, such as `Page[int]`; None if not generic."""

    @property
    def item(self) -> object:
        """The type of the object or of the array's items, with type arguments."""
        return self.output_type if self.specialised is None else self.specialised

    @property
    def schema(self) -> JsonSchema:
        """The JSON Schema of the answer, as a new object."""
        item = _schema_of(self.item, allow_extra_keys=self.allow_extra_keys)
        if self.container == "object":
            return item
        definitions = item.pop("$defs", None)
        array: JsonSchema = {"type": "array", "items": item}
        return array if definitions is None else {**array, "$defs": definitions}

    def unwrapped(self, answer: object) -> object:
        """Return an answer without the object that strict modes require around an array."""
        if self.container == "array" and isinstance(answer, dict) and [*answer] == [ARRAY_PROPERTY]:
            return answer[ARRAY_PROPERTY]
        return answer

    @property
    def strict_schema(self) -> StrictSchema:
        """Return the schema for providers' strict modes."""
        from foldline.prompts.output.schema import strict_schema_of

        return strict_schema_of(
            self.item, array=self.container == "array", allow_extra_keys=self.allow_extra_keys
        )


def declared_output(argument: object, *, allow_extra_keys: bool) -> StructuredOutputConfig | None:
    """Return the output that `PromptTemplate[argument]` declares, or None.

    Raises:
        PromptValidationError: The argument is neither a dataclass nor a list of one, or a field
            has a type that JSON can't express.
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
            f"PromptTemplate[{type_name(argument)}]: {refusals.NO_OUTPUT}",
            dataclass_type=item if isinstance(item, type) else None,
        )
    config = StructuredOutputConfig(
        kind, container, allow_extra_keys, None if item is kind else item
    )
    _check(lambda: config.schema)
    return config


_CHECKED: set[object] = set()


def check_schema(hint: object, what: str, *, section_path: SectionPath = ()) -> None:
    """Check once per type that it has a JSON schema; `what` begins the message if it has none."""
    if hint in _CHECKED:
        return
    try:
        _check(lambda: _schema_of(hint))
    except PromptValidationError as error:
        raise PromptValidationError(
            f"{what} {error}", section_path=section_path, dataclass_type=error.dataclass_type
        ) from error
    _CHECKED.add(hint)


def _check(schema: Callable[[], object]) -> None:
    try:
        schema()
    except PromptValidationError as error:
        # A name defined further down can be resolved later.
        if not isinstance(error.__cause__, NameError):
            raise


def _schema_of(hint: object, *, allow_extra_keys: bool = False) -> JsonSchema:
    # Most prompts have neither an output nor tools.
    from foldline.prompts.output.schema import schema_of

    return schema_of(hint, allow_extra_keys=allow_extra_keys)
