"""What the commands ask of a prompt that is run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from foldline.backends.waiting import in_thread
from foldline.ide.errors import Untrusted
from foldline.ide.render.interpreter import find_interpreter, mismatch
from foldline.ide.render.jobs import prompt_job
from foldline.ide.render.render_options import Choices
from foldline.ide.render.token_costs import with_costs
from foldline.ide.structuring import unstructure
from foldline.server.client_configuration import report
from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.ide.render.interpreter import Interpreter
    from foldline.server.prompt_index import Asked
    from foldline.server.resolve import PromptTarget
    from foldline.server.server import FoldlineServer

UNTRUSTED = (
    "This workspace is not trusted, so its prompts are not executed. Trust it in your editor, or "
    'start the server with initializationOptions {"trusted": true}'
)


async def render(
    ls: FoldlineServer, target: PromptTarget, choices: Choices, *, tolerant: bool = False
) -> dict[str, Any]:
    """The prompt's text, blocks and tools.

    With `tolerant`, a section that cannot be rendered is a block that has an `error`.
    """
    answer = await _ask(ls, target, "render", **choices.request(), tolerant=tolerant)
    return await _with_document(ls, target, answer)


async def open_sections(
    ls: FoldlineServer,
    target: PromptTarget,
    choices: Choices,
    *,
    section_keys: Sequence[str],
    reason: str,
    tolerant: bool = False,
) -> dict[str, Any]:
    """What the prompt's own tool asks for, and the prompt as it is rendered after that."""
    answer = await _ask(
        ls,
        target,
        "open",
        section_keys=list(section_keys),
        reason=reason,
        **choices.request(),
        tolerant=tolerant,
    )
    render = {**answer["render"], "interpreter": answer["interpreter"]}
    return {**answer, "render": await _with_document(ls, target, render)}


async def render_opened(
    ls: FoldlineServer, target: PromptTarget, section_keys: Sequence[str]
) -> dict[str, Any]:
    """The prompt as it is rendered once these sections, if any, are opened as a model does."""
    if not section_keys:
        return await render(ls, target, Choices())
    opened = await open_sections(
        ls, target, Choices(), section_keys=section_keys, reason="Opened in the editor"
    )
    return dict(opened["render"])


async def render_at(
    ls: FoldlineServer, target: PromptTarget, texts: Mapping[str, str], choices: Choices
) -> dict[str, Any]:
    """The prompt with its costs, with these texts in place of their files and of open buffers."""
    answer = await _ask(ls, target, "render", texts, **choices.request())
    counter = ls.prompts.folder(target.document.path).counter
    return await in_thread(partial(with_costs, answer, counter))


async def ask_section(
    ls: FoldlineServer,
    target: PromptTarget,
    action: Literal["read", "summary"],
    *,
    section_key: str | None,
    overrides: Mapping[str, str],
    params: Mapping[str, object],
) -> dict[str, Any]:
    """One section: its text as `read_section` gives it, or its summary and sizes in UTF-8 bytes."""
    return await _ask(
        ls, target, action, section_key=section_key, overrides=overrides, params=params
    )


async def _ask(
    ls: FoldlineServer,
    target: PromptTarget,
    action: str,
    texts: Mapping[str, str] | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """The worker's answer to `action` on the prompt `target`, as its text stands in the editor.

    `texts` stand for files by path, before those of the editor.

    Raises:
        IdeError: The workspace is not trusted, or the prompt could not be rendered.
    """
    _require_trust(ls)
    document = target.document
    job, problems = await in_thread(
        partial(
            prompt_job,
            action,
            document.path,
            document.root,
            name=target.name,
            deadline=ls.settings.render_deadline,
            network=ls.settings.preview.network,
            overlays={
                **ls.files.overlays(),
                str(document.path): document.text,
                **(texts or {}),
            },
            **arguments,
        )
    )
    report(ls, list(problems))
    interpreter = find_interpreter(document.path, ls.settings.interpreter)
    # It may have been taken back meanwhile.
    _require_trust(ls)
    answer = await ls.renderer.run(interpreter, job)
    ls.focus.prompt(document.uri, answer["name"])
    return {**answer, "interpreter": described(ls, interpreter)}


def _require_trust(ls: FoldlineServer) -> None:
    if not ls.settings.trusted:
        raise Untrusted(UNTRUSTED)


def described(ls: FoldlineServer, interpreter: Interpreter) -> dict[str, str | None]:
    """An interpreter and why it is the one, with what it said of itself when it last rendered.

    `mismatch` says what is wrong with the foldline that it has.
    """
    told: dict[str, str | None] = {"path": str(interpreter.path), "reason": interpreter.reason}
    known = ls.renderer.identities.get(interpreter.path)
    if known is None:
        return told
    return {**told, **known, "mismatch": mismatch(known["foldline"], ls.version)}


async def _with_document(
    ls: FoldlineServer, target: PromptTarget, render: Mapping[str, Any]
) -> dict[str, Any]:
    """A render with its costs and its document, and each block with its place in the source."""
    document = target.document

    def places(asked: Asked) -> dict[tuple[str, ...], object]:
        return section_locations(asked, render["name"])

    folder = ls.prompts.folder(document.path)
    priced = await in_thread(partial(with_costs, render, folder.counter))
    locations = await ask(ls, document.uri, places) or {}
    return {
        **priced,
        "uri": document.uri,
        "version": document.version,
        "fidelity": "executed",
        "token_budget": folder.options.token_budget,
        "blocks": [
            {**block, "location": locations.get(tuple(block["path"]))} for block in priced["blocks"]
        ],
    }


def section_locations(asked: Asked, name: str) -> dict[tuple[str, ...], object]:
    """Where the source declares each section of the prompt `name`, as an LSP location by path."""
    prompt = asked.analysis.module.prompt(name)
    locations: dict[tuple[str, ...], object] = {}
    for section in prompt.walk() if prompt is not None else ():
        location = asked.location(section.selection)
        if location is not None:
            locations[section.path] = {"uri": location.uri, "range": unstructure(location.range)}
    return locations
