"""Checks of code that takes sections for what they aren't: mutable, or with text of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.syntax import (
    Assign,
    Attribute,
    Block,
    ClassDefinition,
    Display,
    FunctionDefinition,
)
from foldline.ide.analysis.values import MethodValue, SectionValue
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_node
from foldline.ide.checks.signatures import CLASSES, is_library_section
from foldline.prompts import refusals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.module_analysis import CallSite
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import Statement


def check_assignments(
    statements: Iterable[Statement], scope: Scope, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Report assignments to arguments of sections, which can't be changed."""
    for statement in statements:
        match statement:
            case Assign() if statement.value is not None:
                for target in statement.targets:
                    for item in target.items if isinstance(target, Display) else (target,):
                        if isinstance(item, Attribute):
                            yield from _assigned(item, scope, evaluator)
            case Block():
                yield from check_assignments(statement.body, scope, evaluator)
            case FunctionDefinition():
                inside = evaluator.any_call(statement, scope)
                yield from check_assignments(statement.body, inside, evaluator)
            case ClassDefinition():
                body = evaluator.body(statement, scope)
                yield from check_assignments(statement.body, body, evaluator)


def _assigned(target: Attribute, scope: Scope, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    owner = evaluator.value(target.value, scope)
    if not isinstance(owner, SectionValue) or not is_library_section(owner, evaluator):
        return
    name = target.attr.id
    if name in CLASSES[owner.kind].constructor_arguments:
        about = f"Section {owner.key!r}" if owner.key else "A section"
        yield LazyDiagnostic(
            Code.IMMUTABLE_SECTION, f"{about} {refusals.immutable(name)}", at_node(target)
        )


def check_chapter_render(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Report `chapter.render()`: a chapter has no text."""
    func = call.node.func
    if not isinstance(func, Attribute) or func.attr.id not in ("render", "render_body"):
        return
    method = evaluator.value(func, call.scope)
    owner = method.owner if isinstance(method, MethodValue) else None
    if not isinstance(owner, SectionValue) or owner.kind != "chapter":
        return
    if is_library_section(owner, evaluator):
        about = f"Chapter {owner.key!r}" if owner.key else "A chapter"
        message = f"{about} {refusals.NO_CHAPTER_TEXT}"
        yield LazyDiagnostic(Code.CHAPTER_WITHOUT_TEXT, message, at_node(func.attr))
