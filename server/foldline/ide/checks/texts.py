"""Checks of what template texts show: fields and their forms, lists, other template languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.analysis.module_analysis import ModuleAnalysis, StatementFacts
from foldline.ide.analysis.placeholders import ITEMS, Placeholder, TemplateText, roles_of, texts_of
from foldline.ide.analysis.scopes import Scope
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.syntax import Call, Expression, Name
from foldline.ide.analysis.values import (
    LIST_KINDS,
    TEXT_KINDS,
    Dataclass,
    Field,
    InstanceValue,
    Items,
    Nothing,
    SectionValue,
    Unknown,
    kept,
)
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import (
    Change,
    Fix,
    LazyDiagnostic,
    Repair,
    at_node,
    at_placeholder,
    at_text,
    did_you_mean,
    replacement,
)
from foldline.ide.checks.sections import name_repairs, names_in, use_of
from foldline.prompts import errors, foreign_syntax, refusals
from foldline.prompts.forms import composition
from foldline.prompts.forms.templating import is_alone
from foldline.prompts.forms.untrusted import is_untrusted
from foldline.records import record

# A word, other than as a declaration or a keyword argument.
_USED_WORD = re.compile(r"\b\w+\b(?!\s*(?::|=(?!=)))")


def check_foreign_syntax(text: TemplateText) -> Iterator[LazyDiagnostic]:
    """Report `{{ name }}`, `{% if name %}` and `{name}` that the model would read as they are."""
    section, mapped, params = text.section, text.mapped, text.owner
    if section.kind not in TEXT_KINDS or text.role == ITEMS or "{" not in mapped.text:
        return
    if (section.kind == "task" and text.role == "template") or isinstance(params, Unknown):
        return
    argument = text.section.arguments.get(text.role)
    if argument is not None and isinstance(argument.node, Call):
        func = argument.node.func
        if isinstance(func, Name) and func.id == "verbatim":
            return
    fields = {field.id for field in params.fields} if isinstance(params, Dataclass) else set()
    missing = fields - {placeholder.name for placeholder in text.placeholders}
    # Code that formats a text may leave braces to other code.
    others = fields.__contains__ if mapped.dynamic else foreign_syntax.any_name
    for match, name in foreign_syntax.occurrences(mapped.text, missing, others):
        if not mapped.dynamic_in(*match.span()):
            yield _foreign(text, match, name, known=name in fields)


def _foreign(text: TemplateText, match: re.Match[str], name: str, *, known: bool) -> LazyDiagnostic:
    mapped, (start, end) = text.mapped, match.span()
    location = at_text(mapped, start, end)
    repairs: tuple[Repair, ...] = ()
    bare = match["tag"] is None and match[0].strip("{}").strip() == name
    if known and bare and all(run.exact for run in mapped.slice(start, end).runs):
        repairs = (
            replacement(f"Change to `${{{name}}}`", location, f"${{{name}}}", preferred=True),
        )
    return LazyDiagnostic(
        Code.FOREIGN_TEMPLATE_SYNTAX,
        foreign_syntax.message(match, name, known=known),
        location,
        repairs,
        instead=use_of(text.section, text.role),
    )


def check_forms(text: TemplateText) -> Iterator[LazyDiagnostic]:
    """Report fields that a text can't show, and those that it shows as Python writes them."""
    section, params = text.section, text.owner
    if section.kind not in TEXT_KINDS or text.role == ITEMS or not isinstance(params, Dataclass):
        return
    # `enabled` checks the parameters, and says nothing about an item.
    gated = section.gated and params is section.params
    for placeholder in text.placeholders:
        field = params.field(placeholder.name)
        if field is None:
            continue
        instead = use_of(section, text.role)
        shows = field.type.shows
        form = field.type.form
        if field.type.problem:
            is_bare = is_untrusted(field.type.hint)
            yield LazyDiagnostic(
                Code.UNTRUSTED_TEXT if is_bare else Code.INVALID_FORM,
                f"`{field.id}` can't be shown: {field.type.problem}.",
                partial(_annotation, field, placeholder),
                (partial(_in_tag, field.id, *field.hint),) if is_bare and field.hint else (),
                instead=at_placeholder(placeholder),
            )
        elif form is not None and form.alone and not _is_alone(text, placeholder):
            yield LazyDiagnostic(
                Code.UNTRUSTED_TEXT,
                refusals.untrusted_beside(field.id),
                at_placeholder(placeholder),
                instead=instead,
            )
        elif shows is not None and not (gated and shows.kind is composition.Repr.NONE):
            yield LazyDiagnostic(
                Code.REPR_PLACEHOLDER,
                f"`${{{field.id}}}` {shows.message(field.id)}.",
                at_placeholder(placeholder),
                related=(
                    ((partial(_annotation, field, placeholder), "Its type is declared here."),)
                    if field.hint is not None
                    else ()
                ),
                instead=instead,
            )


