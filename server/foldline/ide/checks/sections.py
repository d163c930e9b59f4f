"""Checks of a section by itself: its key, title, type, texts, summary, tools and conditions."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.ide.analysis.calls import returned
from foldline.ide.analysis.model import SourceSpan, Visibility
from foldline.ide.analysis.placeholders import ITEMS, TemplateText, shown
from foldline.ide.analysis.section_tree import in_template, sections_of
from foldline.ide.analysis.source_map import MappedText
from foldline.ide.analysis.static_render import places_of
from foldline.ide.analysis.syntax import Assign, Constant, Operation, String
from foldline.ide.analysis.values import (
    TEXT_KINDS,
    Dataclass,
    FunctionValue,
    Items,
    LambdaValue,
    Nothing,
    SectionValue,
    ToolValue,
    Unknown,
)
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import (
    Change,
    Fix,
    LazyDiagnostic,
    LazyLocation,
    Repair,
    at_argument,
    at_node,
    at_placeholder,
    at_text,
    did_you_mean,
    replacement,
)
from foldline.links import resolved
from foldline.prompts import OverridesStore, refusals
from foldline.prompts.descriptor import text_hash
from foldline.prompts.errors import PromptValidationError, near_names
from foldline.prompts.files import read_text_file
from foldline.prompts.forms.templating import EXPRESSION, ONLY_NAMES
from foldline.prompts.forms.untrusted import is_untrusted
from foldline.prompts.layout.layout import OPEN_SECTIONS, READ_SECTION
from foldline.prompts.overrides.overrides import PromptOverride, SectionOverride
from foldline.prompts.overrides.overrides_store import MAX_BYTES
from foldline.prompts.sections.section import KEY_PATTERN, KEY_RULE, is_title, repaired_key
from foldline.prompts.sections.task import TASK_BLOCKS, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.placeholders import Placeholder
    from foldline.ide.analysis.syntax import ClassDefinition, Expression, Node
    from foldline.ide.analysis.values import Argument, TemplateValue


def check_section(section: SectionValue) -> Iterator[LazyDiagnostic]:
    """Check a section, apart from its texts."""
    yield from _key(section)
    yield from _title(section)
    yield from _params(section)
    yield from _summary(section)
    yield from _tools(section)
    yield from check_unreachable(section)


def _place_of(section: SectionValue, name: str) -> LazyLocation:
    argument = section.arguments.get(name)
    return at_argument(argument) if argument is not None else at_node(section.class_node)


def use_of(section: SectionValue, name: str) -> LazyLocation | None:
    """Location of the argument, for a text that is written in another file."""
    argument = section.arguments.get(name)
    return at_node(argument.node) if argument is not None else None


def _key(section: SectionValue) -> Iterator[LazyDiagnostic]:
    key = section.known("key")
    if key is None or KEY_PATTERN.fullmatch(key) is not None:
        return
    location = _place_of(section, "key")
    repaired = repaired_key(key)
    repairs: tuple[Repair, ...] = ()
    text = section.text("key")
    if repaired and text is not None:
        inside = at_text(text, 0, len(text.text))
        repairs = (replacement(f"Change the key to '{repaired}'", inside, repaired),)
    yield LazyDiagnostic(
        Code.INVALID_KEY,
        f"The key {key!r} must be {KEY_RULE}.",
        location,
        repairs,
        instead=use_of(section, "key"),
    )


def _title(section: SectionValue) -> Iterator[LazyDiagnostic]:
    title = section.known("title")
    if title is None or is_title(title):
        return
    yield LazyDiagnostic(
        Code.INVALID_TITLE,
        f"The title must be one line of text, not {title!r}.",
        _place_of(section, "title"),
        instead=use_of(section, "title"),
    )


_BLOCK_FIELDS = {block.field for block in TASK_BLOCKS.values()}
_TYPES = {"each": "Params, Item", "examples": "Params, Input, Output"}


def _params(section: SectionValue) -> Iterator[LazyDiagnostic]:
    node, scope = section.class_node, section.scope
    if section.specialised is False and section.kind in _TYPES:
        yield LazyDiagnostic(
            Code.UNSPECIALISED_SECTION,
            f"The section doesn't declare the dataclass of its items: write "
            f"`{section.class_name}[{_TYPES[section.kind]}](…)`, with None for the first if it has "
            "no parameters.",
            at_node(node),
        )
    elif section.specialised is False:
        end = node.end
        task = section.kind == "task"
        added = f"[{Task.__name__}]" if task else "[None]"

        def specialise() -> Fix | None:
            if task and Task.__name__ not in (scope.module.names if scope is not None else ()):
                return None
            at = node.anchor.at(end)
            change = Change(SourceSpan(node.file, at, at), added)
            about = "takes a task" if task else "has no parameters"
            return Fix(f"Declare that the section {about}: `{added}`", (change,))

        yield LazyDiagnostic(
            Code.UNSPECIALISED_SECTION,
            "The section doesn't declare its parameters: "
            + refusals.not_specialised(section.class_name, Task.__name__ if task else None),
            at_node(node),
            (specialise,),
        )
    params = section.params
    if isinstance(params, Dataclass):
        message = refusals.not_a_params_type(f"`{params.name}`")
        yield from _no_dataclass(params, section.params_node or node, message)
    if isinstance(section.item, Dataclass):
        message = (
            f"`{section.item.name}` is not a dataclass, so it cannot be the items of a section. "
            + refusals.NO_TEXT_ITEMS
        )
        yield from _no_dataclass(section.item, section.item_node or node, message)
    if section.kind == "task" and section.specialised:
        yield from _task_params(section)


def _no_dataclass(kind: Dataclass, node: Node, message: str) -> Iterator[LazyDiagnostic]:
    if kind.is_dataclass is False:
        definition = kind.definition
        yield LazyDiagnostic(
            Code.PARAMS_NOT_DATACLASS,
            message,
            at_node(node),
            (_decorate(definition),) if definition is not None and not definition.bases else (),
        )


def _task_params(section: SectionValue) -> Iterator[LazyDiagnostic]:
    """Check that a task section's parameters are a task, without fields that it computes."""
    params, location = section.params, at_node(section.params_node or section.class_node)
    name = section.class_name
    if isinstance(params, Nothing) or (
        isinstance(params, Dataclass)
        and params.complete
        and params.is_dataclass
        and not params.task
    ):
        shown = "None" if isinstance(params, Nothing) else f"`{params.name}`"
        message = refusals.not_based_on(name, Task.__name__, shown)
        yield LazyDiagnostic(Code.TASK_PARAMS, message, location)
    elif isinstance(params, Dataclass):
        for field in params.fields:
            if field.id in TASK_BLOCKS and field.name is not None:
                message = refusals.computed_field(f"`{params.name}`", field.id, name)
                yield LazyDiagnostic(
                    Code.TASK_PARAMS,
                    message,
                    location,
                    related=((at_node(field.name), "The field is here."),),
                )
            elif field.id in _BLOCK_FIELDS and is_untrusted(field.type.hint):
                problem = refusals.untrusted_computed(field.id)
                yield LazyDiagnostic(Code.UNTRUSTED_TEXT, problem, location)


