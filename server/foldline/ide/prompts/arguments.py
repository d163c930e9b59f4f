"""The arguments of actions as a shell takes them, together with what says which prompt is meant."""

from __future__ import annotations

from dataclasses import MISSING, field, fields, make_dataclass
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from foldline.ide.operations.operation import Role, parameters_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from foldline.ide.operations.operation import Argument
    from foldline.ide.prompts.action import Action


def key_argument(action: type[Action[Any]]) -> Argument | None:
    """The argument that a selected section, chapter or set is given for; None without one."""
    return next((one for one in parameters_of(action) if Role.KEY in one.roles), None)


def arguments_of(
    action: type[Action[Any]],
    subject: type[Any],
    takes: Collection[str],
    *,
    without: Collection[str] = (),
    for_models: bool = False,
) -> type[Any]:
    """A dataclass with the fields of `subject` that are named, and then those of the action.

    What both have is one field. Models have to give some that have a default elsewhere.
    """
    hints = get_type_hints(subject, include_extras=True)
    declared: dict[str, Any] = {
        one.name: _declared(one, hints[one.name]) for one in fields(subject) if one.name in takes
    }
    hints = get_type_hints(action, include_extras=True)
    for one in fields(action):
        notes = get_args(hints[one.name])
        if one.name not in without and not (for_models and Role.PEOPLE in notes):
            required = for_models and Role.MODEL in notes
            declared.setdefault(one.name, _declared(one, hints[one.name], required=required))
    return make_dataclass("Arguments", declared.values(), frozen=True, kw_only=True)


def _declared(one: Any, hint: Any, *, required: bool = False) -> tuple[Any, ...]:
    if one.default_factory is not MISSING:
        return one.name, hint, field(default_factory=one.default_factory)
    default = MISSING if required else one.default
    return one.name, hint, field(default=default)


def action_of(action: type[Action[Any]], values: Mapping[str, Any]) -> Action[Any]:
    """The action with those of the values that are its own arguments."""
    names = {one.name for one in fields(action)}
    return action(**{name: value for name, value in values.items() if name in names})
