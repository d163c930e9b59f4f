"""Checks of type arguments: of sections, tools and templates, and of types without a JSON form."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from dataclasses import make_dataclass

from foldline.ide.analysis import names
from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.field_types import hint_of
from foldline.ide.analysis.instances import SECTION_KINDS, lineage_of
from foldline.ide.analysis.module_analysis import CallSite
from foldline.ide.analysis.params import dataclass_of, params_of
from foldline.ide.analysis.scopes import BodyScope, Bound, ModuleScope, Scope
from foldline.ide.analysis.syntax import Expression, Node, String
from foldline.ide.analysis.values import (
    ClassValue,
    Dataclass,
    External,
    Items,
    Specialised,
    Text,
    Unknown,
    Value,
)
from foldline.ide.checks.certain import certain
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import LazyDiagnostic, Repair, at_node, replacement
from foldline.ide.checks.signatures import Constructor
from foldline.prompts import refusals
from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms.annotations import Unresolved
from foldline.prompts.forms.fields import union_members
from foldline.prompts.forms.untrusted import hides, is_untrusted
from foldline.prompts.output.schema import schema_of


def check_type_arguments(
    call: CallSite, constructor: Constructor, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Check the type arguments that a call's own class has."""
    types = constructor.types
    if types is not None:
        yield from _untrusted(call, constructor, types, evaluator)
    if not constructor.own:
        return  # The arguments may be those of a base class, in another order.
    if constructor.name == "Tool":
        yield from _tool(call, constructor, evaluator)
    if types is None or constructor.name not in (*SECTION_KINDS, "Tool", "PromptTemplate"):
        return
    about = (
        Code.OUTPUT_NOT_DATACLASS
        if constructor.name == "PromptTemplate"
        else Code.PARAMS_NOT_DATACLASS
    )
    for node, value in zip(types.nodes, types.arguments, strict=False):
        if isinstance(value, Text):
            yield LazyDiagnostic(
                about,
                f"`{node.source}`: {refusals.QUOTED_TYPE}",
                at_node(node),
                tuple(_unquoted(node, value, call, evaluator)),
            )
    if not types.arguments:
        return
    node, value = types.nodes[0], types.arguments[0]
    if constructor.name == "PromptTemplate":
        yield from _output(node, value, call.scope, evaluator)
        return
    kind = certain(node, value, call.scope)
    if kind is None or kind.type in ("NoneType", "str", "type") or isinstance(value, Items):
        return
    message = (
        f"Tool: {refusals.not_a_tool_params_type(kind.shown)}"
        if constructor.name == "Tool"
        else refusals.not_a_params_type(kind.shown)
    )
    yield LazyDiagnostic(Code.PARAMS_NOT_DATACLASS, message, at_node(node))


