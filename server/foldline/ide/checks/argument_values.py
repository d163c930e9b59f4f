"""Checks of arguments whose values the library refuses, whatever else is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from foldline.ide.analysis import names
from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.model import SourceSpan, Visibility
from foldline.ide.analysis.module_analysis import CallSite
from foldline.ide.analysis.scopes import ModuleScope, Scope
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.syntax import Attribute, Conditional, Constant, Expression, Name
from foldline.ide.analysis.values import (
    Argument,
    Dataclass,
    External,
    InstanceValue,
    Items,
    LambdaValue,
    Nothing,
    Plain,
    SectionValue,
    Text,
    ToolValue,
    Value,
)
from foldline.ide.checks.certain import LITERALS, Certain, certain, is_path, signature_of
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import (
    Change,
    Fix,
    LazyDiagnostic,
    Repair,
    at_node,
    changes,
    replacement,
)
from foldline.ide.checks.signatures import Constructor
from foldline.prompts import refusals
from foldline.prompts.errors import near_names
from foldline.prompts.roles import SECTION_ROLES, Role
from foldline.prompts.sections.section import KEY_RULE
from foldline.prompts.visibility import selector_refused

_NO_SECTIONS = LITERALS | {"PromptTemplate", "Prompt", "Tool", "function", "type"}
_NO_TOOLS = LITERALS | {"PromptTemplate", "Prompt", "function", "type"}


class _Given(NamedTuple):
    """An argument, and where it is."""

    name: str
    argument: Argument
    scope: Scope
    evaluator: Evaluator

    @property
    def node(self) -> Expression:
        return self.argument.node

    @property
    def value(self) -> Value:
        return self.argument.value

    @property
    def certain(self) -> Certain | None:
        return certain(self.node, self.value, self.scope)

    def refused(
        self, message: str, *repairs: Repair, code: Code = Code.INVALID_ARGUMENT
    ) -> LazyDiagnostic:
        sentence = f"{message[0].upper()}{message[1:]}"
        return LazyDiagnostic(code, sentence, at_node(self.node), repairs)


def check_argument_values(
    call: CallSite,
    constructor: Constructor,
    arguments: Mapping[str, Argument],
    evaluator: Evaluator,
) -> Iterator[LazyDiagnostic]:
    """Check the arguments of a constructor, or of `clone`, one by one."""
    checks = _CHECKS.get(constructor.name, {})
    for name, argument in arguments.items():
        check = checks.get(name)
        if check is not None:
            yield from check(_Given(name, argument, call.scope, evaluator))


def check_default_params(
    section: SectionValue, argument: Argument, scope: Scope
) -> Iterator[LazyDiagnostic]:
    """Check that `default_params` is an instance of the section's own parameters."""
    params = section.params
    default = certain(argument.node, argument.value, scope)
    if default is None or default.type == "NoneType":
        return
    if isinstance(params, Dataclass) and params.is_dataclass:
        same = (
            isinstance(argument.value, InstanceValue)
            and argument.value.dataclass.identity == params.identity
        )
        expected = f"`{params.name}`"
    elif isinstance(params, Nothing):
        same, expected = False, "None"
    else:
        return
    if not same:
        yield LazyDiagnostic(
            Code.INVALID_ARGUMENT,
            refusals.wrong_default(expected, f"`{default.type}`"),
            at_node(argument.node),
        )