def _decorate(definition: ClassDefinition) -> Repair:
    def decorate() -> Fix:
        anchor = definition.anchor
        at = anchor.at(definition.start)
        line_start = anchor.text.rfind("\n", 0, definition.start) + 1
        indent = anchor.text[line_start : definition.start]
        change = Change(SourceSpan(anchor.file, at, at), f"@dataclass(frozen=True)\n{indent}")
        return Fix(f"Make `{definition.name.id}` a dataclass", (change,))

    return decorate


def _summary(section: SectionValue) -> Iterator[LazyDiagnostic]:
    if section.kind not in TEXT_KINDS:
        return
    summary = section.known("summary")
    missing = section.given("summary") is None or (summary is not None and not summary.strip())
    visibility = section.arguments.get("visibility")
    if visibility is None or section.visibility is not Visibility.SUMMARY:
        return
    if missing and not section.opaque:
        yield LazyDiagnostic(
            Code.MISSING_SUMMARY,
            "A section with the visibility SUMMARY needs a `summary` text.",
            at_node(visibility.node),
        )


def check_summary_size(texts: tuple[TemplateText, ...]) -> Iterator[LazyDiagnostic]:
    """Report summaries that are longer than their sections."""
    bodies = {id(text.section): text for text in texts if text.role == "template"}
    for text in texts:
        body = bodies.get(id(text.section))
        if text.role != "summary" or body is None or text.section.kind != "markdown":
            continue
        children = text.section.children
        if children.items or not children.complete or text.mapped.dynamic or body.mapped.dynamic:
            continue
        # A value may be of any length.
        values = sum(placeholder.end - placeholder.start for placeholder in text.placeholders)
        least = len(text.mapped.text) - values
        if body.mapped.text and not body.placeholders and least > len(body.mapped.text):
            yield LazyDiagnostic(
                Code.LONG_SUMMARY,
                f"The summary ({len(text.mapped.text)} characters) is longer than the section "
                f"({len(body.mapped.text)}): folding it costs more than showing it.",
                _place_of(text.section, "summary"),
                instead=use_of(text.section, "summary"),
            )