def _is_alone(text: TemplateText, placeholder: Placeholder) -> bool:
    """Return True if a fence may stand in place of a placeholder, or it isn't known."""
    mapped, between = text.mapped, text.section.known("separator")
    return mapped.dynamic or is_alone(mapped.text, placeholder.start, placeholder.end, between)


def _in_tag(name: str, annotation: Expression, scope: Scope) -> Fix | None:
    """Show an untrusted field in a tag of its name; the module's own names say how."""
    span, imported = span_of(annotation), {"Annotated", "xml"} <= {*scope.module.names}
    if span is None or not imported or "xml(" in annotation.source:
        return None
    text = f'Annotated[{annotation.source}, xml("{name}")]'
    return Fix(f"Show it in a tag: `{text}`", (Change(span, text),), preferred=True)


def _annotation(field: Field, placeholder: Placeholder) -> SourceSpan | None:
    """Location of a field's type, or of the placeholder for a field of the library."""
    return placeholder.source if field.hint is None else span_of(field.hint[0])


def check_list(section: SectionValue, texts: tuple[TemplateText, ...]) -> Iterator[LazyDiagnostic]:
    """Check that `items` names a field with a sequence of items."""
    if section.kind not in LIST_KINDS:
        return
    for text in texts:
        if text.role == ITEMS:
            yield from _items_field(text)
    yield from _given_items(section)


def _items_field(text: TemplateText) -> Iterator[LazyDiagnostic]:
    section, params, names = text.section, text.owner, names_in(text)
    (placeholder,) = text.placeholders
    if names is None:
        return
    if isinstance(params, Nothing):
        yield LazyDiagnostic(
            Code.ITEMS_FIELD,
            f"The section takes no parameters that could have a field `{placeholder.name}`: "
            "specialise it with their dataclass, or give the items themselves.",
            at_placeholder(placeholder),
            instead=use_of(section, ITEMS),
        )
    elif placeholder.name not in names and isinstance(params, Dataclass):
        near = errors.near_names(placeholder.name, names)
        yield LazyDiagnostic(
            Code.ITEMS_FIELD,
            f"`{placeholder.name}` isn't a field of `{params.name}`.{did_you_mean(near)}",
            at_placeholder(placeholder),
            tuple(name_repairs(placeholder, near, None)),
            instead=use_of(section, ITEMS),
        )
    elif not section.holds_items and isinstance(section.item, Dataclass):
        field = params.field(placeholder.name) if isinstance(params, Dataclass) else None
        declared = f" is declared as `{field.annotation}`" if field is not None else ""
        name = field.name if field is not None else None
        yield LazyDiagnostic(
            Code.ITEMS_FIELD,
            f"`{placeholder.name}`{declared}; `items` needs a field with a sequence of "
            f"`{section.item.name}`, such as `tuple[{section.item.name}, ...]`.",
            at_placeholder(placeholder),
            related=((at_node(name), "It is declared here."),) if name is not None else (),
            instead=use_of(section, ITEMS),
        )


def _given_items(section: SectionValue) -> Iterator[LazyDiagnostic]:
    """Check items that are given with the section, as far as their classes are known."""
    argument, kind = section.arguments.get(ITEMS), section.item
    if argument is None or not isinstance(argument.value, Items) or not isinstance(kind, Dataclass):
        return
    for item in argument.value.items:
        value = item.value
        if not isinstance(value, InstanceValue) or item.maybe:
            continue
        definition = value.dataclass.definition
        # One that has bases may be derived from it.
        if value.dataclass.identity is not kind.identity and not (definition and definition.bases):
            yield LazyDiagnostic(
                Code.ITEMS_FIELD,
                f"The items of the section are `{kind.name}`, not `{value.dataclass.name}`.",
                at_node(item.node),
                instead=use_of(section, ITEMS),
            )


