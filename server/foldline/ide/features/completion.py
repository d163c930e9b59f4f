"""Completion: fields in templates, section keys in calls, params types, forms of fields."""

from __future__ import annotations

import re
from dataclasses import replace
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING

from foldline.ide.analysis.instances import SECTION_KINDS, lineage_of
from foldline.ide.analysis.model import SourceSpan, Span, Visibility
from foldline.ide.analysis.names import attribute
from foldline.ide.analysis.params import dataclass_of, field_holds_items, item_of, params_of
from foldline.ide.analysis.placeholders import ITEMS, computed_by, roles_of
from foldline.ide.analysis.section_tree import sections_with_paths, span_of
from foldline.ide.analysis.values import (
    LIST_KINDS,
    UNKNOWN,
    ClassValue,
    Dataclass,
    External,
    SectionValue,
    Specialised,
)
from foldline.ide.features import keys
from foldline.prompts import Form
from foldline.prompts.forms import forms
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.analysis.instances import Lineage
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.values import Field, Nothing, Unknown, Value

    Owner = Dataclass | Nothing | Unknown


class CompletionKind(StrEnum):
    """The kind of thing that a completion names."""

    FIELD = "field"
    SECTION = "section"
    CHAPTER = "chapter"
    PARAMS = "params"
    FORM = "form"
    FILE = "file"
    FOLDER = "folder"
    NAME = "name"


@record
class Completion:
    """A proposal at the cursor; `text` replaces the source at `place`."""

    label: str
    kind: CompletionKind
    text: str
    place: Span | SourceSpan
    detail: str = ""
    documentation: str = ""
    filter_text: str = ""
    sort: str = ""


# Two braces are one escaped brace of an f-string.
_DOLLAR = re.compile(r"(?<!\$)(\$+)(\{{0,2})([A-Za-z_][A-Za-z0-9_]*|)\Z")
_SPECIALISE = re.compile(r"(?<![\w.])([\w.]+)\[(?:(?:[\w. ]|\[[\w., ]*\])+,)*\s*([\w.]*)\Z")
_ITEMS = re.compile(r"\bitems\s*=\s*[\"'](\w*)\Z")
_KEYWORD = re.compile(r"(\w+)\s*=\s*\(?\s*[A-Za-z]*[\"']+\Z")
_FAR = 200


def completions(analysis: ModuleAnalysis, offset: int) -> tuple[Completion, ...]:
    """Return the proposals at an offset that concern prompts."""
    text = analysis.text
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    dollar = _DOLLAR.search(line)
    # In an even run of dollars, each pair is one literal dollar.
    if dollar is not None and len(dollar[1]) % 2 == 1:
        return tuple(_fields(analysis, offset, dollar))
    items = _ITEMS.search(line)
    if items is not None:
        return tuple(_items(analysis, offset, items))
    context = keys.key_context(text, offset)
    if context is not None:
        return tuple(_keys(analysis, offset, context))
    typed = typed_form(text, offset)
    if typed is not None:
        return tuple(_forms(analysis, offset, typed))
    subscript = _SPECIALISE.search(line)
    if subscript is not None:
        return tuple(sorted(_params(analysis, offset, subscript), key=lambda item: item.sort))
    return ()


def _forms(analysis: ModuleAnalysis, offset: int, typed: str) -> Iterator[Completion]:
    """Propose the forms that the file has imported, after `Annotated[…, `."""
    word = _word(analysis, offset, typed)
    for index, (name, code, does) in enumerate(forms_in(analysis)):
        yield Completion(name, CompletionKind.FORM, code, word, does, "", name, f"{index:04}")


def _fields(analysis: ModuleAnalysis, offset: int, dollar: re.Match[str]) -> Iterator[Completion]:
    """Propose the fields of the template around the offset, after the `$` or `${` of `dollar`."""
    quoted = quoted_at(analysis, offset)
    if quoted is None:
        return
    # In an f-string, a brace of the template is written twice.
    opening, closing = ("{{", "}}") if quoted.formatted else ("{", "}")
    brace, typed = dollar[2], dollar[3]
    word = _word(analysis, offset, brace + typed)
    braces = analysis.text[word.end : word.end + len(closing if brace else "")]
    replaced = word._replace(end=word.end + len(braces) - len(braces.lstrip("}")))
    kinds = _owners_at(analysis, offset, quoted)
    computed = (
        Completion(name, CompletionKind.FIELD, name, replaced, "computed", sort=f"9{name}")
        for name in dict.fromkeys(chain.from_iterable(kinds.values()))
    )
    for field in chain(_proposed(kinds, replaced), computed):
        yield replace(
            field, text=f"{opening}{field.label}{closing}", filter_text=f"{brace}{field.label}"
        )


