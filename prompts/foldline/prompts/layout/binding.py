"""Parameters of a prompt: an instance per dataclass, and instances for single sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from foldline.prompts import refusals
from foldline.prompts.errors import PromptValidationError, did_you_mean, near_names
from foldline.prompts.specialise import dataclass_of, field_names, type_name

if TYPE_CHECKING:
    from foldline.prompts.layout.tree import Plan


@dataclass(frozen=True, slots=True)
class Bindings:
    """The bound instances of a prompt; immutable, so that renders and copies can share them."""

    by_type: Mapping[type, object] = field(default_factory=dict)
    """In the order in which the types were first bound."""
    by_section: Mapping[str, object] = field(default_factory=dict)
    """Instances for one section alone, by its dotted key."""
    repeated: frozenset[type] = frozenset()
    """Types that one call bound twice, and that weren't bound again since."""

    def with_params(self, params: tuple[object, ...]) -> Bindings:
        """Return the bindings with these instances instead of those of the same types.

        Raises:
            PromptValidationError: One isn't an instance of a dataclass.
        """
        for item in params:
            if not _is_instance(item):
                named = (type_name(kind), field_names(kind)) if (kind := dataclass_of(item)) else ()
                raise PromptValidationError(
                    refusals.not_bindable(_shown(item), *named),
                    dataclass_type=item if isinstance(item, type) else type(item),
                )
        counts = Counter(type(item) for item in params)
        twice = {kind for kind, count in counts.items() if count > 1}
        return replace(
            self,
            by_type={**self.by_type, **{type(item): item for item in params}},
            repeated=(self.repeated - counts.keys()) | twice,
        )

    def with_section_params(self, params: object, plan: Plan) -> Bindings:
        """Return the bindings with these instances for single sections, by dotted key.

        The plan has the sections of closed chapters, too.

        Raises:
            PromptValidationError: A key isn't that of a section, or a section takes another type.
        """
        if not isinstance(params, Mapping):
            raise PromptValidationError(
                "`section_params` maps the dotted keys of sections to instances, as in "
                f"{{'seller.address': Address(…)}}; it can't be {_shown(params)}."
            )
        for key, item in params.items():
            _check_for_section(key, item, plan)
        return replace(self, by_section={**self.by_section, **params})

    def check(self, plan: Plan, name: str) -> None:
        """Return if the sections of the prompt `name` can be rendered with these bindings.

        Raises:
            PromptValidationError: A type was bound twice in one call, or no section takes it.
        """
        for kind in self.repeated:
            raise PromptValidationError(
                f"{type_name(kind)} was bound twice in one call; bind one instance, and those for "
                "single sections with `section_params`.",
                dataclass_type=kind,
            )
        types = plan.known_types
        for kind in self.by_type:
            if kind in types:
                continue
            names = sorted(type_name(k) for k in types)
            base = next((k for k in kind.__mro__ if k in types), None)
            if base is not None:
                raise PromptValidationError(
                    refusals.subclass_bound(type_name(kind), type_name(base)),
                    dataclass_type=kind,
                    near=(type_name(base),),
                )
            raise PromptValidationError(
                f"No section of {name} takes {type_name(kind)}; its sections take "
                f"{', '.join(names) or 'no parameters'}.",
                dataclass_type=kind,
                near=near_names(type_name(kind), names),
            )


def near_keys(key: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return at most three of the dotted keys that `key` may stand for, best first."""
    known = list(known)
    # A bare last part stands for any key that ends in it.
    ends = [other for other in known if other.endswith(f".{key}")]
    return tuple(dict.fromkeys((*ends, *near_names(key, known))))[:3]


def _check_for_section(key: object, item: object, plan: Plan) -> None:
    if key not in plan.declared:
        raise _unknown_section(key, plan)
    path = plan.declared[key].path
    expected = plan.declared[key].params_type
    if expected is None:
        raise PromptValidationError(
            f"Section {key!r} takes no parameters: leave it out of `section_params`.",
            section_path=path,
        )
    if type(item) is expected:
        return
    kind = type_name(expected)
    if isinstance(item, expected):
        kind_name = type_name(type(item))
        message = (
            f"{kind_name} is a subclass of {kind}, and the section {key!r} takes instances of its "
            f"own type: bind a {kind}, or specialise it with {kind_name}."
        )
    else:
        kind_name = type_name(type(item)) if _is_instance(item) else _shown(item)
        message = f"Section {key!r} takes an instance of {kind}, not {kind_name}."
    raise PromptValidationError(message, section_path=path, dataclass_type=expected, near=(kind,))


def _unknown_section(key: object, plan: Plan) -> PromptValidationError:
    if isinstance(key, tuple) and ".".join(map(str, key)) in plan.declared:
        return PromptValidationError(
            f"`section_params`: write the key {'.'.join(key)!r} instead of the path {key!r}."
        )
    chapters = {path[-1] for path in plan.chapter_paths}
    if key in chapters:
        return PromptValidationError(
            f"`section_params`: {key!r} is a chapter; give its parameters in `chapter_params`."
        )
    near = near_keys(str(key), plan.declared)
    return PromptValidationError(
        f"`section_params`: there is no section {key!r}" + did_you_mean(near, "."), near=near
    )


def _is_instance(item: object) -> bool:
    return dataclass_of(type(item)) is not None


def _shown(item: object) -> str:
    return type_name(item) if isinstance(item, type) else repr(item)
