"""Checks of keywords: misspelt ones, and required arguments that are missing."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from foldline import prompts
from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.instances import CLASSES, SECTION_KINDS, class_name, lineage_of
from foldline.ide.analysis.module_analysis import CallSite
from foldline.ide.analysis.section_tree import below, in_template, span_of
from foldline.ide.analysis.syntax import (
    Attribute,
    ClassDefinition,
    FunctionDefinition,
    Keyword,
    Starred,
)
from foldline.ide.analysis.values import (
    ClassValue,
    Dataclass,
    External,
    MethodValue,
    PromptValue,
    SectionValue,
    Specialised,
    TemplateValue,
    ToolValue,
    Value,
)
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import (
    Change,
    Fix,
    LazyDiagnostic,
    Repair,
    at_node,
    did_you_mean,
    replacement,
)
from foldline.prompts import Tool
from foldline.prompts.errors import near_names
from foldline.prompts.sections.cloning import RUNTIME

_CHANGES_ARGUMENTS = frozenset({"set_arguments", "select", "constructor_arguments"})


class Constructor(NamedTuple):
    """A class of the library that a call makes an instance of, itself or by inheriting from it."""

    name: str
    """The library's name."""
    written: str
    """The name in the code."""
    types: Specialised | None
    own: bool
    """True for the library's class, False for a class of the workspace that inherits from it."""


def constructor_of(call: CallSite, evaluator: Evaluator) -> Constructor | None:
    """Return the constructor that a call certainly reaches with its arguments as they are."""
    func = evaluator.value(call.node.func, call.scope)
    origin, types = (func.origin, func) if isinstance(func, Specialised) else (func, None)
    written = class_name(call.node.func)
    if isinstance(origin, External) and origin.library_name:
        return Constructor(origin.library_name, written, types, own=True)
    if not isinstance(origin, ClassValue):
        return None
    lineage = lineage_of(evaluator, func)
    if lineage.root not in (*SECTION_KINDS, "Tool", "PromptTemplate"):
        return None
    if not all(_inherits(value.definition) for value in lineage.classes):
        return None
    return Constructor(lineage.root, written, lineage.types, own=False)


def _inherits(definition: ClassDefinition) -> bool:
    """Return True if a class has the constructor of its only base class."""
    if len(definition.bases) != 1 or definition.decorators:
        return False
    names = (
        statement.name.id if isinstance(statement, FunctionDefinition) else statement.source
        for statement in definition.body
    )
    return not any(
        name.startswith("__") or any(word in name for word in _CHANGES_ARGUMENTS) for name in names
    )


def is_library_section(section: SectionValue, evaluator: Evaluator) -> bool:
    """Return True for an instance of one of the library's own classes."""
    if section.scope is None or section.maybe or section.kind not in CLASSES:
        return False
    func = evaluator.value(section.node.func, section.scope)
    origin = func.origin if isinstance(func, Specialised) else func
    return isinstance(origin, External) and origin.library_name in SECTION_KINDS


class _Accepted(NamedTuple):
    """The arguments that a call takes."""

    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    required: tuple[str, ...]
    any_positional: bool


@lru_cache
def _library(name: str, method: str = "") -> _Accepted | None:
    """Return the arguments of a class, function or method of the library; None for any."""
    exported = getattr(prompts, name, None)
    if not callable(exported) or (
        isinstance(exported, type) and issubclass(exported, Enum | Exception)
    ):
        return None
    return _accepted(getattr(exported, method) if method else exported, skip=1 if method else 0)


def _accepted(function: object, *, skip: int) -> _Accepted | None:
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]  # It is callable.
    except (TypeError, ValueError):
        return None
    parameters = list(signature.parameters.values())[skip:]
    if any(p.kind is p.VAR_KEYWORD and p.annotation != "Never" for p in parameters):
        return None
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return _Accepted(
        tuple(p.name for p in positional),
        tuple(p.name for p in named),
        tuple(p.name for p in (*positional, *named) if p.default is p.empty),
        any(p.kind is p.VAR_POSITIONAL for p in parameters),
    )


def check_constructor_keywords(
    call: CallSite, constructor: Constructor
) -> Iterator[LazyDiagnostic]:
    """Check a call of a class or function of the library for what it doesn't take."""
    if constructor.name not in prompts.__all__ or constructor.name == "Section":
        return
    accepted = _library(constructor.name)
    if accepted is not None:
        yield from _unknown(call, constructor.written, accepted.keywords)
        yield from _missing(call, constructor.written, accepted)


