"""`foldline.server.prompt.render`: a prompt as a model would get it, from the editor's text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foldline.ide.errors import ArgumentsError
from foldline.ide.render import execution
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.render.static import static_render
from foldline.ide.resolve import find_prompt

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.render"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What to render.

    Attributes:
        uri: The document.
        name: The prompt's variable, or `ns/key`.
        params: Fields by dataclass name or section key.
        parameter_set: The name of a parameter set, or `none`.
        chapters: The chapters that are open, as far as the prompt lets them.
        overrides: `FULL` or `SUMMARY` by section key.
        sessionId: A preview: its values and sections are taken where nothing else is said, and it
            stays as it is.
        fidelity: `executed`, or `static`, which executes nothing and needs no trust.
    """

    uri: str | None = None
    name: str | None = None
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    parameter_set: str | None = None
    chapters: tuple[str, ...] = ()
    overrides: dict[str, str] = field(default_factory=dict)
    fidelity: str = "executed"
    sessionId: str | None = None  # noqa: N815  # The name on the wire.


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    if arguments.sessionId is not None:
        render = await ls.previews.render_once(
            arguments.sessionId, arguments.params, arguments.parameter_set
        )
        return render.with_spans()
    target = await find_prompt(ls.core, arguments.uri, arguments.name)
    if arguments.fidelity == "static":
        return (await static_render(ls.core, target, arguments.overrides)).with_spans()
    if arguments.fidelity != "executed":
        raise ArgumentsError({"fidelity": f"executed or static, not {arguments.fidelity!r}"})
    options = RenderOptions(
        params=arguments.params,
        parameter_set=arguments.parameter_set,
        overrides=arguments.overrides,
        chapters=frozenset(arguments.chapters),
    )
    return (await execution.render(ls.core, target, options)).with_spans()