def _tools(section: SectionValue) -> Iterator[LazyDiagnostic]:
    argument = section.arguments.get("tools")
    if argument is None or not isinstance(argument.value, Items):
        return
    if section.kind == "chapter" and argument.value.items:
        yield LazyDiagnostic(
            Code.TOOL_NAME,
            "A chapter cannot have tools; give them to the sections inside.",
            at_node(argument.node),
        )
        return
    for item in argument.value.items:
        tool = item.value
        if isinstance(tool, ToolValue) and tool.known("name") in (OPEN_SECTIONS, READ_SECTION):
            yield LazyDiagnostic(
                Code.TOOL_NAME,
                f"The tool name `{tool.known('name')}` is reserved by the library; rename yours.",
                at_argument(tool.arguments["name"]),
            )


# Texts


def check_text(text: TemplateText) -> Iterator[LazyDiagnostic]:
    """Check a text for unknown placeholders and stray dollar signs."""
    section = text.section
    if section.kind not in TEXT_KINDS or (section.kind == "task" and text.role == "template"):
        return
    if text.role == ITEMS:
        return  # `check_list` does.
    for placeholder in text.placeholders:
        if not placeholder.name:
            location = at_placeholder(placeholder)
            expression = EXPRESSION.match(placeholder.mapped.text, placeholder.start)
            if expression and placeholder.mapped.dynamic_in(*expression.span()):
                expression = None
            yield LazyDiagnostic(
                Code.STRAY_DOLLAR,
                f"`{expression[0]}` isn't the name of a field; {ONLY_NAMES}."
                if expression
                else "This `$` doesn't start a placeholder: write `$$` for a dollar sign, or "
                "`${field}`.",
                location,
                (replacement("Write `$$`, a dollar sign", location, "$$", preferred=True),),
                instead=use_of(section, text.role),
            )
        else:
            yield from _placeholder(text, placeholder)


def check_overrides(analysis: ModuleAnalysis) -> Iterator[LazyDiagnostic]:
    """Report overrides that can't be read, and stored texts that a file's prompts refuse."""
    root = analysis.evaluator.modules.root
    told: set[int] = set()
    for prompt in analysis.prompts:
        template = prompt.template
        overrides = [] if root is None else [*_stored(template, Path(analysis.file), root)]
        if root is None or not overrides:
            continue
        unread = [
            f"The override isn't read: {problem}"
            for _, problem in overrides
            if isinstance(problem, str)
        ]
        stored = [
            (file, override) for file, override in overrides if isinstance(override, PromptOverride)
        ]
        sections = {placed.path: placed.section.value for placed in places_of(prompt.value)}
        for file, override in stored:
            for item in override.sections:
                section, name = sections.get(item.path), ".".join(item.path)
                unread += _not_applied(template, item, section, partial(_place, file, root))
                for role, text in (("template", item.text), ("summary", item.summary)):
                    if section is None or text is None:
                        continue
                    at, written = section.arguments.get(role), shown(MappedText(text, ()))
                    overridden = TemplateText(
                        section, role, written.mapped, written.mapped, written.placeholders
                    )
                    for one in check_text(overridden):
                        yield LazyDiagnostic(
                            one.code,
                            f"In {_place(file, root, text)}, of `{name}`: {one.message}",
                            at_node(prompt.name if at is None else at.node),
                            instead=at_node(prompt.name),
                        )
        if unread and id(template) not in told:
            told.add(id(template))
            yield LazyDiagnostic(Code.INVALID_OVERRIDE, " ".join(unread), at_node(prompt.name))