def _untrusted(
    call: CallSite, constructor: Constructor, types: Specialised, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Report what type arguments hide, and texts that may be computed from an untrusted field."""
    for node, value in zip(types.nodes, types.arguments, strict=False):
        params, (hint, _) = params_of(evaluator, value), hint_of(evaluator, node, call.scope)
        if isinstance(params, Dataclass) and params.is_dataclass and hides(hint):
            problem = refusals.hidden_argument(params.name)
            yield LazyDiagnostic(Code.UNTRUSTED_TEXT, problem, at_node(node))
        elif constructor.name == "ExamplesSection" and is_untrusted(hint):
            yield LazyDiagnostic(Code.UNTRUSTED_TEXT, refusals.UNTRUSTED_EXAMPLES, at_node(node))
    lineage = lineage_of(evaluator, evaluator.value(call.node.func, call.scope))
    own: dict[str, tuple[Bound, ...]] = {}
    for kind in reversed(lineage.classes):
        own |= evaluator.body(kind.definition, kind.scope).names
    says = "computed_from" in own or lineage.root in ("EachSection", "ExamplesSection")
    sources = {
        name for one in own.get("computed_from", ()) for name in _QUOTED.findall(one.node.source)
    }
    for value, methods in zip(types.arguments, _COMPUTES, strict=False):
        params = params_of(evaluator, value)
        if own.keys().isdisjoint(methods) or not isinstance(params, Dataclass):
            continue
        for field in params.fields:
            may_have = field.id in sources or not says or methods is not _COMPUTES[0]
            if may_have and is_untrusted(field.type.hint):
                problem = refusals.untrusted_computed(field.id)
                yield LazyDiagnostic(Code.UNTRUSTED_TEXT, problem, at_node(call.node.func))
                return


def _unquoted(
    node: Expression, value: Text, call: CallSite, evaluator: Evaluator
) -> Iterator[Repair]:
    text = value.known
    if text is None or not text.isidentifier() or not isinstance(node, String):
        return
    if not isinstance(names.lookup(evaluator, text, call.scope, node), Unknown):
        yield replacement(f"Change to `{text}`", at_node(node), text, preferred=True)


def _output(
    node: Expression, value: Value, scope: Scope, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    kind, item = certain(node, value, scope), value
    if isinstance(value, Specialised):
        is_list = isinstance(value.origin, External) and value.origin.dotted == "builtins.list"
        item = value.arguments[0] if is_list and value.arguments else value.origin
    params = params_of(evaluator, item)
    is_type = kind is None or kind.type in ("NoneType", "str", "type") or isinstance(value, Items)
    hint, _ = hint_of(evaluator, node, scope)
    members = set(union_members(hint)) - {Unresolved}
    wrong = not is_type or getattr(params, "is_dataclass", True) is False
    if wrong or len(members) > 1:
        yield LazyDiagnostic(
            Code.OUTPUT_NOT_DATACLASS,
            f"`{node.source}` cannot be an output: {refusals.NO_OUTPUT}",
            at_node(node),
        )
        return
    yield from _formless_fields(evaluator, item, node)


def _tool(
    call: CallSite, constructor: Constructor, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    types = constructor.types
    if types is None or len(types.arguments) != 2:
        yield LazyDiagnostic(
            Code.UNSPECIALISED_TOOL,
            f"The tool must be specialised: {refusals.UNSPECIALISED_TOOL}",
            at_node(call.node.func),
        )
        return
    node, value = types.nodes[0], types.arguments[0]
    params = params_of(evaluator, value)
    if isinstance(params, Dataclass) and params.is_dataclass is False:
        yield LazyDiagnostic(
            Code.PARAMS_NOT_DATACLASS,
            f"Tool: {refusals.not_a_tool_params_type(f'`{params.name}`')}",
            at_node(node),
        )
        return
    origin = value.origin if isinstance(value, Specialised) else value
    yield from _formless_fields(evaluator, origin, node)


_COMPUTES = (("derive", "render_body", "render_summary"), ("derive_item", "item_values"))
"""The methods that compute texts from the parameters, and those from an item."""
_QUOTED = re.compile(r"[\"'](\w+)[\"']")
_BUILT_IN = frozenset((*dir(builtins), *keyword.kwlist))
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_LITERAL = re.compile(r"\bLiteral\[[^]]*\]")


def _formless_fields(evaluator: Evaluator, kind: Value, use: Node) -> Iterator[LazyDiagnostic]:
    """Report the fields of a dataclass that certainly have no JSON form, at any depth.

    At run time nothing is checked while an annotation names something that isn't defined yet, or
    never is: what is imported for type checkers alone. `use` is the code that needs the form.
    """
    search = _Search(evaluator, use)
    if isinstance(kind, ClassValue):
        search.type_of(kind)
    if search.resolves:
        yield from search.diagnostics


class _Search:
    def __init__(self, evaluator: Evaluator, use: Node) -> None:
        self.evaluator = evaluator
        self.use = use
        self.resolves = True
        """True if every annotation certainly can be resolved."""
        self.diagnostics: list[LazyDiagnostic] = []
        self._open: list[object] = []
        self._annotation: Expression | None = None
        """The annotation of the innermost field without a JSON form."""

    def type_of(self, kind: ClassValue) -> object:
        """Return a dataclass with the JSON schema of one in the source; `str` if it isn't known."""
        definition = kind.definition
        info = dataclass_of(self.evaluator, kind)
        if definition in self._open or not info.is_dataclass or not info.complete or info.model:
            return str
        self._open.append(definition)
        fields: list[tuple[str, object]] = []
        for field in info.fields:
            annotation, scope = field.hint or (None, None)
            if isinstance(scope, BodyScope) and scope.function is None and scope.arguments:
                scope = scope.parent  # Without its type arguments.
            if annotation is None or not isinstance(scope, ModuleScope):
                # Types are looked up among the module's names.
                self.resolves = self.resolves and annotation is None
                continue
            self.resolves = self.resolves and self._resolved(annotation, scope)
            if field.init:
                fields.append((field.id, self._field(field.id, annotation, scope)))
        self._open.pop()
        return make_dataclass(info.name, fields, kw_only=True)

    def _field(self, name: str, annotation: Expression, module: ModuleScope) -> object:
        """Return the type of a field, and report it if it has no JSON form."""
        before, self._annotation = self._annotation, None
        hint, _ = hint_of(self.evaluator, annotation, module, self.type_of, unknown=str)
        try:
            schema_of(hint)
        except PromptValidationError as error:
            # It names the place below the root, which is `$`.
            message = f"$.{name}{str(error).removeprefix('$')}"
            self._annotation = self._annotation or annotation
            if len(self._open) == 1:
                related = ((at_node(self._annotation), "The field is here."),)
                code, use = Code.NO_JSON_FORM, at_node(self.use)
                self.diagnostics.append(LazyDiagnostic(code, message, use, related=related))
        self._annotation = self._annotation or before
        return hint

    def _resolved(self, annotation: Expression, module: ModuleScope) -> bool:
        """Return True if all names of an annotation are certainly defined when it's resolved."""
        words = _WORD.findall(_LITERAL.sub("", annotation.source))
        return all(word in _BUILT_IN or self._defined(word, module) for word in words)

    def _defined(self, name: str, module: ModuleScope) -> bool:
        here = module.file == self.use.file
        return any(
            bound.sure and (not here or bound.before(self.use))
            for bound in module.names.get(name, ())
        )