def check_method_keywords(
    call: CallSite, func: Attribute, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Check the keywords of a method of a known template, prompt, section or tool."""
    if not call.node.keywords:
        return
    owner: Value | object = evaluator.value(func, call.scope)
    owner = owner.owner if isinstance(owner, MethodValue) else None
    name = func.attr.id
    if name == "clone":
        yield from _clone(call, func, evaluator)
        return
    class_name = {TemplateValue: "PromptTemplate", PromptValue: "Prompt"}.get(type(owner))
    if class_name is None or name not in ("bind", "render", "expand_chapters"):
        return
    accepted = _library(class_name, name)
    if accepted is None:
        return
    assert isinstance(owner, PromptValue | TemplateValue)
    unknown = _unknown_keywords(call, accepted.keywords)
    owners = _owners(owner.template, unknown) if name != "expand_chapters" else ()
    if not owners:
        yield from _unknown(call, name, accepted.keywords)
        return
    fields = ", ".join(f"{keyword.name.id}=…" for keyword in unknown if keyword.name is not None)
    yield LazyDiagnostic(
        Code.UNKNOWN_KEYWORD,
        f"{_no_keyword(name, unknown[0])}; bind an instance: `{name}({owners[0].name}({fields}))`.",
        at_node(unknown[0].name or unknown[0]),
        (_wrap(call, unknown, owners[0].name),) if len(owners) == 1 else (),
    )


def has_unknown_keywords(call: CallSite, name: str, owner: object) -> bool:
    """Return True if `bind` or `render`, as `name` says, refuses a keyword of this call."""
    accepted = _library("Prompt" if isinstance(owner, PromptValue) else "PromptTemplate", name)
    return accepted is not None and bool(_unknown_keywords(call, accepted.keywords))


def _owners(template: TemplateValue, unknown: Sequence[Keyword]) -> tuple[Dataclass, ...]:
    """Return the parameter types that have fields of all these names."""
    names = {keyword.name.id for keyword in unknown if keyword.name is not None}
    owners: dict[object, Dataclass] = {}
    for section in in_template(template):
        kind = section.params
        if isinstance(kind, Dataclass) and names and names <= {field.id for field in kind.fields}:
            owners[kind.identity] = kind
    return tuple(owners.values())


def _wrap(call: CallSite, keywords: Sequence[Keyword], name: str) -> Repair:
    def repair() -> Fix | None:
        first, last = span_of(keywords[0]), span_of(keywords[-1])
        if call.node.args or len(keywords) != len(call.node.keywords):
            return None
        before, after = (
            Change(type(first)(first.file, at, at), text)
            for at, text in ((first.start, f"{name}("), (last.end, ")"))
        )
        return Fix(f"Bind an instance: `{name}(…)`", (before, after), preferred=True)

    return repair


def _clone(call: CallSite, func: Attribute, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    owner = evaluator.value(func.value, call.scope)
    if isinstance(owner, ToolValue):
        names = (*Tool.constructor_arguments, *RUNTIME)
    elif isinstance(owner, SectionValue) and _has_only_library_parts(owner, evaluator):
        names = (*CLASSES[owner.kind].constructor_arguments, *RUNTIME)
    else:
        return
    for keyword in _unknown_keywords(call, names):
        if keyword.name is not None and not keyword.name.id.startswith("_"):
            yield _diagnostic(keyword, f"`clone` has no use for `{keyword.name.id}`", names, call)


def _has_only_library_parts(section: SectionValue, evaluator: Evaluator) -> bool:
    """Return True if no class of the workspace is in a section: it may take any keyword."""
    return all(
        is_library_section(inner, evaluator)
        and not inner.opaque
        and inner.children.complete
        and all(isinstance(item.value, SectionValue) for item in inner.children.items)
        and inner.tools.complete
        and all(isinstance(item.value, ToolValue) for item in inner.tools.items)
        for inner in below(section)
    )


def _unknown_keywords(call: CallSite, known: Sequence[str]) -> list[Keyword]:
    return [
        keyword
        for keyword in call.node.keywords
        if keyword.name is not None and keyword.name.id not in known
    ]


def _unknown(call: CallSite, what: str, known: Sequence[str]) -> Iterator[LazyDiagnostic]:
    for keyword in _unknown_keywords(call, known):
        yield _diagnostic(keyword, _no_keyword(what, keyword), known, call)


def _no_keyword(what: str, keyword: Keyword) -> str:
    assert keyword.name is not None
    return f"`{what}` has no keyword `{keyword.name.id}`"


def _diagnostic(
    keyword: Keyword, message: str, known: Sequence[str], call: CallSite
) -> LazyDiagnostic:
    assert keyword.name is not None
    near = near_names(keyword.name.id, known)
    location = at_node(keyword.name)
    free = [name for name in near if call.node.keyword(name) is None]
    repairs = tuple(
        replacement(f"Change to `{name}`", location, name, preferred=len(free) == 1)
        for name in free
    )
    return LazyDiagnostic(
        Code.UNKNOWN_KEYWORD, f"{message}.{did_you_mean(near)}", location, repairs
    )


def _missing(call: CallSite, what: str, accepted: _Accepted) -> Iterator[LazyDiagnostic]:
    node = call.node
    if any(isinstance(argument, Starred) for argument in node.args):
        return
    if node.args and node.keywords and span_of(node.keywords[0]) < span_of(node.args[-1]):
        return  # That isn't Python: one of them is being typed.
    if len(node.args) > len(accepted.positional) and not accepted.any_positional:
        named = [name for name in accepted.keywords if node.keyword(name) is None]
        shown = ", ".join(f"`{name}=…`" for name in named[: len(node.args)])
        at_most = (
            "keyword arguments only"
            if not accepted.positional
            else f"{len(accepted.positional)} positional argument"
            + ("s" if len(accepted.positional) > 1 else "")
        )
        yield LazyDiagnostic(
            Code.MISSING_ARGUMENT,
            f"`{what}` takes {at_most}: write {shown or 'no more'}.",
            at_node(node.args[len(accepted.positional)]),
        )
        return
    if any(keyword.name is None for keyword in node.keywords):
        return
    passed = {*accepted.positional[: len(node.args)]}
    passed |= {keyword.name.id for keyword in node.keywords if keyword.name is not None}
    lacking = tuple(dict.fromkeys(name for name in accepted.required if name not in passed))
    if lacking:
        listed = ", ".join(f"`{name}`" for name in lacking)
        yield LazyDiagnostic(
            Code.MISSING_ARGUMENT,
            f"`{what}` needs {listed}.",
            at_node(node.func),
        )
