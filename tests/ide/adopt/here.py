"""Compares an adopted prompt in this process: a worker for each of many prompts takes too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.ide.adopt.proof import Proof, compare, make_cases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.ide.adopt.plan import Plan


def prove_here(plan: Plan, text: str) -> Proof:
    """`proof.prove` without a render worker."""
    try:
        cases = make_cases(plan)
    except ValueError as error:
        return Proof(failure=str(error))
    return compare(plan, cases, [blocks_here(plan, text, case.values) for case in cases])


def blocks_here(plan: Plan, text: str, values: Mapping[str, Any]) -> Any:
    """Return the blocks of the module's prompt with values for its fields, as JSON has them."""
    scope: dict[str, Any] = {"__name__": "adopted"}
    exec(compile(text, "adopted.py", "exec", dont_inherit=True), scope)
    given = {}
    for field in plan.fields:
        value = values[field.name]
        if field.items is not None:
            item = scope[field.items.class_name]
            value = [item(**row) for row in value]
        given[field.name] = tuple(value) if isinstance(value, list) else value
    params = [scope[plan.class_name](**given)] if given else []
    return scope[plan.variable].render(*params).blocks
