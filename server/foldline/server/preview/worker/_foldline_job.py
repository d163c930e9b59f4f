"""One request: imports the prompt's module, does what was asked, and says how it went."""

import json
import sys
from pathlib import Path
from typing import TypedDict

import _foldline_effects
import _foldline_failures


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
    documents by path; `deadline` is in seconds. `name` is the variable of the prompt, or None for
    the first. `params` are values for fields by dataclass name, `overrides` visibilities by section
    key; `network` is `deny` where the module may not reach it; `tolerant` is true where sections
    that cannot be rendered are told beside the others. `values` says where further values come
    from, `parameter_set` which of them are wanted, `chapters` which ones are to be open. The rest
    belongs to single actions.
    """

    file: str
    root: str
    overlays: dict[str, str]
    deadline: float
    action: str
    name: str | None
    params: dict[str, dict[str, object]]
    overrides: dict[str, str]
    instructions: str | None
    section_keys: list[str]
    section_key: str | None
    reason: str
    network: str
    tolerant: bool
    values: ValueSources | None
    parameter_set: str | None
    chapters: list[str]


def run(request: Request) -> bytes:
    """The answer to `request` as JSON: what was asked for, or the failure."""
    try:
        _check_foldline()
        import _foldline_actions
        import _foldline_modules

        # Nothing of ours is left to import, and the user's code need not find this folder.
        sys.path[:] = [folder for folder in sys.path if folder != str(Path(__file__).parent)]
        effects = _foldline_effects.watch(
            lambda file: _foldline_failures.is_users(file, request),
            deny_network=request.get("network") == "deny",
        )
        _foldline_modules.install(request["overlays"])
        module = _foldline_modules.import_file(Path(request["file"]), Path(request["root"]))
        answer = _foldline_actions.perform(module, request)
        return json.dumps({**answer, "effects": list(effects)}).encode()
    except BaseException as error:
        # Whatever the user's code raises, `SystemExit` and `KeyboardInterrupt` too, is an answer.
        return _foldline_failures.raised(error, request)


def _check_foldline() -> None:
    try:
        import foldline.prompts  # noqa: F401
    except ImportError as error:
        raise _foldline_failures.RequestError(
            "no_foldline",
            f"{sys.executable} cannot import foldline.prompts ({error}): install foldline there, "
            "or choose another interpreter",
        ) from error
