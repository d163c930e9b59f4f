"""Check of template texts for the syntax of other template languages, which renders as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.placeholders import ITEMS
from foldline.ide.analysis.syntax import Call, Name
from foldline.ide.analysis.values import TEXT_KINDS, Dataclass
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_node, at_text, replacement
from foldline.prompts import foreign_syntax

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from foldline.ide.analysis.placeholders import TemplateText
    from foldline.ide.checks.diagnostic import Repair


def check_foreign_syntax(text: TemplateText) -> Iterator[LazyDiagnostic]:
    """Report `{{ name }}`, `{% if name %}` and `{name}`, where `name` is a field."""
    section, mapped, params = text.section, text.mapped, text.owner
    if section.kind not in TEXT_KINDS or text.role == ITEMS or "{" not in mapped.text:
        return
    if (section.kind == "task" and text.role == "template") or not isinstance(params, Dataclass):
        return
    argument = text.section.arguments.get(text.role)
    if argument is not None and isinstance(argument.node, Call):
        func = argument.node.func
        if isinstance(func, Name) and func.id == "verbatim":
            return
    used = {placeholder.name for placeholder in text.placeholders}
    fields = {field.id for field in params.fields} - used
    for match, name in foreign_syntax.occurrences(mapped.text, fields) if fields else ():
        if not mapped.dynamic_in(*match.span()):
            yield _diagnostic(text, match, name)


def _diagnostic(text: TemplateText, match: re.Match[str], name: str) -> LazyDiagnostic:
    mapped, (start, end) = text.mapped, match.span()
    place = at_text(mapped, start, end)
    repairs: tuple[Repair, ...] = ()
    bare = match["tag"] is None and match[0].strip("{}").strip() == name
    if bare and all(run.exact for run in mapped.slice(start, end).runs):
        repairs = (replacement(f"Change to `${{{name}}}`", place, f"${{{name}}}", preferred=True),)
    argument = text.section.arguments.get(text.role)
    return LazyDiagnostic(
        Code.FOREIGN_TEMPLATE_SYNTAX,
        foreign_syntax.message(match, name),
        place,
        repairs,
        instead=None if argument is None else at_node(argument.node),
    )
