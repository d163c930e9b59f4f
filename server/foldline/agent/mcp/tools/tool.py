"""What a tool is: a name, a sentence, its arguments, and a coroutine function of the folders."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.json_schema import SkipJsonSchema

from foldline.backends.waiting import QUICK, waits

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from concurrent.futures import Executor

    from pydantic_core import ErrorDetails

    from foldline.agent.mcp.folders import Folders

SMALLEST_BUDGET = 200
LARGEST_BUDGET = 100_000


class Arguments(BaseModel):
    """A tool's arguments; None for one that was left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ArgumentsError(Exception):
    """Arguments that do not fit; the message names each and says what fits."""


def _within_limits(budget: int) -> int:
    if not SMALLEST_BUDGET <= budget <= LARGEST_BUDGET:
        raise ValueError(f"{SMALLEST_BUDGET} to {LARGEST_BUDGET} bytes fit")
    return budget


def _none_for_nothing(value: object) -> object:
    # Models fill in optional arguments with nothing in it.
    return None if value == "" else value


OptionalText = Annotated[str | SkipJsonSchema[None], BeforeValidator(_none_for_nothing)]
OptionalNumber = Annotated[int | SkipJsonSchema[None], BeforeValidator(_none_for_nothing)]
Budget = Annotated[int, AfterValidator(_within_limits)]
OptionalBudget = Annotated[Budget | SkipJsonSchema[None], BeforeValidator(_none_for_nothing)]

Given = TypeVar("Given", bound=Arguments)


@dataclass(frozen=True, slots=True)
class CodeTool(Generic[Given]):
    """One tool; `answer` returns one text for each block of the answer.

    It awaits futures alone (`foldline.backends.waiting`); `threads` are those of its steps.
    """

    name: str
    description: str
    arguments: type[Given]
    answer: Callable[[Folders, Given], Coroutine[Any, Any, tuple[str, ...]]]
    threads: Executor = QUICK

    def input_schema(self) -> dict[str, object]:
        """The arguments' JSON schema, without what says nothing."""
        schema = self.arguments.model_json_schema()
        return {
            "type": "object",
            "properties": {
                name: {key: value for key, value in each.items() if key not in _NOISE}
                for name, each in schema["properties"].items()
            },
            "required": schema.get("required", []),
            "additionalProperties": False,
        }

    @waits
    async def call(self, folders: Folders, arguments: Mapping[str, object]) -> tuple[str, ...]:
        """The answer to a call with `arguments` as they came.

        Raises:
            ArgumentsError: They do not fit.
            BackendError: The files do not answer, with what to do instead.
        """
        try:
            given = self.arguments.model_validate(arguments)
        except ValidationError as error:
            names = list(self.arguments.model_fields)
            # Besides what is wrong with a value, a union reports that it is not None either.
            problems = [
                _problem(each, names) for each in error.errors() if each["type"] != "none_required"
            ]
            raise ArgumentsError("; ".join(problems)) from error
        return await self.answer(folders, given)


_NOISE = ("title", "default")


def _problem(error: ErrorDetails, names: list[str]) -> str:
    name = ".".join(map(str, error["loc"][:1]))
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
        return f"{name}: unknown argument; {hint}"
    if error["type"] == "missing":
        return f"{name}: is required"
    return f"{name}: {error['msg'].removeprefix('Value error, ')}"
