"""How often values change, as fields and classes declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.syntax import Assign, Name, Subscript
from foldline.ide.analysis.values import External
from foldline.prompts import PerRequest, PerSession, Stability, Stable

if TYPE_CHECKING:
    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import ClassDefinition, Expression
    from foldline.ide.analysis.values import Value

_ANNOTATED = ("typing.Annotated", "typing_extensions.Annotated")
_MARKERS = {"Stable": Stable, "PerSession": PerSession, "PerRequest": PerRequest} | dict(
    Stability.__members__
)


def declared_in_type(
    evaluator: Evaluator, annotation: Expression, scope: Scope
) -> Stability | None:
    """Return how often a value of `Annotated[str, PerRequest]` changes."""
    if not isinstance(annotation, Subscript):
        return None
    head = evaluator.value(annotation.value, scope)
    if not isinstance(head, External) or head.dotted not in _ANNOTATED:
        return None
    markers = (_marker(evaluator.value(item, scope)) for item in annotation.items[1:])
    return next((marker for marker in markers if marker is not None), None)


def declared_in_class(
    evaluator: Evaluator, definition: ClassDefinition, scope: Scope
) -> Stability | None:
    """Return what a class says of its fields: `__stability__ = PerSession`."""
    for statement in definition.body:
        if isinstance(statement, Assign) and statement.value is not None:
            target = statement.targets[0] if statement.targets else None
            if isinstance(target, Name) and target.id == "__stability__":
                marker = _marker(evaluator.value(statement.value, scope))
                return Stability.UNKNOWN if marker is None else marker
    return None


def _marker(value: Value) -> Stability | None:
    return _MARKERS.get(value.library_name) if isinstance(value, External) else None
