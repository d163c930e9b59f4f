"""Parameter sets for previews: `preview_*()` functions, and files of values."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import _foldline_job
import _foldline_modules
from _foldline_failures import RequestError
from _foldline_slots import Slot, Slots
from foldline.prompts import Prompt
from foldline.prompts.errors import did_you_mean, near_names
from foldline.prompts.parameter_sets import DEFAULT, instances, misfit, set_functions
from foldline.prompts.specialise import dataclass_of

NONE = "none"
"""The set that shows the prompt as its module defines it."""

Origin = dict[str, object]
"""Origin of a value: its `source`, and `name`, `file` and `line` if known."""


@dataclass(frozen=True)
class FieldValues:
    """Values for fields of one dataclass; `label` names their source in errors."""

    label: str
    values: Mapping[str, object]
    origin: Origin


@dataclass
class ParameterSet:
    """The functions and files that give one set its values."""

    name: str
    functions: list[Callable[[], object]] = field(default_factory=list)
    files: list[_foldline_job.ValuesFile] = field(default_factory=list)

    def description(self) -> dict[str, object]:
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
            # The request asks for the prompt as it is.
            return
        keys = (name, f"{prompt.ns}/{prompt.key}")
        of_prompt = [sources["prompts"][key] for key in keys if key in sources["prompts"]]
        self._own_files = [file for source in of_prompt for file in source["files"]]
        modules = [module]
        for source in (*of_prompt, sources["all"]):
            self._files += source["files"]
            modules += [
                _foldline_modules.import_file(Path(file), Path(request["root"]))
                for file in source["fixtures"]
            ]
        for fixtures in modules:
            for set_name, function in set_functions(fixtures, module, name):
                functions = self._set(set_name).functions
                if function not in functions:
                    functions.append(function)
        for file in self._files:
            for set_name in file["sets"]:
                self._set(set_name).files.append(file)
        wanted = request.get("parameter_set") or next(
            (source["use"] for source in (*of_prompt, sources["all"]) if source["use"]), None
        )
        if wanted is not None and wanted != NONE and wanted not in self._sets:
            # A project can fix its setting while the preview stays open; a request is refused.
            raise RequestError(
                "prompt" if request.get("parameter_set") else "values",
                f"There is no parameter set {wanted!r} for {name}; there is "
                f"{', '.join((*self._sets, NONE))}{did_you_mean(near_names(wanted, self._sets))}",
                near=[*self._sets, NONE],
            )
        self.chosen = wanted or next(iter(self._sets), None)

    @property
    def sets(self) -> list[ParameterSet]:
        return list(self._sets.values())

    def instances(self, slots: Slots) -> dict[Slot, tuple[object, Origin]]:
        """Return the instances from the chosen set's functions, by slot."""
        by_slot: dict[Slot, tuple[object, Origin]] = {}
        chosen = self._sets.get(self.chosen or "")
        for function in chosen.functions if chosen else ():
            try:
                values = list(_call(function))
            except Exception as error:
                error.add_note(f"(in {function.__name__}())")
                raise
            placed = [(slots.slot(value, section), value) for value, section in values]
            for slot, value in placed:
                if slot is not None:
                    by_slot.setdefault(slot, (value, _function_origin(function)))
            if values and all(slot is None for slot, _ in placed):
                raise _refused(function, misfit(function, values, slots.names))
        return by_slot

    def named(self) -> list[str]:
        """Return the names that files have values under, in the chosen set and outside of sets."""
        return [
            name
            for file in self._files
            for used in self._used_sets()
            for name in file["sets"].get(used, {})
        ]

    def _used_sets(self) -> tuple[str, ...]:
        if self.chosen == NONE:
            return ()
        # Values outside of sets belong to all of them.
        return tuple(dict.fromkeys((DEFAULT, self.chosen or DEFAULT)))

    def fields(self, slot: Slot) -> list[FieldValues]:
        """Return the values that files have for the fields of a slot; later ones win."""
        rows = []
        for name in self._used_sets():
            for file in reversed(self._files):
                values = file["sets"].get(name, {}).get(slot.name)
                if values:
                    origin: Origin = {"source": "file", "name": name, "file": file["file"]}
                    rows.append(FieldValues(Path(file["file"]).name, values, origin))
        return rows

    def check_names(self, slots: Slots) -> None:
        """Refuse a file for this prompt alone that names parameters it doesn't have."""
        names = slots.by_name.keys()
        for file in self._own_files:
            unknown = {name for values in file["sets"].values() for name in values} - names
            if unknown:
                raise RequestError(
                    "values",
                    f"{Path(file['file']).name}: the prompt has no parameters "
                    f"{', '.join(sorted(unknown))}; it has {', '.join(slots.names)}",
                    file=file["file"],
                    near=sorted(names),
                )

    def _set(self, name: str) -> ParameterSet:
        return self._sets.setdefault(name, ParameterSet(name))


def _call(function: Callable[[], object]) -> Iterator[tuple[object, str | None]]:
    """Call a function and yield its instances."""
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
    for value, section in instances(function()):
        if dataclass_of(type(value)) is None:
            returned = value if section is None else {section: value}
            raise _refused(
                function, f"returns {returned!r:.80}; return an instance of a dataclass, or several"
            )
        yield value, section


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
