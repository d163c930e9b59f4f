"""Values for a prompt's parameters, with their origins.

In order of precedence: the request's params, a `preview_*()` function, a file of values, what the
author has bound, a section's `default_params`, the dataclass's own default, and finally a value
made up from the field's type.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import Any

import _foldline_fixtures
import _foldline_job
from _foldline_construct import construct, convert_fields, init_values, is_required
from _foldline_failures import RequestError
from _foldline_fixtures import Origin
from foldline.prompts import Prompt, Section


@dataclass
class Values:
    """The values to bind besides those that the author has bound.

    Attributes:
        kinds: The params dataclasses of the sections, in order.
        bound: The instances to bind, by type, without those that the prompt already has.
        shown: The instances that the prompt renders with, by type; None if unknown.
        origins: Origins of the fields' values, by type and name.
        generated: Paths of the fields whose values were made up.
        chosen: The name of the parameter set in use, or None.
        sets: All parameter sets.
    """

    kinds: list[type]
    bound: dict[type, object] = field(default_factory=dict)
    shown: dict[type, object] = field(default_factory=dict)
    origins: dict[type, dict[str, Origin]] = field(default_factory=dict)
    generated: list[str] = field(default_factory=list)
    chosen: str | None = None
    sets: list[_foldline_fixtures.ParameterSet] = field(default_factory=list)


def values_for(
    module: ModuleType, name: str, prompt: Prompt[Any], request: _foldline_job.Request
) -> Values:
    """Return the values for `prompt`, held by the variable `name` of `module`.

    A type without any values that needs arguments gets its required fields generated, so that there
    is a preview.
    """
    sections = list(walk(prompt.template.sections))
    kinds = [kind for kind in dict.fromkeys(section.params_type for section in sections) if kind]
    values = Values(kinds)
    fixtures = _foldline_fixtures.Fixtures(module, name, prompt, request)
    values.sets = fixtures.sets
    values.chosen = fixtures.chosen
    fixtures.check_names(kinds)
    instances = fixtures.instances(kinds)
    requested = _known_only(request["params"], kinds)
    for kind in kinds:
        own, origins = _own(kind, prompt, sections)
        base = own
        if kind in instances:
            base, origin = instances[kind]
            origins = dict.fromkeys(init_values(base), origin)
        changes: dict[str, object] = {}
        generated: list[str] = []
        sources = [] if kind in instances else fixtures.fields(kind)
        if kind in requested:
            sources.append(
                _foldline_fixtures.FieldValues("params", requested[kind], {"source": "given"})
            )
        for source in sources:
            changes |= convert_fields(kind, source.values, generated, kind.__name__, source.label)
            origins |= dict.fromkeys(source.values, source.origin)
        if sources or (base is None and any(map(is_required, fields(kind)))):
            start = {} if base is None else init_values(base)
            base = construct(kind, {**start, **changes}, generated, kind.__name__)
            for path in generated:
                origins.setdefault(path.split(".")[1], {"source": "generated"})
            values.generated += generated
        if base is not own:
            values.bound[kind] = base
        values.shown[kind] = base
        values.origins[kind] = origins
    return values


def walk(sections: Iterable[Section[object]]) -> Iterable[Section[object]]:
    for section in sections:
        yield section
        yield from walk(section.children)


def _own(
    kind: type, prompt: Prompt[Any], sections: list[Section[object]]
) -> tuple[object, dict[str, Origin]]:
    """Return the prompt's own instance, if any, and the origins of its values."""
    for value in prompt.params:
        if type(value) is kind:
            bound: Origin = {"source": "bound"}
            return value, dict.fromkeys(init_values(value), bound)
    for section in sections:
        if type(section.default_params) is kind:
            value = section.default_params
            origin: Origin = {"source": "default_params", "name": section.key}
            return value, dict.fromkeys(init_values(value), origin)
    return None, {
        field.name: {"source": "default"} for field in fields(kind) if not is_required(field)
    }


def _known_only(
    params: Mapping[str, Mapping[str, object]], kinds: list[type]
) -> dict[type, Mapping[str, object]]:
    by_name = {kind.__name__: kind for kind in kinds}
    unknown = [name for name in params if name not in by_name]
    if unknown:
        known = sorted(by_name)
        raise RequestError(
            "prompt",
            f"params: the prompt has no parameters {', '.join(unknown)}; it has {', '.join(known)}",
            near=known,
        )
    return {by_name[name]: requested for name, requested in params.items()}
