"""One request: imports the prompt's module, does what was asked, and says how it went."""

import sys
from pathlib import Path
from typing import TypedDict

import _foldline_effects
import _foldline_failures
import _foldline_identity
from _foldline_json import encoded


class ValuesFile(TypedDict):
    """A file of values: for each parameter set, fields by dataclass name."""

    file: str
    sets: dict[str, dict[str, dict[str, object]]]


class Sources(TypedDict):
    """Where values may come from: files with `preview_*()` functions, files of values.

    `use` is the parameter set to begin with.
    """

    fixtures: list[str]
    files: list[ValuesFile]
    use: str | None


class ValueSources(TypedDict):
    """The sources for every prompt of a module, and those for single ones by name or `ns/key`."""

    all: Sources
    prompts: dict[str, Sources]


class Request(TypedDict):
    """What the server asks for.

    `file` is the prompt module below the folder `root`; `overlays` holds the texts of open
    documents by path; `deadline` is in seconds; `version` is the server's. `token` stands before
    the answer; `pycache` is the folder for compiled modules of the workspace. `name` is the
    variable of the prompt, or None for the first. `params` are values for fields by dataclass name,
    `overrides` visibilities by section key; `network` is `deny` where the module may not reach it;
    `tolerant` is true where sections that cannot be rendered are told beside the others. `values`
    says where further values come from, `parameter_set` which of them are wanted, `chapters` which
    ones are to be open. The rest belongs to single actions.
    """

    file: str
    root: str
    overlays: dict[str, str]
    deadline: float
    token: str
    pycache: str
    action: str
    name: str | None
    params: dict[str, dict[str, object]]
    overrides: dict[str, str]
    instructions: str | None
    section_keys: list[str]
    section_key: str | None
    reason: str
    network: str
    version: str
    tolerant: bool
    values: ValueSources | None
    parameter_set: str | None
    chapters: list[str]


def run(request: Request) -> bytes:
    """The answer to `request` as JSON: what was asked for, or the failure."""
    try:
        identity = _foldline_identity.identity()
        _check_foldline(identity["foldline"], request.get("version"))
        import _foldline_modules

        # Nothing of ours is left to import, and the user's code need not find this folder.
        sys.path[:] = [folder for folder in sys.path if folder != str(Path(__file__).parent)]
        effects = _foldline_effects.watch(
            lambda file: _foldline_failures.is_users(file, request),
            ours=request["pycache"],
            deny_network=request.get("network") == "deny",
        )
        _foldline_modules.install(
            request["overlays"],
            request["pycache"],
            lambda file: _foldline_failures.is_users(file, request),
        )
        module = _foldline_modules.import_file(Path(request["file"]), Path(request["root"]))
        import _foldline_actions

        answer = _foldline_actions.perform(module, request)
        told = {"effects": list(effects), "interpreter": identity}
        return encoded({**answer, **told})
    except BaseException as error:
        # Whatever the user's code raises, `SystemExit` and `KeyboardInterrupt` too, is an answer.
        return _foldline_failures.raised(error, request)


def _check_foldline(installed: str | None, ours: str | None) -> None:
    """Import what answers requests, by the user's own foldline.

    Raises:
        RequestError: There is none, or it lacks what is needed.
    """
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