def _stored(
    template: TemplateValue, module: Path, root: Path
) -> Iterator[tuple[Path, PromptOverride | str]]:
    """Yield the files with overrides of a prompt in the folders around it.

    Each with what it says, or with the reason why a store can't read it.
    """
    ns, key = template.text("ns"), template.text("key")
    for folder in (one for one in module.parents if one.is_relative_to(root)):
        store = OverridesStore(folder)
        tags: tuple[str, ...] = ()
        with suppress(PromptValidationError, OSError):
            tags = store.tags(ns, key)
        for tag in tags:
            file = store.directory.joinpath(ns, key, f"{tag}.json")
            try:
                override = store.load(ns, key, tag) if resolved(file).is_relative_to(root) else None
            except (PromptValidationError, OSError) as error:
                line = getattr(error.__cause__, "lineno", 1)
                message = str(error).replace(
                    str(file), f"{file.relative_to(root).as_posix()}:{line}"
                )
                yield file, message if message.endswith(".") else f"{message}."
            else:
                if override is not None:
                    yield file, override


_TEXTS = (("title", "title"), ("text", "template"), ("summary", "summary"))


def _not_applied(
    template: TemplateValue,
    item: SectionOverride,
    section: SectionValue | None,
    place: Callable[[str], str],
) -> Iterator[str]:
    """Yield why a store leaves stored texts of a section out, as far as the source tells."""
    overridden = {
        role: getattr(item, role) for role, _ in _TEXTS if getattr(item, role) is not None
    }
    name = ".".join(item.path)
    if section is None:
        built, complete = sections_of(template)
        every = {one.path for top in built for one in top.walk()}
        texts = [_current(one, "template") for one in in_template(template)]
        moved = item.text_hash in {text_hash(text) for text in texts if text is not None}
        if complete and None not in texts and item.path not in every and not moved:
            at = place(next(iter(overridden.values()), item.path[-1]))
            yield f"The override in {at} isn't applied: the prompt has no section `{name}`."
        return
    for role, argument in _TEXTS:
        text, current = overridden.get(role), _current(section, argument)
        if text is None or current is None or text == current:
            continue
        reason = ""
        if getattr(item, f"{role}_hash") != text_hash(current):
            reason = f"the {role} it replaces has changed since it was written"
        elif role == "title" and not is_title(text):
            reason = f"the title must be one line of text, not {text!r}"
        if reason:
            yield f"The override in {place(text)}, of `{name}`, isn't applied: {reason}."


def _current(section: SectionValue, argument: str) -> str | None:
    """Return a text of a section as a store has it; None if only running the code would tell."""
    written = section.text(argument)
    if written is None or written.dynamic:
        return None
    return written.text.strip() if argument == "title" else shown(written).mapped.text


def _place(file: Path, root: Path, text: str) -> str:
    content, written = read_text_file(file, MAX_BYTES), json.dumps(text, ensure_ascii=False)
    line = content[: content.find(written) + 1].count("\n") + 1
    return f"{file.relative_to(root).as_posix()}:{line}"


def names_in(text: TemplateText) -> tuple[str, ...] | None:
    """Return the names that the placeholders of a text may have; None if they aren't known."""
    owner = text.owner
    if isinstance(owner, Nothing):
        return text.computed
    if isinstance(owner, Dataclass) and owner.complete and owner.is_dataclass:
        return (*(field.id for field in owner.fields), *text.computed)
    return None


def _placeholder(text: TemplateText, placeholder: Placeholder) -> Iterator[LazyDiagnostic]:
    section = text.section
    names = names_in(text)
    if names is None or placeholder.name in names or section.kind not in TEXT_KINDS:
        return
    owner = text.owner
    near = near_names(placeholder.name, names)
    repairs = name_repairs(placeholder, near, owner)
    if isinstance(owner, Dataclass):
        message = f"`{placeholder.name}` isn't a field of `{owner.name}`.{did_you_mean(near)}"
    else:
        message = (
            f"`{placeholder.name}` isn't a field: the section takes no parameters (it is "
            "specialised with None)."
        )
    dollar = at_text(placeholder.mapped, placeholder.start, placeholder.start + 1)
    repairs.append(replacement("Write it literally, with `$$`", dollar, "$$"))
    yield LazyDiagnostic(
        Code.UNKNOWN_PLACEHOLDER,
        message,
        at_placeholder(placeholder),
        tuple(repairs),
        instead=use_of(section, text.role),
    )