def check_chosen_summary(
    arguments: Mapping[str, Argument], evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Report a callable that always answers SUMMARY, for a section without a summary."""
    visibility = arguments.get("visibility")
    value = visibility.value if visibility is not None else None
    if visibility is None or not isinstance(value, LambdaValue):
        return
    summary = arguments.get("summary")
    absent = summary is None or isinstance(summary.value, Nothing)
    answer, scope = value.definition.body, value.scope
    if isinstance(answer, Name) and isinstance(scope, ModuleScope):
        bindings = scope.names.get(answer.id, ())
        bound = [one for one in bindings if one.change != "given"]
        only = bound[0].value if len(bound) == 1 and bound[0].sure else None
        answer = answer if only is None else only
    shown = evaluator.value(answer, scope) if isinstance(answer, Attribute) else None
    if absent and "enabled" not in arguments and is_summary(shown):
        yield LazyDiagnostic(
            Code.MISSING_SUMMARY,
            "A section with the visibility SUMMARY needs a `summary` text.",
            at_node(visibility.node),
        )


def is_summary(value: Value | None) -> bool:
    """Return True for `SectionVisibility.SUMMARY`."""
    return isinstance(value, External) and value.dotted.endswith(
        f"SectionVisibility.{Visibility.SUMMARY.name}"
    )


def _text(given: _Given) -> Iterator[LazyDiagnostic]:
    kind = given.certain
    if is_path(given.node, given.scope, given.evaluator):
        read = f'{given.node.source}.read_text(encoding="utf-8")'
        yield given.refused(
            refusals.not_a_string(given.name, "Path"),
            replacement("Read the file", at_node(given.node), read),
        )
    elif kind is not None and not (
        kind.type == "str"
        or isinstance(given.value, InstanceValue)
        or (kind.type == "NoneType" and given.name == "summary")
    ):
        yield given.refused(refusals.not_a_string(given.name, kind.type))


def _name(given: _Given) -> Iterator[LazyDiagnostic]:
    kind = given.certain
    if kind is None or kind.type == "str":
        return
    if given.name == "title":
        message = f"The title must be one line of text, not {kind.shown}."
        yield given.refused(message, code=Code.INVALID_TITLE)
    else:
        message = f"The {given.name} {kind.shown} must be {KEY_RULE}."
        yield given.refused(message, code=Code.INVALID_KEY)


def _template_name(given: _Given) -> Iterator[LazyDiagnostic]:
    kind = given.certain
    if kind is not None and kind.type != "str":
        message = f"A template needs a non-empty `{given.name}`."
        yield given.refused(message, code=Code.INVALID_KEY)


def _callable(given: _Given) -> Iterator[LazyDiagnostic]:
    kind = given.certain
    optional = given.name == "enabled"
    if kind is None or (optional and kind.type == "NoneType"):
        return
    if kind.type in LITERALS:
        repairs: tuple[Repair, ...] = ()
        if given.name == "visibility":
            repairs = tuple(
                visibility_repairs(given.node, given.value, given.scope, given.evaluator)
            )
        elif isinstance(given.value, Plain) and given.value.value is True and given.argument.name:
            repairs = (removal(given.argument),)
        yield given.refused(refusals.not_callable(given.name, kind.shown), *repairs)
        return
    signature = signature_of(given.value) if given.name in ("enabled", "visibility") else None
    refused = selector_refused(list(signature.parameters.values()), given.name) if signature else ""
    if refused:
        yield given.refused(refused)


def visibility_repairs(
    node: Expression, value: Value, scope: Scope, evaluator: Evaluator
) -> Iterator[Repair]:
    """Yield the member of `SectionVisibility` that a string means, if the name is known here."""
    chosen = value.known if isinstance(value, Text) else None
    if chosen is None or chosen.upper() not in (Visibility.FULL.name, Visibility.SUMMARY.name):
        return
    imported = names.lookup(evaluator, "SectionVisibility", scope)
    if isinstance(imported, External) and imported.library_name == "SectionVisibility":
        text = f"SectionVisibility.{chosen.upper()}"
        yield replacement(f"Change to `{text}`", at_node(node), text, preferred=True)


def removal(argument: Argument) -> Repair:
    """Return the fix that removes a keyword argument, with a comma."""

    def repair() -> Fix | None:
        name, node = argument.name, argument.node
        if name is None or name.anchor.statement is not node.anchor.statement:
            return None
        span, text = span_of(node), name.anchor.statement.text
        base = name.anchor.statement.at(0)
        start, end = span_of(name).start - base, span.end - base
        after = end + len(text[end:]) - len(text[end:].lstrip())
        if text[after : after + 1] == ",":
            end = after + 1
            end += len(text[end:]) - len(text[end:].lstrip(" "))
        change = Change(SourceSpan(span.file, base + start, base + end), "")
        return Fix(f"Remove `{name.id}`", (change,), preferred=True)

    return repair


def _keywords(given: _Given) -> Iterator[LazyDiagnostic]:
    kind = given.certain
    if kind is not None and kind.type in LITERALS - {"str", "list", "tuple", "set", "dict"}:
        yield given.refused(refusals.not_a_list("keywords", kind.shown))


def _listed(
    given: _Given,
    what: str,
    refused: Callable[[Certain, Value], str],
    rights: tuple[type, ...] = (),
) -> Iterator[LazyDiagnostic]:
    """Check the items of a list of sections or tools; those of a type in `rights` are right."""
    if not isinstance(given.value, Items):
        kind = given.certain
        if kind is None or kind.type in ("dict", "function", "type"):
            return
        wrapped = replacement(
            "Put it in a list", at_node(given.node), f"[{given.node.source}]", preferred=True
        )
        one = not isinstance(given.value, Plain | Nothing | Text)
        yield given.refused(refusals.not_a_list(what, kind.shown), *((wrapped,) if one else ()))
        return
    for item in given.value.items:
        right = isinstance(item.value, rights) and not isinstance(item.node, Conditional)
        if right or item.maybe:
            continue
        kind = certain(item.node, item.value, given.scope)
        message = refused(kind, item.value) if kind is not None else ""
        location = at_node(item.node)
        absent = _absent(item.node, given)
        if what == "sections" and absent is not None:
            message, location = refusals.NONE_IN_SECTIONS, at_node(absent)
        elif absent is not None:
            message, location = refusals.not_a_tool("None"), at_node(absent)
        if message:
            yield LazyDiagnostic(
                Code.INVALID_ARGUMENT, message, location, instead=at_node(given.node)
            )


def _absent(node: Expression, given: _Given) -> Expression | None:
    """Return the `None` of `section if test else None`, unless the test decides against it."""
    if not isinstance(node, Conditional):
        return None
    test = given.evaluator.value(node.test, given.scope)
    decided = bool(test.value) if isinstance(test, Plain) else None
    for branch, taken in ((node.body, True), (node.orelse, False)):
        if isinstance(branch, Constant) and branch.source == "None" and decided in (None, taken):
            return branch
    return None


def _section_refused(kind: Certain, value: Value) -> str:
    if isinstance(value, Nothing):
        return refusals.NONE_IN_SECTIONS
    refused = kind.type in _NO_SECTIONS or isinstance(value, InstanceValue)
    return refusals.not_a_section(kind.shown) if refused else ""


def _chapter_refused(kind: Certain, value: Value) -> str:
    if isinstance(value, SectionValue):
        return refusals.not_a_chapter(kind.shown) if value.kind != "chapter" else ""
    return _section_refused(kind, value)


def _tool_refused(kind: Certain, value: Value) -> str:
    refused = kind.type in _NO_TOOLS or isinstance(value, InstanceValue | SectionValue)
    return refusals.not_a_tool(kind.shown) if refused else ""


def _template(given: _Given) -> Iterator[LazyDiagnostic]:
    kind = given.certain
    if kind is not None and kind.type not in ("PromptTemplate", "function", "type"):
        yield given.refused(refusals.not_a_template(f"`{kind.type}`"))


def _disclosure(given: _Given) -> Iterator[LazyDiagnostic]:
    kind = given.certain
    text = given.value.known if isinstance(given.value, Text) else None
    if kind is None or text in refusals.DISCLOSURES or (kind.type == "str" and text is None):
        return
    near = near_names(text or "", refusals.DISCLOSURES)
    repairs = changes(at_node(given.node), near)
    yield given.refused(refusals.not_a_disclosure(kind.shown), *repairs)


def _role(given: _Given) -> Iterator[LazyDiagnostic]:
    value = given.value
    if isinstance(value, External):
        owner, _, name = value.dotted.rpartition(".")
        wrong = owner.startswith("foldline.prompts") and owner.endswith(".Role")
        if wrong and name in Role.__members__ and Role[name] not in SECTION_ROLES:
            yield given.refused(refusals.wrong_role(f"`{given.node.source}`"))
        return
    kind = given.certain
    text = value.known if isinstance(value, Text) else None
    if kind is None or kind.type == "NoneType" or text in SECTION_ROLES:
        return
    if kind.type == "str" and text is None:
        return
    if kind.type in LITERALS:
        repairs = changes(at_node(given.node), near_names(text or "", SECTION_ROLES))
        yield given.refused(refusals.wrong_role(kind.shown), *repairs)


def _description(given: _Given) -> Iterator[LazyDiagnostic]:
    kind = given.certain
    text = given.value.known if isinstance(given.value, Text) else None
    blank = text is not None and not text.strip()
    if kind is not None and (kind.type != "str" or blank):
        yield given.refused(refusals.NO_DESCRIPTION)


_sections = partial(_listed, what="sections", refused=_section_refused, rights=(SectionValue,))
_SECTION: Mapping[str, Callable[[_Given], Iterator[LazyDiagnostic]]] = {
    "key": _name,
    "title": _name,
    "template": _text,
    "summary": _text,
    "enabled": _callable,
    "visibility": _callable,
    "role": _role,
    "children": _sections,
    "tools": partial(_listed, what="tools", refused=_tool_refused, rights=(ToolValue,)),
}
_CHECKS: Mapping[str, Mapping[str, Callable[[_Given], Iterator[LazyDiagnostic]]]] = {
    "MarkdownSection": _SECTION,
    "TaskSection": _SECTION,
    "EachSection": _SECTION,
    "ExamplesSection": _SECTION,
    "Chapter": {
        "key": _name,
        "title": _name,
        "enabled": _callable,
        "role": _role,
        "sections": _sections,
        "keywords": _keywords,
    },
    "PromptTemplate": {
        "ns": _template_name,
        "key": _template_name,
        "system": _sections,
        "sections": _sections,
        "chapters": partial(_listed, what="sections", refused=_chapter_refused),
        "disclosure": _disclosure,
        "heading": _callable,
    },
    "Prompt": {"template": _template},
    "Tool": {"description": _description, "handler": _callable},
}
