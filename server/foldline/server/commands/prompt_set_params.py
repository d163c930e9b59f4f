"""`foldline.server.prompt.setParams`: shows a preview with other values, or another budget."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from foldline.ide.errors import ArgumentsError

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.setParams"


class BudgetUnit(StrEnum):
    TOKENS = "tokens"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What to show; without a `sessionId` in the preview last opened.

    Attributes:
        params: Fields by dataclass name or section key, in place of those that were set before.
        parameter_set: The name of a parameter set, or `none`.
        budget: What the text may cost; 0 for no budget, not even the project's.
        budget_unit: What it costs; tokens unless it was set.
    """

    params: dict[str, dict[str, Any]] | None = None
    parameter_set: str | None = None
    budget: int | None = None
    budget_unit: BudgetUnit | None = None
    sessionId: str | None = None  # noqa: N815  # The name on the wire.


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    """Without anything to set it takes back the values that were."""
    if arguments.budget is not None and arguments.budget < 0:
        raise ArgumentsError({"budget": "0 for none, or more"})
    return await ls.previews.set_values(
        arguments.sessionId,
        arguments.params,
        parameter_set=arguments.parameter_set,
        budget=arguments.budget,
        budget_unit=arguments.budget_unit,
    )