def _proposed(kinds: Iterable[Owner], place: SourceSpan) -> Iterator[Completion]:
    """Propose the fields of some dataclasses."""
    fields: dict[str, tuple[Dataclass, Field]] = {}
    for kind in kinds:
        if isinstance(kind, Dataclass):
            for field in kind.fields:
                fields.setdefault(field.id, (kind, field))
    for index, (name, (params, field)) in enumerate(fields.items()):
        default = f" = {field.default}" if field.default is not None else ""
        yield Completion(
            label=name,
            kind=CompletionKind.FIELD,
            text=name,
            place=place,
            detail=f"{field.annotation}{default}",
            documentation="\n\n".join(
                part for part in (field.description, f"Field of `{params.name}`.") if part
            ),
            filter_text=name,
            sort=f"{index:04}",
        )


def _items(analysis: ModuleAnalysis, offset: int, items: re.Match[str]) -> Iterator[Completion]:
    """Propose the fields that a list may show, for the argument `items`."""
    evaluator = analysis.evaluator
    sections = keys.sections_at(analysis, offset)
    lists: list[tuple[Owner, Owner | None]] = [
        (section.params, section.item) for section in sections if section.item is not None
    ]
    call = None if lists else _call_of(analysis, offset - len(items[0]))
    if call is not None and SECTION_KINDS.get(call.lineage.root) in LIST_KINDS:
        lists = [(call.params, item_of(evaluator, call.lineage.root, call.types)[0])]
    word = _word(analysis, offset, items[1])
    for params, item in lists:
        for proposed in _proposed([params], word):
            field = params.field(proposed.label) if isinstance(params, Dataclass) else None
            if field is None or field_holds_items(evaluator, field, item):
                yield proposed


def _word(
    analysis: ModuleAnalysis, offset: int, typed: str, characters: str = r"[A-Za-z0-9_]*"
) -> SourceSpan:
    """Return the place of a word, of which `typed` is before the offset."""
    rest = re.compile(characters).match(analysis.text, offset)
    end = offset if rest is None else rest.end()
    return SourceSpan(analysis.file, offset - len(typed), end)


def _owners_at(
    analysis: ModuleAnalysis, offset: int, quoted: Quoted
) -> dict[Owner, tuple[str, ...]]:
    """Return the dataclasses that the text around an offset shows, with the names it computes."""
    texts = [text for text in keys.text_at(analysis, offset) if text.role != ITEMS]
    if texts:
        return {text.owner: text.computed for text in texts}
    # The keyword of the argument that the literal is.
    keyword = _KEYWORD.search(analysis.text, max(0, quoted.start - _FAR), quoted.start)
    role = keyword[1] if keyword is not None else ""
    sections = _around(analysis, offset)
    if sections:
        return {section.named_by(role): computed_by(section.kind, role) for section in sections}
    return _unfinished(analysis, quoted.start - 1, role)


def _around(analysis: ModuleAnalysis, offset: int) -> list[SectionValue]:
    """Return the sections whose unfinished text may contain the offset."""
    sections = [
        section for section in keys.sections_at(analysis, offset) if section.kind != "chapter"
    ]
    if _is_in_broken(analysis, offset):
        return sections
    # A finished call tells its templates from its other arguments.
    return [
        section
        for section in sections
        if not any(
            span_of(argument.node).span.holds(offset)
            for name, argument in section.arguments.items()
            if name not in roles_of(section)
        )
    ]


def _is_in_broken(analysis: ModuleAnalysis, offset: int) -> bool:
    return any(
        statement.broken and statement.start <= offset <= statement.end
        for statement in analysis.statements
    )


def _unfinished(analysis: ModuleAnalysis, offset: int, role: str) -> dict[Owner, tuple[str, ...]]:
    """Return the same for a section whose call is only begun."""
    call = _call_of(analysis, offset)
    kind = SECTION_KINDS.get(call.lineage.root) if call is not None else None
    if call is None or kind is None or kind == "chapter":
        return {}
    item, _ = item_of(analysis.evaluator, call.lineage.root, call.types)
    owner = item if role == "template" and item is not None else call.params
    return {owner: computed_by(kind, role)}


