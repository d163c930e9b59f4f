"""Parameter sets for previews: `preview_*()` functions, and files of values.

What follows `preview_` is the name of the set. Where that begins with the name of a prompt of the
module, the function is for that prompt alone: `preview_reviewer_security` is the set `security` of
`reviewer`, and `preview_reviewer` its set `default`.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import _foldline_job
import _foldline_modules
from _foldline_failures import RequestError
from foldline.prompts import Prompt, PromptTemplate

PREFIX = "preview_"
DEFAULT = "default"
NONE = "none"
"""The set that a caller chooses to see the prompt as its module leaves it."""

Origin = dict[str, object]
"""Where a value comes from: its `source`, and what is known of `name`, `file` and `line`."""


@dataclass(frozen=True)
class Told:
    """Values for fields of one dataclass; `words` name their source in errors."""

    words: str
    values: Mapping[str, object]
    origin: Origin


@dataclass
class ParameterSet:
    """What one name stands for."""

    name: str
    functions: list[Callable[[], object]] = field(default_factory=list)
    files: list[_foldline_job.ValuesFile] = field(default_factory=list)

    def described(self) -> dict[str, object]:
        origins = [_function_origin(function) for function in self.functions]
        origins += [{"source": "file", "file": file["file"]} for file in self.files]
        return {"name": self.name, "origins": origins}


class Fixtures:
    """The parameter sets of one prompt, and the values of the chosen one."""

    def __init__(
        self, module: ModuleType, name: str, prompt: Prompt[Any], request: _foldline_job.Request
    ) -> None:
        self._sets: dict[str, ParameterSet] = {}
        self._files: list[_foldline_job.ValuesFile] = []
        self._own_files: list[_foldline_job.ValuesFile] = []
        self.chosen: str | None = None
        sources = request.get("values")
        if sources is None:
            # Whoever asks wants the prompt as it is.
            return
        keys = (name, f"{prompt.ns}/{prompt.key}")
        own = [sources["prompts"][key] for key in keys if key in sources["prompts"]]
        self._own_files = [file for source in own for file in source["files"]]
        modules = [module]
        for source in (*own, sources["all"]):
            self._files += source["files"]
            modules += [
                _foldline_modules.import_file(Path(file), Path(request["root"]))
                for file in source["fixtures"]
            ]
        for fixtures in modules:
            self._find_functions(fixtures, module, name)
        for file in self._files:
            for set_name in file["sets"]:
                self._set(set_name).files.append(file)
        wanted = request.get("parameter_set") or next(
            (source["use"] for source in (*own, sources["all"]) if source["use"]), None
        )
        if wanted is not None and wanted != NONE and wanted not in self._sets:
            # What a project sets may be mended while the preview goes on; a request is refused.
            raise RequestError(
                "prompt" if request.get("parameter_set") else "values",
                f"There is no parameter set {wanted!r} for {name}; there is "
                f"{', '.join((*self._sets, NONE))}",
                near=[*self._sets, NONE],
            )
        self.chosen = wanted or next(iter(self._sets), None)

    @property
    def sets(self) -> list[ParameterSet]:
        return list(self._sets.values())

    def instances(self, kinds: list[type]) -> dict[type, tuple[object, Origin]]:
        """What the functions of the chosen set give, by type."""
        found: dict[type, tuple[object, Origin]] = {}
        chosen = self._sets.get(self.chosen or "")
        for function in chosen.functions if chosen else ():
            given = list(_called(function))
            for value in given:
                if type(value) in kinds:
                    found.setdefault(type(value), (value, _function_origin(function)))
            if given and not any(type(value) in kinds for value in given):
                names = ", ".join(sorted({type(value).__name__ for value in given}))
                takes = ", ".join(kind.__name__ for kind in kinds) or "no parameters"
                message = f"gives {names}, and the prompt takes {takes}"
                raise _refused(function, message)
        return found

    def fields(self, kind: type) -> list[Told]:
        """What files say of the fields of `kind`, the one that wins last."""
        if self.chosen == NONE:
            return []
        told = []
        # What stands outside of every set is in each of them.
        for name in dict.fromkeys((DEFAULT, self.chosen or DEFAULT)):
            for file in reversed(self._files):
                values = file["sets"].get(name, {}).get(kind.__name__)
                if values:
                    origin: Origin = {"source": "file", "name": name, "file": file["file"]}
                    told.append(Told(Path(file["file"]).name, values, origin))
        return told

    def check_names(self, kinds: list[type]) -> None:
        """Refuse a file that is for this prompt alone and names what it does not take."""
        known = {kind.__name__ for kind in kinds}
        for file in self._own_files:
            unknown = {name for values in file["sets"].values() for name in values} - known
            if unknown:
                raise RequestError(
                    "values",
                    f"{Path(file['file']).name}: the prompt has no parameters "
                    f"{', '.join(sorted(unknown))}; it has {', '.join(sorted(known))}",
                    file=file["file"],
                    near=sorted(known),
                )

    def _set(self, name: str) -> ParameterSet:
        return self._sets.setdefault(name, ParameterSet(name))

    def _find_functions(self, source: ModuleType, module: ModuleType, prompt: str) -> None:
        prompts = [
            variable
            for variable, value in vars(module).items()
            if isinstance(value, (Prompt, PromptTemplate))
        ]
        for name, value in vars(source).items():
            if not name.startswith(PREFIX) or not inspect.isfunction(value):
                continue
            rest = name.removeprefix(PREFIX)
            owners = [variable for variable in prompts if f"{rest}_".startswith(f"{variable}_")]
            owner = max(owners, key=len, default=None)
            if owner is not None and owner != prompt:
                continue
            if owner is not None:
                rest = rest.removeprefix(owner).removeprefix("_") or DEFAULT
            known = self._set(rest).functions
            if value not in known:
                known.append(value)


def _called(function: Callable[[], object]) -> Iterator[object]:
    """The instances that a function gives: one, or several in a list, a tuple or a generator."""
    needed = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if needed:
        raise _refused(function, f"is called without arguments, and needs {', '.join(needed)}")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise _refused(function, "must not be async")
    given = function()
    several = isinstance(given, Iterable) and not is_dataclass(given)
    for value in given if several and isinstance(given, Iterable) else (given,):
        if not is_dataclass(value) or isinstance(value, type):
            raise _refused(
                function, f"gives {value!r:.80}; give an instance of a dataclass, or several"
            )
        yield value


def _refused(function: Callable[[], object], message: str) -> RequestError:
    origin = _function_origin(function)
    return RequestError(
        "values", f"{origin['name']}() {message}", file=origin["file"], line=origin["line"]
    )


def _function_origin(function: Callable[[], object]) -> Origin:
    code = inspect.unwrap(function).__code__
    return {
        "source": "fixture",
        "name": function.__name__,
        "file": code.co_filename,
        "line": code.co_firstlineno,
    }