def check_fields(analysis: ModuleAnalysis) -> Iterator[LazyDiagnostic]:
    """Report the fields that this file declares and that nothing in the workspace uses.

    A field is reported only if all texts of the sections that have it are known, and if neither the
    rest of the file nor a file that names the dataclass mentions it: `enabled` callables and other
    code may use a field, too.
    """
    memo = analysis.evaluator.memo
    declared: dict[int, tuple[Dataclass, Field]] = {}
    used: set[int] = set()
    unsure: set[int] = set()
    for facts in analysis.facts:
        uses = memo.fact(facts.statement.anchor, "fields", partial(_uses, facts))
        declared.update(uses.declared)
        used |= uses.used
        unsure |= uses.unsure
    # `__stability__` and its like are for the library.
    unseen = [
        (field.id, kind.name, field.name)
        for key, (kind, field) in declared.items()
        if key not in used
        and key not in unsure
        and field.name is not None
        and field.name.file == analysis.file
        and not field.id.startswith("__")
    ]
    here = _mentioned({word for word, _, _ in unseen}, analysis.text)
    left = {(word, near) for word, near, _ in unseen if word not in here}
    there = analysis.evaluator.modules.mentions(left, analysis.file) if left else left
    for word, near, name in unseen:
        if word not in here and (word, near) not in there:
            yield LazyDiagnostic(
                Code.UNUSED_FIELD, f"No template uses `{word}`.", at_node(name), unnecessary=True
            )


@record
class _Uses:
    """Fields that code declares and uses, by the `id` of their declared names."""

    declared: dict[int, tuple[Dataclass, Field]]
    used: set[int]
    unsure: set[int]


_NO_USES = _Uses({}, set(), set())


def _uses(facts: StatementFacts) -> _Uses:
    uses = _Uses({}, set(), set())
    sections = {id(text.section): text.section for text in facts.texts}
    of_sections = [kept(section, "declared fields", _declared) for section in facts.sections]
    of_texts = [kept(section, "used fields", _used) for section in sections.values()]
    for part in (*of_sections, *of_texts):
        uses.declared.update(part.declared)
        uses.used.update(part.used)
        uses.unsure.update(part.unsure)
    return uses


def _declared(section: SectionValue) -> _Uses:
    """The fields that a section has, and those that it may use elsewhere than in its texts."""
    params = section.params
    if not isinstance(params, Dataclass) or params.definition is None:
        return _NO_USES
    fields = {id(field.name): field for field in params.fields if field.name is not None}
    unsure = (
        not params.complete
        or params.task
        or params.computed
        or not _renders_only_known_texts(section)
    )
    declared = {key: (params, field) for key, field in fields.items()}
    return _Uses(declared, set(), set(fields) if unsure else set())


def _used(section: SectionValue) -> _Uses:
    """The fields that a section's texts use."""
    uses = _Uses({}, set(), set())
    for text in texts_of(section):
        owner = text.owner
        if not isinstance(owner, Dataclass):
            continue
        names = {placeholder.name for placeholder in text.placeholders} - set(text.computed)
        uses.used.update(id(field.name) for field in owner.fields if field.id in names)
        # A misspelled placeholder has its own diagnostic, and may be meant for this field.
        if text.mapped.dynamic or any(owner.field(name) is None for name in names):
            uses.unsure.update(id(field.name) for field in owner.fields)
    return uses


def _renders_only_known_texts(section: SectionValue) -> bool:
    """Return True if the section uses fields only in its texts, and they are known."""
    if section.kind not in ("markdown", *LIST_KINDS) or section.opaque:
        return False
    items = section.arguments.get(ITEMS)
    readable = items is not None and isinstance(items.value, Items)
    if section.kind in LIST_KINDS and not readable and section.known(ITEMS) is None:
        return False
    return section.text("template") is not None and all(
        role not in section.arguments or section.text(role) is not None
        for role in roles_of(section)
    )


def _mentioned(names: set[str], text: str) -> set[str]:
    """Return the words that occur other than as a declaration or a keyword argument."""
    left = set(names)
    words = _USED_WORD.finditer(text)
    while left and (word := next(words, None)):
        left.discard(word[0])
    return names - left