@record
class _UnfinishedCall:
    """The call of a class that an unfinished text is in."""

    lineage: Lineage
    types: Specialised
    params: Owner


def _call_of(analysis: ModuleAnalysis, offset: int) -> _UnfinishedCall | None:
    call = call_before(analysis.text, offset) if _is_in_broken(analysis, offset) else None
    if call is None:
        return None
    evaluator = analysis.evaluator
    # Only the names of type arguments are looked at, not theirs: `Pair[int]` is `Pair`.
    names = [argument.partition("[")[0].strip() for argument in _arguments(call[2])]
    origin = _named(analysis, call[1])
    values = tuple(_named(analysis, name) for name in names)
    lineage = lineage_of(evaluator, Specialised(origin, values, ()))
    types = lineage.types or Specialised(origin, values, ())
    params = params_of(evaluator, types.arguments[0]) if types.arguments else UNKNOWN
    return _UnfinishedCall(lineage, types, params)


def _arguments(text: str) -> Iterator[str]:
    """Yield the type arguments in a text, which may have arguments of their own."""
    depth = start = 0
    for index, character in enumerate(f"{text},"):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            yield text[start:index]
            start = index + 1


def _named(analysis: ModuleAnalysis, dotted: str) -> Value:
    """Return the value of a dotted name at module level."""
    first, *rest = dotted.split(".")
    value = analysis.evaluator.member(analysis.scope, first)
    for part in rest:
        value = attribute(analysis.evaluator, value, part)
    return value


def _keys(analysis: ModuleAnalysis, offset: int, context: keys.KeyContext) -> Iterator[Completion]:
    word = _word(analysis, offset, context.typed, rf"[{keys.KEY_CHARACTERS}]*")
    seen: set[str] = set()
    # The call around a key being typed seldom parses, so the keys of all templates are offered.
    for template in keys.templates_of(analysis, None):
        for candidate in sections_with_paths(template):
            label = _label(candidate.path, candidate.section, context)
            if label is None or label in seen:
                continue
            seen.add(label)
            section = candidate.section
            summarized = section.visibility is Visibility.SUMMARY
            yield Completion(
                label=label,
                kind=(
                    CompletionKind.CHAPTER if section.kind == "chapter" else CompletionKind.SECTION
                ),
                text=label,
                place=word,
                detail=section.title + (" (summarized)" if summarized else ""),
                documentation=section.known("summary") or "",
                filter_text=label,
                sort=f"{len(seen):04}",
            )


def _label(path: tuple[str, ...], section: SectionValue, context: keys.KeyContext) -> str | None:
    chapter = section.kind == "chapter"
    if context.kind is keys.KeyKind.CHAPTER:
        return section.key if chapter else None
    if chapter or not section.key:
        return None
    if context.kind in (keys.KeyKind.DOTTED, keys.KeyKind.EXACT):
        return ".".join(path)
    return section.key if path[:-1] == context.before else None


def _params(
    analysis: ModuleAnalysis, offset: int, subscript: re.Match[str]
) -> Iterator[Completion]:
    evaluator = analysis.evaluator
    lineage = lineage_of(evaluator, _named(analysis, subscript[1]))
    if lineage.root not in SECTION_KINDS and lineage.root != "PromptTemplate":
        return
    first = "," not in subscript[0]
    if not first and SECTION_KINDS.get(lineage.root) not in LIST_KINDS:
        return
    word = _word(analysis, offset, subscript[2], r"\w*")
    tasks_only = lineage.root == "TaskSection"
    for name in analysis.scope.names:
        named = evaluator.member(analysis.scope, name)
        kind: Dataclass | None = None
        if isinstance(named, ClassValue):
            kind = dataclass_of(evaluator, named)
        elif isinstance(named, External) and named.library_name == "Task":
            yield Completion(name, CompletionKind.PARAMS, name, word, "Task", "", name, "1")
        if kind is not None and kind.is_dataclass and (kind.task or not tasks_only):
            fields = ", ".join(field.id for field in kind.fields)
            yield Completion(name, CompletionKind.PARAMS, name, word, fields, "", name, "0")
    if first and not tasks_only:
        yield Completion(
            "None", CompletionKind.PARAMS, "None", word, "no parameters", "", "None", "2"
        )


