"""Checks of single calls, and of code that takes sections for what they aren't."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.errors import FileTooLargeError, MissingPathError, UndecodableFileError
from foldline.ide.analysis.instances import CLASSES
from foldline.ide.analysis.module_analysis import statements_in
from foldline.ide.analysis.syntax import Assign, Attribute, Call, Display, Name
from foldline.ide.analysis.values import (
    TEXT_KINDS,
    External,
    InstanceValue,
    MethodValue,
    PromptValue,
    SectionValue,
    TemplateValue,
    Text,
    ToolValue,
)
from foldline.ide.checks import signatures
from foldline.ide.checks.argument_values import (
    check_argument_values,
    check_chosen_summary,
    check_default_params,
)
from foldline.ide.checks.certain import LITERALS, certain, signature_of
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import (
    LazyDiagnostic,
    at_argument,
    at_node,
    at_text,
    replacement,
)
from foldline.ide.checks.prompt_calls import check_call
from foldline.ide.checks.type_arguments import check_type_arguments
from foldline.prompts import refusals
from foldline.prompts.adapters.providers import SDK_ADAPTERS
from foldline.prompts.tool import NAME_PATTERN, handler_refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.module_analysis import CallSite
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import Expression, Statement
    from foldline.ide.analysis.values import Argument
    from foldline.ide.checks.diagnostic import Repair


def check_calls(calls: Iterable[CallSite], evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Check calls; each is checked again only after something that it uses has changed."""
    for call in calls:
        node = call.node
        compute = partial(_check, call, evaluator)
        yield from evaluator.memo.facts(node.anchor, f"checks of {node.start}-{node.end}", compute)


