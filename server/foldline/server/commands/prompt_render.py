"""`foldline.server.prompt.render`: a prompt as a model would get it, from the editor's text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from foldline.ide.errors import ArgumentsError
from foldline.ide.render import execution
from foldline.ide.render.static import static_render
from foldline.ide.resolve import find_prompt
from foldline.server.commands.prompt_arguments import PromptArguments

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.render"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(PromptArguments):
    """What to render; with a `sessionId` the values that are given count, and the preview stays.

    Attributes:
        parameter_set: The name of a parameter set, or `none`.
        fidelity: `executed`, or `static`, which executes nothing and needs no trust.
    """

    parameter_set: str | None = None
    fidelity: str = "executed"


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    if arguments.sessionId is not None:
        render = await ls.previews.render_once(
            arguments.sessionId, arguments.params, arguments.parameter_set
        )
        return render.with_spans()
    target = await find_prompt(ls.core, arguments.uri, arguments.name)
    if arguments.fidelity == "static":
        return (await static_render(ls.core, target, arguments.options)).with_spans()
    if arguments.fidelity != "executed":
        raise ArgumentsError({"fidelity": f"executed or static, not {arguments.fidelity!r}"})
    options = replace(arguments.options, parameter_set=arguments.parameter_set)
    return (await execution.render(ls.core, target, options)).with_spans()
