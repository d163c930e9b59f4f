"""Writes the module of an adopted prompt: its texts and comments as Python source."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from foldline.backends.base.near_names import free_name
from foldline.backends.base.python_ast import parse_expression
from foldline.plugins.adopt.model import Field, Kind

if TYPE_CHECKING:
    from foldline.plugins.adopt.plan import Plan
    from foldline.plugins.adopt.sections import Section


def module_text(plan: Plan) -> str:
    """Return the module's text."""
    head = f"{_docstring(plan)}\n\n{_imports(plan)}"
    parts = [head, *_classes(plan), _headings(plan), _template(plan)]
    if plan.fields:
        parts.append(_preview(plan))
    return "\n\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _docstring(plan: Plan) -> str:
    original = plan.original
    name = plan.variable
    source = plan.original.name
    shown = f" `{source}`" if source.replace(".", "_").isidentifier() else ""
    lines = [f'"""The prompt `{name}`, adopted from the {original.style.label}{shown}."""']
    for lost in original.lost:
        head, _, rest = lost.strip().partition("\n")
        lines += ["", *sentence_comment(f"LEFT OUT: {head}")]
        lines += comment(rest, prefix="#     ") if rest else []
    return "\n".join(lines)


def _imports(plan: Plan) -> str:
    annotated = [field.type for field in plan.all_fields() if field.type.startswith("Annotated[")]
    names = {
        *("PromptTemplate", "Heading"),
        *(
            "EachSection" if section.items is not None else "MarkdownSection"
            for section in plan.walk()
            if not section.shared
        ),
        *("joined" if kind.startswith("Annotated[tuple[") else "or_else" for kind in annotated),
    }
    lines = ["from dataclasses import dataclass"] if plan.fields else []
    lines += ["from typing import Annotated"] if annotated else []
    shown = sorted(names, key=lambda name: (name[0].islower(), name))
    lines += [*([""] if lines else []), f"from foldline.prompts import {', '.join(shown)}"]
    shared = sorted({section.shared for section in plan.walk() if section.shared})
    lines += ["", f"from {plan.shared} import {', '.join(shared)}"] if shared else []
    return "\n".join(lines)


def _classes(plan: Plan) -> Iterator[str]:
    for field in plan.fields:
        if field.items is not None:
            doc = f"One item of `{field.source}`."
            yield _class(field.items.class_name, field.items.fields.all, doc)
    if plan.fields:
        yield _class(plan.class_name, plan.fields, "What changes from one request to the next.")


def _class(name: str, fields: Sequence[Field], doc: str) -> str:
    shown = doc if doc.isprintable() and '"' not in doc and "\\" not in doc else "One item."
    lines = ["@dataclass(frozen=True)", f"class {name}:", f'{INDENT}"""{shown}"""', ""]
    if not fields:
        return "\n".join(lines[:-1])
    for field in sorted(fields, key=lambda field: field.default is not None):
        lines += _field_comment(field)
        default = "" if field.default is None else f" = {field.default}"
        lines.append(f"{INDENT}{field.name}: {field.type}{default}")
    return "\n".join(lines)


def _field_comment(field: Field) -> list[str]:
    lead = f"{INDENT}# Compute at the call site:"
    match field.kind:
        case Kind.REMAINDER:
            reason = f"REMAINDER: {field.reason}. Make this text at the call site:"
            lines = sentence_comment(reason, INDENT)
        case Kind.COMPUTED if "\n" not in field.source and len(field.source) <= 60:
            return comment(field.source, prefix=f"{lead} ")
        case Kind.COMPUTED:
            lines = [lead]
        case Kind.VALUE if field.source.rpartition(".")[2] == field.name:
            return []
        case Kind.VALUE:
            return comment(field.source, prefix=f"{INDENT}# Stands for: ")
    return lines + comment(field.source, INDENT, "#     ")


def _headings(plan: Plan) -> str:
    shown = [section for section in plan.walk() if section.heading is not None]
    if not shown:
        return (
            "def heading(section: Heading) -> str:\n"
            f'{INDENT}"""The text has no headings. Without this, sections have `## 1. Title`."""\n'
            f'{INDENT}return ""'
        )
    lines = [f"{one_line(section.key)}: {one_line(section.heading or '')}" for section in shown]
    return (
        "# The headings as they were. Without `heading=`, they are numbered: `## 1. Title`.\n"
        f"HEADINGS = {_block('{', lines, '}')}\n\n\n"
        "def heading(section: Heading) -> str:\n"
        f'{INDENT}"""Return the heading that the text had before it was adopted."""\n'
        f'{INDENT}return HEADINGS.get(section.path[-1], "")'
    )


def _template(plan: Plan) -> str:
    sections = [section_text(plan, section, INDENT * 2) for section in plan.sections]
    parts = [
        'ns="prompts"',
        f"key={one_line(plan.variable.replace('_', '-'))}",
        "heading=heading",
        f"sections={_block('[', sections, ']', INDENT)}",
    ]
    return f"{plan.variable} = {_block('PromptTemplate(', parts, ')')}"


def _block(head: str, parts: Iterable[str], end: str, indent: str = "") -> str:
    """Return a call or a list with a line for each part; `indent` is that of the line around it."""
    return "\n".join([head, *(f"{indent}{INDENT}{part}," for part in parts), f"{indent}{end}"])


def section_text(plan: Plan, section: Section, indent: str = "") -> str:
    """Return the expression that makes a section; `indent` is that of its line."""
    if section.shared:
        return section.shared
    inner = indent + INDENT
    needs_params = section.fields or section.conditions or section.items
    name, types = "MarkdownSection", plan.class_name if needs_params else "None"
    parts = [f"title={one_line(section.title)}", f"key={one_line(section.key)}"]
    if section.role is not None:
        parts.append(f'role="{section.role}"')
    if section.conditions:
        parts.append(_enabled(plan, section, inner))
    shown = [f"template={quoted(section.text, inner)}"]
    if section.items is not None and section.items.items is not None and section.loop is not None:
        _, separator, empty = section.loop
        name, types = "EachSection", f"{types}, {section.items.items.class_name}"
        written = f"separator={one_line(separator)}", f"empty={quoted(empty, inner)}"
        shown = [f'items="{section.items.name}"', *shown, *written]
    parts += shown
    if section.children:
        children = [section_text(plan, child, inner + INDENT) for child in section.children]
        parts.append(f"children={_block('[', children, ']', inner)}")
    return _block(f"{name}[{types}](", parts, ")", indent)


# A field in a condition, negated or compared.
_PARAMETER = re.compile(r"(not )?params\.(\w+)( (?:[=!<>]=?|in|not in) )?")


def _enabled(plan: Plan, section: Section, indent: str) -> str:
    text = section.enabled
    types = {field.name: field.type for field in plan.fields}
    uses = _PARAMETER.finditer(text)
    if any(not use[1] and not use[3] and types[use[2]] != "bool" for use in uses):
        text = f"bool({text})"
    sources = [condition.source for condition in section.conditions]
    source = f"({') and ('.join(sources)})" if sources[1:] else sources[0]
    lines = [
        *comment(f"REVIEW: it was shown if {source}", indent),
        f"{indent}enabled=lambda params: {text}",
    ]
    return "\n".join(lines).lstrip()


def _preview(plan: Plan) -> str:
    shown = [field for field in plan.fields if field.default is None]
    values = [f"{field.name}={_sample(field)}" for field in shown]
    return (
        f"def preview_{plan.variable}() -> {plan.class_name}:\n"
        f'{INDENT}"""Values for previews; write one such function for each case to look at."""\n'
        f"{INDENT}return {_block(f'{plan.class_name}(', values, ')', INDENT)}"
    )


