"""Carries out one request: imports the prompt's module and performs the action."""

import sys
from functools import partial
from pathlib import Path
from typing import TypedDict

import _foldline_effects
import _foldline_failures
import _foldline_identity
from _foldline_json import encoded


class ValuesFile(TypedDict):
    """A file of values: for each parameter set, fields by dataclass name or section key."""

    file: str
    sets: dict[str, dict[str, dict[str, object]]]


class Sources(TypedDict):
    """Sources of values: files with `preview_*()` functions, and files of values.

    `use` is the initial parameter set.
    """

    fixtures: list[str]
    files: list[ValuesFile]
    use: str | None


class ValueSources(TypedDict):
    """Sources for all prompts of a module, and for individual ones by name or `ns/key`."""

    all: Sources
    prompts: dict[str, Sources]


class Request(TypedDict):
    """A request of the server.

    Keys:
        file, root: The prompt module, and the workspace folder that contains it.
        overlays: Texts of open documents, by path.
        compared: Whether the answer has what was read of the workspace, and hashes of the texts.
        deadline: Seconds until the request fails.
        version: The server's version of foldline.
        token: A text that the answer starts with.
        pycache: The folder for compiled modules of the workspace.
        name: The prompt's variable or `ns/key`; None for the module's first prompt.
        params: Values of fields, by dataclass name or section key.
        overrides: Visibilities, by section key.
        network: `deny` if the module must not reach the network.
        opening_reason: Why a section is opened, in what opening costs.
        tolerant: True if failed sections are reported beside the rendered ones.
        values: Sources of further values.
        parameter_set: The set of values to use.
        chapters: Keys of the chapters to open; None for all.
        tag: That of the overrides to show; None for those that the prompt is bound to.

    The other keys belong to individual actions.
    """

    file: str
    root: str
    overlays: dict[str, str]
    compared: bool
    deadline: float
    token: str
    pycache: str
    action: str
    name: str | None
    params: dict[str, dict[str, object]]
    overrides: dict[str, str]
    instructions: str | None
    section_keys: list[str] | None
    section_key: str | None
    opened: list[str]
    reason: str
    provider: str
    model: str
    loop: bool
    tool: str
    input: dict[str, object] | None
    network: str
    version: str
    opening_reason: str
    tolerant: bool
    values: ValueSources | None
    parameter_set: str | None
    chapters: list[str] | None
    tag: str | None


# As in RFC 7464. JSON holds none, so that an answer with its records is one line.
RECORD = b"\x1e"


def run(request: Request) -> bytes:
    """Carry out `request`, and return the answer or the failure as JSON.

    The blocks of a render follow it as a record each: the server knows most of them already.
    """
    try:
        identity = _foldline_identity.identity()
        _check_foldline(identity["foldline"], request.get("version"))
        import _foldline_modules

        # All our modules are imported by now, and the user's code must not find this folder.
        sys.path[:] = [folder for folder in sys.path if folder != str(Path(__file__).parent)]
        is_users = partial(_foldline_failures.is_users, request=request)
        effects = _foldline_effects.watch(
            is_users, ours=request["pycache"], deny_network=request.get("network") == "deny"
        )
        _foldline_modules.install(request["overlays"], request["pycache"], is_users)
        root = Path(request["root"])
        reads = _foldline_effects.watch_reads(str(root)) if request.get("compared") else set()
        module = _foldline_modules.import_file(Path(request["file"]), root)
        import _foldline_actions

        answer = _foldline_actions.perform(module, request)
        if request.get("compared"):
            files = reads | _foldline_modules.loaded_files(str(root))
            answer["reads"] = [*filter(is_users, files)]
        blocks = answer.pop("blocks", None)
        records = blocks if isinstance(blocks, list) else []
        whole_answer = {**answer, "effects": list(effects), "interpreter": identity}
        return RECORD.join(map(encoded, (whole_answer, *records)))
    except BaseException as error:
        # Whatever the user's code raises becomes an answer, even `SystemExit`.
        return _foldline_failures.raised(error, request)


def _check_foldline(installed: str | None, ours: str | None) -> None:
    """Import what needs the user's foldline; `RequestError` where it's missing or doesn't fit."""
    try:
        import foldline.prompts  # noqa: F401
    except ImportError as error:
        raise _foldline_failures.RequestError(
            "no_foldline",
            f"{sys.executable} cannot import foldline.prompts ({error}): install foldline there, "
            "or choose another interpreter",
        ) from error
    try:
        import _foldline_actions  # noqa: F401
    except ImportError as error:
        raise _foldline_failures.RequestError(
            "no_foldline",
            f"{sys.executable} has foldline {installed or 'of an unknown version'}, which does not "
            f"go with this server's {ours} ({error}): install that version there",
        ) from error