def _check(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    func = call.node.func
    if isinstance(func, Attribute):
        yield from check_call(call, func, evaluator)
        yield from signatures.check_method_keywords(call, func, evaluator)
        if func.attr.id == "clone":
            yield from _clone(call, func, evaluator)
        elif func.attr.id == "evaluate":
            yield from check_evaluated_value(call, func, evaluator)
        elif func.attr.id in ("render", "render_body"):
            yield from check_chapter_render(call, func, evaluator)
    yield from check_parsed(call, evaluator)
    yield from check_file(call, evaluator)
    constructor = signatures.constructor_of(call, evaluator)
    if constructor is None:
        return
    yield from check_type_arguments(call, constructor, evaluator)
    yield from signatures.check_constructor_keywords(call, constructor)
    arguments, opaque = evaluator.keywords(call.node, call.scope)
    if constructor.name == "Prompt" and call.node.args:
        arguments["template"] = evaluator.argument(call.node.args[0], call.scope)
    yield from check_argument_values(call, constructor, arguments, evaluator)
    if constructor.name == "Tool":
        yield from check_tool(arguments, call.scope)
    if constructor.name in _WITH_TEXTS and not opaque:
        yield from check_chosen_summary(arguments, evaluator)
    value = evaluator.value(call.node, call.scope)
    if isinstance(value, SectionValue) and "default_params" in arguments:
        yield from check_default_params(value, arguments["default_params"], call.scope)


_WITH_TEXTS = frozenset(CLASSES[kind].__name__ for kind in TEXT_KINDS)


def _clone(call: CallSite, func: Attribute, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Check the arguments of `clone`, which are checked like those of the constructor."""
    owner = evaluator.value(func.value, call.scope)
    arguments, _ = evaluator.keywords(call.node, call.scope)
    if isinstance(owner, ToolValue):
        tool = signatures.Constructor("Tool", "clone", None, own=True)
        yield from check_argument_values(call, tool, arguments, evaluator)
        yield from check_tool(arguments, call.scope)
    elif isinstance(owner, SectionValue) and signatures.is_library_section(owner, evaluator):
        section = signatures.Constructor(CLASSES[owner.kind].__name__, "clone", None, own=True)
        yield from check_argument_values(call, section, arguments, evaluator)


def check_tool(arguments: Mapping[str, Argument], scope: Scope) -> Iterator[LazyDiagnostic]:
    """Check the arguments of a `Tool(…)`, or of a tool's `clone`."""
    name, handler = arguments.get("name"), arguments.get("handler")
    if name is not None:
        yield from _tool_name(name, scope)
    signature = signature_of(handler.value) if handler is not None else None
    refused = handler_refused(signature) if signature is not None else ""
    if handler is not None and refused:
        yield LazyDiagnostic(Code.TOOL_HANDLER, refused, at_node(handler.node))


def _tool_name(argument: Argument, scope: Scope) -> Iterator[LazyDiagnostic]:
    kind, value = certain(argument.node, argument.value, scope), argument.value
    text = value.known if isinstance(value, Text) else None
    if kind is None or (kind.type == "str" and text is None):
        return
    if text is not None and NAME_PATTERN.fullmatch(text):
        return
    repairs: tuple[Repair, ...] = ()
    if isinstance(value, Text) and text is not None:
        repaired = re.sub(r"[^a-z0-9_-]+", "_", text.lower()).strip("_-")[:64]
        if repaired:
            inside = at_text(value.mapped, 0, len(text))
            repairs = (replacement(f"Change the name to '{repaired}'", inside, repaired),)
    yield LazyDiagnostic(
        Code.TOOL_NAME,
        refusals.tool_name_rule(kind.shown),
        at_argument(argument),
        repairs,
        instead=at_node(argument.node),
    )


_ADAPTERS = (*SDK_ADAPTERS.values(), "ScriptedAdapter", "RecordingAdapter")
_UNREADABLE = (MissingPathError, UndecodableFileError, FileTooLargeError)
_PARSERS = ("parse_structured_output", "parse_output")


def check_evaluated_value(
    call: CallSite, func: Attribute, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Report what an adapter of the library can't evaluate."""
    if not call.node.args:
        return
    prompt = _made_by(func.value, call.scope)
    adapter = evaluator.value(prompt.func, call.scope) if prompt is not None else None
    if not isinstance(adapter, External) or adapter.library_name not in _ADAPTERS:
        return
    argument = call.node.args[0]
    value = evaluator.value(argument, call.scope)
    kind = certain(argument, value, call.scope)
    if kind is None:
        return
    if kind.type in LITERALS or isinstance(value, SectionValue | InstanceValue):
        message = refusals.not_evaluable(kind.shown)
        yield LazyDiagnostic(Code.INVALID_ARGUMENT, message, at_node(argument))


def check_parsed(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Report that an answer is parsed for a prompt that declares no structured output."""
    func = evaluator.value(call.node.func, call.scope)
    if not isinstance(func, External) or func.library_name not in _PARSERS:
        return
    keyword = call.node.keyword("rendered")
    if keyword is not None:
        rendered: Expression = keyword.value
    elif len(call.node.args) == 2:
        rendered = call.node.args[1]
    else:
        return
    prompt = _made_by(rendered, call.scope)
    method = evaluator.value(prompt.func, call.scope) if prompt is not None else None
    owner = method.owner if isinstance(method, MethodValue) and method.name == "render" else None
    if not isinstance(owner, PromptValue | TemplateValue) or owner.maybe or owner.template.maybe:
        return
    if owner.template.output is None:
        location = at_node(rendered)
        yield LazyDiagnostic(Code.OUTPUT_NOT_DATACLASS, refusals.UNDECLARED_OUTPUT, location)


def check_file(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Report a file that `from_file` can't read, which is an error at import."""
    func = evaluator.value(call.node.func, call.scope)
    if isinstance(func, External) and func.library_name == "from_file" and call.node.args:
        path = evaluator.value(call.node.args[0], call.scope)
        if isinstance(path, Text) and path.known is not None:
            read = evaluator.modules.file_text(path.known, call.node.file)
            if isinstance(read, _UNREADABLE):
                message = f"`from_file` can't read `{path.known}`: {read.problem}."
                yield LazyDiagnostic(Code.INVALID_ARGUMENT, message, at_node(call.node.args[0]))


def _made_by(node: Expression, scope: Scope) -> Call | None:
    """Return the call that a value certainly comes from: itself, or that of a name bound once."""
    if isinstance(node, Call):
        return node
    bindings = scope.names.get(node.id, ()) if isinstance(node, Name) else ()
    bound = [one for one in bindings if one.change != "given"]
    if len(bound) != 1 or not bound[0].sure or bound[0].index is not None:
        return None
    value = bound[0].value
    return value if isinstance(value, Call) else None


def check_assignments(
    statements: Iterable[Statement], scope: Scope, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Report assignments to arguments of sections, which can't be changed."""
    for statement, inside in statements_in(statements, scope, evaluator):
        if isinstance(statement, Assign) and statement.value is not None:
            for target in statement.targets:
                for item in target.items if isinstance(target, Display) else (target,):
                    if isinstance(item, Attribute):
                        yield from _assigned(item, inside, evaluator)


def _assigned(target: Attribute, scope: Scope, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    owner = evaluator.value(target.value, scope)
    if not isinstance(owner, SectionValue) or not signatures.is_library_section(owner, evaluator):
        return
    name = target.attr.id
    if name in CLASSES[owner.kind].constructor_arguments:
        about = f"Section {owner.key!r}" if owner.key else "A section"
        yield LazyDiagnostic(
            Code.IMMUTABLE_SECTION, f"{about} {refusals.immutable(name)}", at_node(target)
        )


def check_chapter_render(
    call: CallSite, func: Attribute, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Report `chapter.render()`: a chapter has no text."""
    method = evaluator.value(func, call.scope)
    owner = method.owner if isinstance(method, MethodValue) else None
    if not isinstance(owner, SectionValue) or owner.kind != "chapter":
        return
    if signatures.is_library_section(owner, evaluator):
        about = f"Chapter {owner.key!r}" if owner.key else "A chapter"
        message = f"{about} {refusals.NO_CHAPTER_TEXT}"
        yield LazyDiagnostic(Code.CHAPTER_WITHOUT_TEXT, message, at_node(func.attr))
