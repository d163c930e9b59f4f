"""Values for a prompt's parameters, and where each of them comes from.

The first that applies: what is given with the request, a `preview_*()` function, a file of values,
what the author has bound, a section's `default_params`, the dataclass's own default, and else a
value that is made up by the field's type.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import Any

import _foldline_fixtures
import _foldline_job
from _foldline_construct import converted, init_values, is_required, make
from _foldline_failures import RequestError
from _foldline_fixtures import Origin
from foldline.prompts import Prompt, Section


@dataclass
class Values:
    """What to bind besides what the author has bound.

    Attributes:
        kinds: Every dataclass that a section takes, in order.
        bound: The instances to bind, by type; those that the prompt has anyway are not among them.
        shown: The instances that the prompt is rendered with, by type, as far as they are known.
        origins: Where each field's value comes from, by type and name.
        generated: The fields that were made up, nested ones with their path.
        chosen: The name of the parameter set that is used; None where there is none.
        sets: All sets that could be chosen.
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
    """The values for `prompt`, which the variable `name` of `module` holds.

    A type that nothing is given for, and that cannot be made without arguments, has its required
    fields generated, so that there is a preview.
    """
    sections = list(walk(prompt.template.sections))
    kinds = [kind for kind in dict.fromkeys(section.params_type for section in sections) if kind]
    values = Values(kinds)
    fixtures = _foldline_fixtures.Fixtures(module, name, prompt, request)
    values.sets = fixtures.sets
    values.chosen = fixtures.chosen
    fixtures.check_names(kinds)
    instances = fixtures.instances(kinds)
    given = _known_only(request["params"], kinds)
    for kind in kinds:
        own, origins = _own(kind, prompt, sections)
        base = own
        if kind in instances:
            base, origin = instances[kind]
            origins = dict.fromkeys(init_values(base), origin)
        told: dict[str, object] = {}
        made: list[str] = []
        sources = [] if kind in instances else fixtures.fields(kind)
        if kind in given:
            sources.append(_foldline_fixtures.Told("params", given[kind], {"source": "given"}))
        for source in sources:
            told |= converted(kind, source.values, made, kind.__name__, source.words)
            origins |= dict.fromkeys(source.values, source.origin)
        if sources or (base is None and any(map(is_required, fields(kind)))):
            start = {} if base is None else init_values(base)
            base = make(kind, {**start, **told}, made, kind.__name__)
            for path in made:
                origins.setdefault(path.split(".")[1], {"source": "generated"})
            values.generated += made
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
    """The instance that the prompt has by itself, if any, and where its values come from."""
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
    return {by_name[name]: given for name, given in params.items()}
