"""Values for a prompt's parameters, with their origins.

In order of precedence: the request's params, a `preview_*()` function, a file of values, what the
author has bound, a section's `default_params`, the dataclass's own default, and finally a value
made up from the field's type.
"""

import copy
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import _foldline_fixtures
import _foldline_job
from _foldline_construct import Place, construct, convert_fields, init_values
from _foldline_failures import RequestError
from _foldline_fixtures import Origin
from _foldline_slots import Slot, Slots, walk
from foldline.prompts import Prompt
from foldline.prompts.forms.fields import declared_fields, is_required


@dataclass
class Values:
    """The values to bind besides those that the author has bound.

    Attributes:
        slots: The places for parameters: dataclasses in the order of their sections, then sections
            with parameters of their own.
        bound: The instances to bind, by slot, without those that the prompt already has.
        shown: The instances that the prompt renders with, by slot; None if unknown.
        origins: Origins of the fields' values, by slot and name.
        generated: Paths of the fields whose values were made up.
        chosen: The name of the parameter set in use, or None.
        sets: All parameter sets.
    """

    slots: list[Slot] = field(default_factory=list)
    bound: dict[Slot, object] = field(default_factory=dict)
    shown: dict[Slot, object] = field(default_factory=dict)
    origins: dict[Slot, dict[str, Origin]] = field(default_factory=dict)
    generated: list[str] = field(default_factory=list)
    chosen: str | None = None
    sets: list[_foldline_fixtures.ParameterSet] = field(default_factory=list)

    def bind(self, prompt: Prompt[Any]) -> Prompt[Any]:
        """Return a copy of the prompt with these values."""
        return copy.copy(prompt).bind(
            *(value for slot, value in self.bound.items() if slot.section is None),
            section_params={
                slot.section: value for slot, value in self.bound.items() if slot.section
            },
        )


def values_for(
    module: ModuleType, name: str, prompt: Prompt[Any], request: _foldline_job.Request
) -> Values:
    """Return the values for `prompt`, held by the variable `name` of `module`.

    A type without any values that needs arguments gets its required fields generated, so that there
    is a preview.
    """
    slots = Slots(prompt)
    fixtures = _foldline_fixtures.Fixtures(module, name, prompt, request)
    fixtures.check_names(slots)
    instances = fixtures.instances(slots)
    requested = request["params"]
    slots.check(requested)
    names = [*requested, *fixtures.named(), *(slot.name for slot in instances)]
    values = Values(slots.used(names), chosen=fixtures.chosen, sets=fixtures.sets)
    for slot in values.slots:
        value, origins = _own(slot, prompt, values)
        base = value
        if slot in instances:
            base, origin = instances[slot]
            origins = dict.fromkeys(init_values(base), origin)
        changes: dict[str, object] = {}
        target = Place([], slot.name)
        sources = [] if slot in instances else fixtures.fields(slot)
        if slot.name in requested and slots.by_name[slot.name] == slot:
            sources.append(
                _foldline_fixtures.FieldValues("params", requested[slot.name], {"source": "given"})
            )
        for source in sources:
            at = replace(target, source=source.label)
            changes |= convert_fields(slot.kind, source.values, at)
            origins |= dict.fromkeys(source.values, source.origin)
        if sources or (base is None and any(map(is_required, declared_fields(slot.kind)))):
            start = {} if base is None else init_values(base)
            try:
                base = construct(slot.kind, {**start, **changes}, target)
            except RequestError:
                if sources or slot.kind not in slots.optional:
                    raise
                target.generated.clear()
            for path in target.generated:
                inner = path.removeprefix(f"{slot.name}.").partition(".")[0]
                origins.setdefault(inner, {"source": "generated"})
            values.generated += target.generated
        is_bound = slot.section is None or slot.section in prompt.section_params
        if base is not None and not (base is value and is_bound):
            values.bound[slot] = base
        values.shown[slot] = base
        values.origins[slot] = origins
    return values


def _own(slot: Slot, prompt: Prompt[Any], values: Values) -> tuple[object, dict[str, Origin]]:
    """Return what is shown without further values, if anything, and the origins of its values."""
    kind = slot.kind
    bound: Origin = {"source": "bound"}
    if slot.section is not None and slot.section in prompt.section_params:
        value = prompt.section_params[slot.section]
        return value, dict.fromkeys(init_values(value), bound)
    shared = Slot(kind)
    if slot != shared and shared in values.bound:
        return values.bound[shared], dict(values.origins[shared])
    for value in prompt.params:
        if type(value) is kind:
            return value, dict.fromkeys(init_values(value), bound)
    sections = list(walk(prompt.template.sections))
    node = prompt.template.plan.by_dotted.get(slot.section or "")
    if node is not None:
        sections.insert(0, node.section)
    for section in sections:
        if type(section.default_params) is kind:
            value = section.default_params
            origin: Origin = {"source": "default_params", "name": section.key}
            return value, dict.fromkeys(init_values(value), origin)
    optional = (field for field in declared_fields(kind) if not is_required(field))
    return None, {field.name: {"source": "default"} for field in optional}