def name_repairs(
    placeholder: Placeholder, near: tuple[str, ...], owner: Dataclass | Nothing | Unknown | None
) -> list[Repair]:
    """Return the fixes that name another field, or declare this one."""
    inner = lambda: placeholder.name_source  # noqa: E731 - A location, as `at_node` returns.
    repairs: list[Repair] = [
        replacement(f"Change to `{name}`", inner, name, preferred=index == 0)
        for index, name in enumerate(near)
    ]
    if isinstance(owner, Dataclass) and owner.definition is not None:
        repairs.append(add_field(owner, placeholder.name))
    return repairs


def add_field(params: Dataclass, name: str) -> Repair:
    """Return the fix that declares a field at the end of a dataclass."""

    def repair() -> Fix | None:
        definition = params.definition
        if definition is None or not definition.body:
            return None
        declared = [statement for statement in definition.body if isinstance(statement, Assign)]
        after = declared[-1] if declared else definition.body[0]
        first = definition.body[0]
        anchor = definition.anchor
        line = anchor.text.rfind("\n", 0, first.start) + 1
        indent = anchor.text[line : first.start]
        if indent.strip():
            return None  # `class P: pass` on one line
        defaults = any(field.has_default for field in params.fields)
        end = anchor.at(after.end)
        text = f"\n{indent}{name}: str" + (' = ""' if defaults else "")
        change = Change(SourceSpan(anchor.file, end, end), text)
        return Fix(f"Add the field `{name}` to `{params.name}`", (change,))

    return repair


_DEPTH = 32


def check_unreachable(section: SectionValue) -> Iterator[LazyDiagnostic]:
    """Report a section that is never enabled, and a chapter that never opens or shows nothing."""
    argument = section.arguments.get("enabled")
    never = argument is not None and always_false(argument.value)
    shown: Argument | None
    if section.kind != "chapter":
        if argument is not None and never:
            yield LazyDiagnostic(
                Code.UNREACHABLE_SECTION,
                "The section can never be shown: `enabled` is always false.",
                at_node(argument.node),
            )
        return
    if argument is not None and never:
        message, shown = "The chapter can never open: `enabled` is always false.", argument
    elif _is_empty(section):
        message = (
            "Opening the chapter shows nothing: no section in it is ever enabled."
            if section.children.items
            else "The chapter holds no sections, so opening it shows nothing."
        )
        shown = section.arguments.get("key")
    else:
        return
    where = at_argument(shown) if shown is not None else at_node(section.class_node)
    yield LazyDiagnostic(Code.CHAPTER_NEVER_OPENS, message, where)


def _is_empty(section: SectionValue, depth: int = 0) -> bool:
    """Return True if a section certainly shows nothing."""
    argument = section.arguments.get("enabled")
    if argument is not None and always_false(argument.value):
        return True
    if section.kind != "chapter" or section.opaque or depth > _DEPTH:
        return False
    return section.children.complete and all(
        isinstance(item.value, SectionValue)
        and not (item.maybe or item.value.maybe)
        and _is_empty(item.value, depth + 1)
        for item in section.children.items
    )


def always_false(value: object) -> bool:
    """Return True if a callable certainly returns a false value for any arguments."""
    if isinstance(value, LambdaValue):
        return _is_false(value.definition.body)
    if isinstance(value, FunctionValue) and value.definition.simple:
        results = list(returned(value.definition.body))
        # A function without a `return` may raise an error.
        return bool(results) and all(result is None or _is_false(result) for result in results)
    return False


def _is_false(node: Expression) -> bool:
    if isinstance(node, Operation):
        both = _is_false(node.left) and _is_false(node.right)
        one = _is_false(node.left) or _is_false(node.right)
        return (node.operator == "and" and one) or (node.operator == "or" and both)
    if isinstance(node, Constant):
        return node.source == "None" or (node.value is not None and not node.value)
    return isinstance(node, String) and node.source in ('""', "''")
