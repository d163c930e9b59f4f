"""Schemas of tools for providers, and arguments from models."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from foldline.prompts.errors import ToolValidationError
from foldline.prompts.forms.json_values import json_text, to_json
from foldline.prompts.forms.values import Mismatch, convert
from foldline.prompts.output.schema import JsonSchema, schema_of
from foldline.prompts.tool import Tool
from foldline.prompts.wording import ENGLISH, Wording


def described(tool: Tool[object, object], wording: Wording = ENGLISH) -> str:
    """Return a tool's description and its examples, as models read them."""
    examples = []
    for example in tool.examples:
        description, call = example.description.strip(), json_text(to_json(example.params))
        if example.result is None:
            examples.append(wording.text("tool_example", description=description, call=call))
            continue
        result = json_text(to_json(example.result))
        examples.append(
            wording.text("tool_example_result", description=description, call=call, result=result)
        )
    return "\n\n".join([tool.description, *examples])


def parameters_schema(
    tool: Tool[object, object], descriptions: Mapping[str, str] | None = None
) -> JsonSchema:
    """Return the JSON Schema of a tool's parameters.

    Args:
        tool: The tool; its examples become the schema's.
        descriptions: Replacements for the descriptions of parameters, as in
            `RenderedPrompt.tool_param_descriptions` for this tool.
    """
    if tool.params_type is None:
        return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert tool.type_arguments is not None
    schema = schema_of(tool.type_arguments[0], descriptions=descriptions)
    if tool.examples:
        schema["examples"] = [to_json(example.params) for example in tool.examples]
    return schema


def decode_arguments(tool: Tool[object, object], arguments: str | Mapping[str, object]) -> object:
    """Decode a call's arguments to the tool's dataclass; None for a tool without parameters.

    Raises:
        ToolValidationError: They aren't a JSON object or don't fit the dataclass.
    """
    values: object = arguments
    if isinstance(arguments, str):
        try:
            values = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            raise ToolValidationError(
                f"The arguments of {tool.name!r} are not JSON: {error}"
            ) from error
    else:
        values = dict(arguments)
    if not isinstance(values, dict):
        raise ToolValidationError(f"The arguments of {tool.name!r} must be a JSON object.")
    kind = tool.params_type
    if kind is None:
        if values:
            raise ToolValidationError(f"The tool {tool.name!r} takes no arguments.")
        return None
    assert tool.type_arguments is not None
    try:
        return convert(values, tool.type_arguments[0], allow_extra_keys=False)
    except Mismatch as mismatch:
        raise ToolValidationError(
            f"The arguments of {tool.name!r} do not fit: {mismatch}",
            dataclass_type=mismatch.expected or kind,
            near=mismatch.near,
        ) from mismatch


def well_formed(value: Any) -> Any:
    """Return JSON in which U+FFFD stands for halves of surrogate pairs: no wire can carry those."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {well_formed(key): well_formed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [well_formed(item) for item in value]
    return value


def object_of(arguments: object) -> Mapping[str, object]:
    """Return a call's arguments as an object, which is all that providers take back."""
    value = _loaded(arguments)
    return value if isinstance(value, Mapping) else {"arguments": value}


def name_sent(name: str) -> str:
    """Return a call's name as providers take it back: a model may have made it up."""
    # OpenAI accepts 64 characters of these.
    return re.sub(r"[^\w-]", "_", name, flags=re.ASCII)[:64] or "_"


def distinct_ids(ids: Sequence[str], number: int) -> list[str]:
    """Return the ids of the calls of message `number`; some servers send none, or one twice."""
    return [
        f"call_{number}_{at}" if not one or one in ids[:at] else one for at, one in enumerate(ids)
    ]


def arguments_text(arguments: object) -> str:
    """Return a call's arguments as a text that providers take back: that of an object."""
    if isinstance(arguments, str) and arguments and isinstance(_loaded(arguments), Mapping):
        return arguments
    return json_text(object_of(arguments))


def _loaded(arguments: object) -> object:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments
