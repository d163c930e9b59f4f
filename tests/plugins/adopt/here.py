"""Compares an adopted prompt in this process: a process for each of many takes too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.plugins.adopt import sandbox
from foldline.plugins.adopt.proof import Proof, compare, job_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.plugins.adopt.plan import Plan


def prove_here(plan: Plan, text: str) -> Proof:
    """`proof.prove` without a process of its own."""
    try:
        return compare(plan, sandbox.cases(job_of(plan, text)))
    except ValueError as error:
        return Proof(failure=str(error))


def rendered_here(plan: Plan, text: str, values: Mapping[str, Any]) -> Any:
    """Return the module's prompt with values for its fields."""
    scope: dict[str, Any] = {"__name__": "adopted"}
    exec(compile(text, "adopted.py", "exec", dont_inherit=True), scope)
    params = [scope[plan.class_name](**values)] if values else []
    return scope[plan.variable].render(*params)