def _sample(field: Field) -> str:
    if field.items is not None:
        inner = ", ".join(f"{part.name}={_sample(part)}" for part in field.items.fields.all)
        return f"({field.items.class_name}({inner}),)"
    if field.type.startswith("Annotated[tuple"):
        return '("one", "two")'
    shown = field.name.replace("_", " ").strip()
    kind = field.type.removesuffix(" | None")
    return {"int": "3", "float": "2.5", "bool": "True"}.get(kind, one_line(shown))


def share(plans: Sequence[Plan], module: str) -> str:
    """Let prompts import the sections that several have; return the module with them, or nothing.

    They import it by the name `module`.
    """
    shared: dict[tuple[str, str, str | None, str], list[tuple[Plan, Section]]] = {}
    for plan in plans:
        for section in plan.walk():
            has_more = section.fields or section.conditions or section.items or section.children
            if not has_more and len(section.text) >= SHORTEST_SHARED:
                what = section.title, section.key, section.role, section.text
                shared.setdefault(what, []).append((plan, section))
    parts = []
    names = {"HEADINGS"}
    for uses in shared.values():
        if len(uses) > 1:
            key = uses[0][1].key.replace("-", "_").upper()
            name = free_name(key if key[0].isalpha() else f"SECTION_{key}", names, "_")
            names.add(name)
            parts.append(f"{name} = {section_text(*uses[0])}")
            for plan, section in uses:
                plan.shared, section.shared = module, name
    head = (
        '"""Sections that several prompts have."""\n\nfrom foldline.prompts import MarkdownSection'
    )
    return "\n\n".join([head, *parts]) + "\n" if parts else ""


def alone(plan: Plan, shared: str) -> str:
    """Return a new module with the sections that it imports in it."""
    lines = rf"^from {re.escape(plan.shared)} import .*$"
    text = module_text(plan)
    return re.sub(lines, lambda _: shared, text, flags=re.MULTILINE) if plan.shared else text


INDENT = "    "
WIDTH = 96
SHORTEST_SHARED = 40
"""The shortest text that several prompts share, in characters."""
_LONGEST_COMMENT = 40


def quoted(text: str, indent: str) -> str:
    """Return a template's text as a Python string, over several lines if it is long.

    Sections dedent and strip it.
    """
    if "\n" in text or len(text) + len(indent) > WIDTH:
        body = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        inner = indent + INDENT
        lines = [f"{inner}{line}" if line else "" for line in body.split("\n")]
        written = "\n".join(['"""', *lines, f'{indent}"""'])
        is_printable = all(one.isprintable() or one in "\n\t" for one in text)
        if is_printable and _read_back(written) == text:
            return written
    return one_line(text)


def one_line(text: str) -> str:
    """Return a text as a Python string in one line, as formatters write it."""
    if "'" not in text and '"' not in text:
        return f'"{repr(text)[1:-1]}"'
    return repr(text)


def expression(text: str) -> str:
    """Return a Python expression without the parentheses that it doesn't need."""
    return ast.unparse(parse_expression(text))


def comment(text: str, indent: str = "", prefix: str = "# ") -> list[str]:
    """Return the lines of a comment."""
    lines = text.strip("\n").split("\n")
    if len(lines) > _LONGEST_COMMENT:
        rest = len(lines) - _LONGEST_COMMENT
        lines = [*lines[:_LONGEST_COMMENT], f"[{rest} more lines are in the source]"]
    return [f"{indent}{prefix}{_escaped(line)}".rstrip() for line in lines]


def sentence_comment(text: str, indent: str = "") -> list[str]:
    """Return a sentence of ours as a comment, in lines of an even width."""
    return textwrap.wrap(text, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def _escaped(line: str) -> str:
    # A line break in the text must not end the comment.
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in line.expandtabs(4)
    )


def _read_back(written: str) -> str | None:
    try:
        value = ast.literal_eval(parse_expression(written.lstrip()))
    except (SyntaxError, ValueError):
        return None
    return textwrap.dedent(value).strip() if isinstance(value, str) else None