# A comment, or a literal; the last group is missing in a literal that isn't closed. An escape is no
# end; a line's end is one, but in three quotes.
_LITERAL = re.compile(
    r"#[^\n]*"
    r"|(?:\b([A-Za-z]{1,2}))?(([\"'])(\3\3)?)"
    r"(?:\\.|(?!\2)(?(4)[^\\]|[^\\\r\n]))*+(\2|(?=[\r\n]))?",
    re.DOTALL,
)


@record
class Quoted:
    """An open literal: its prefix in lower case, and the offset at which its text starts."""

    prefix: str
    start: int

    @property
    def formatted(self) -> bool:
        """True if braces in it are code, so that a literal brace is written twice."""
        return "f" in self.prefix or "t" in self.prefix


def quoted_at(analysis: ModuleAnalysis, offset: int) -> Quoted | None:
    """Return the literal around an offset; None in code and comments."""
    starts = [statement.code_start(offset) for statement in analysis.statements]
    start = max(filter(offset.__ge__, starts), default=0)
    for literal in _LITERAL.finditer(analysis.text, start, offset):
        if literal[2] and literal[5] is None:
            return Quoted((literal[1] or "").lower(), literal.end(2))
    return None


def call_before(text: str, at: int) -> re.Match[str] | None:
    """Match the innermost open call `name[arguments](` before an offset; groups: both."""
    low = max(0, at - _FARTHEST_CALL)
    # Brackets in strings and comments don't count.
    code = _LITERAL.sub(lambda match: " " * len(match[0]), text[low:at])
    depth = 0
    for index in range(len(code) - 1, -1, -1):
        if code[index] in ")]}":
            depth += 1
        elif code[index] in "([{":
            depth -= 1
            # Most brackets are left out by a look at what is before them.
            called = depth < 0 and text.endswith("](", low, low + index + 1)
            call = _CALL.search(text, low, low + index + 1) if called else None
            if call is not None:
                return call
            depth = max(depth, 0)
    return None


_FARTHEST_CALL = 4_000
_CALL = re.compile(r"(?<![\w.])\.*([A-Za-z_][\w.]*)\[((?:[\w.,\s]|\[[\w.,\s]*\])+)\]\(\Z")


_TYPED = re.compile(r"(?:[A-Za-z_]\w*)?\Z")
_ANNOTATED = re.compile(r"\bAnnotated\Z")
_FARTHEST = 2_000
"""The most characters between `Annotated[` and a form in it."""


def description_of(field: Field) -> str:
    """Return the forms of a field, or why they make no sense, as a sentence; empty without any."""
    kind = field.type
    if kind.problem:
        return f"*Can't be shown: {kind.problem}.*"
    if kind.form is None:
        return ""
    return f"Shown {', '.join(form.description for form in kind.form.forms)}."


def typed_form(text: str, offset: int) -> str | None:
    """Return what is typed of a form at an offset, after `Annotated[…, `; None elsewhere."""
    typed = _TYPED.search(text, max(0, offset - _FARTHEST), offset)
    if typed is None:
        return None
    depth, comma = 0, False
    for at in range(typed.start() - 1, max(-1, offset - _FARTHEST), -1):
        character = text[at]
        if character in ")]}":
            depth += 1
        elif character in "([{" and depth:
            depth -= 1
        elif character in "([{":
            after = character == "[" and _ANNOTATED.search(text, 0, at) is not None
            return typed[0] if after and comma else None
        elif character == "," and not depth:
            comma = True
    return None


def forms_in(analysis: ModuleAnalysis) -> Iterator[tuple[str, str, str]]:
    """Yield the forms that a file can use: the name, the code to insert, and what it does."""
    names = dict.fromkeys((*analysis.scope.names, *forms.NAMES))
    for name in names:
        value = analysis.evaluator.member(analysis.scope, name)
        library_name = value.library_name if isinstance(value, External) else ""
        if library_name not in forms.NAMES:
            continue
        form = getattr(forms, library_name)
        if isinstance(form, Form):
            yield name, name, f"shown {form.description}"
        else:
            call = forms.CALLED[form].replace("'", '"')
            summary = (form.__doc__ or "").partition("\n")[0]
            yield (
                name,
                name + call.removeprefix(library_name),
                summary.removeprefix("Return the form that ").rstrip("."),
            )
