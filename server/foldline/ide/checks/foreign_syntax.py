"""Check of template texts for the syntax of other template languages, which renders as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.ide.analysis.placeholders import ITEMS
from foldline.ide.analysis.values import TEXT_KINDS, Dataclass
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_node, at_text, replacement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.placeholders import TemplateText
    from foldline.ide.checks.diagnostic import Repair

_FOREIGN = re.compile(
    r"(?<![{$])\{\{(?!\{)[#/^&>~-]?(?P<double>[^{}\n]+?)[~-]?\}\}(?!\})"
    r"|\{%(?P<tag>[^{}\n]+?)%\}"
    # `{name:03d}`, but no `{name: a type}` of a schema, and no `/{name}` of an address.
    r"|(?<![{$/\\])\{(?P<single>[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*|\[[^\]{}\s]+\])*(?:![rsa])?"
    r"(?::[^\s{}]?[<>=^]?[-+ #]?[\d,_.]+[a-zA-Z%]?)?\}(?!\})"
)
_WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*(?![\"'])")
_LEADING = re.compile(r"\s*(?:(?:#?if|#?each|#?with|#?unless)\s+)?([A-Za-z_]\w*)")
_IN_F_STRING = re.compile(r"\b[fF][rR]?(?:\"[^\"\n]*|'[^'\n]*)\Z")
# Between backticks there is code, which may well be of another template language.
_CODE = re.compile(
    r"^(`{3,}|~{3,})[^\n]*\n.*?(?:^\1|\Z)|(`+)(?!`)[^\n]*?(?<!`)\2(?!`)", re.M | re.S
)


def check_foreign_syntax(text: TemplateText) -> Iterator[LazyDiagnostic]:
    """Report `{{ name }}`, `{% if name %}` and `{name}`, where `name` is a field.

    A field that the text also has as `${name}` isn't looked for: its author knows how to write it.
    """
    section, mapped, params = text.section, text.mapped, text.owner
    if section.kind not in TEXT_KINDS or text.role == ITEMS or "{" not in mapped.text:
        return
    if (section.kind == "task" and text.role == "template") or not isinstance(params, Dataclass):
        return
    used = {placeholder.name for placeholder in text.placeholders}
    fields = {field.id for field in params.fields} - used
    code: list[tuple[int, int]] | None = None
    for match in _FOREIGN.finditer(mapped.text) if fields else ():
        name = _field(match, fields)
        if name is None or mapped.dynamic_in(*match.span()):
            continue
        if code is None:
            code = [found.span() for found in _CODE.finditer(mapped.text)]
        if _IN_F_STRING.search(mapped.text, 0, match.start()):
            continue
        if not any(start <= match.start() < end for start, end in code):
            yield _diagnostic(text, match, name)


def _field(match: re.Match[str], fields: set[str]) -> str | None:
    """Return the field that a match is about."""
    if match["tag"] is not None:
        words = (word for word in _WORD.findall(match["tag"]) if word in fields)
        return next(words, None)
    if match["single"] is not None:
        return match["single"] if match["single"] in fields else None
    leading = _LEADING.match(match["double"])
    return leading[1] if leading is not None and leading[1] in fields else None


def _diagnostic(text: TemplateText, match: re.Match[str], name: str) -> LazyDiagnostic:
    mapped, (start, end) = text.mapped, match.span()
    place = at_text(mapped, start, end)
    repairs: tuple[Repair, ...] = ()
    bare = match["tag"] is None and match[0].strip("{}").strip() == name
    if bare and all(run.exact for run in mapped.slice(start, end).runs):
        repairs = (replacement(f"Change to `${{{name}}}`", place, f"${{{name}}}", preferred=True),)
    if match["tag"] is not None:
        advice = "conditions and loops are sections with `enabled`, or a text computed in a field"
    else:
        advice = f"write `${{{name}}}` for the field"
    argument = text.section.arguments.get(text.role)
    return LazyDiagnostic(
        Code.FOREIGN_TEMPLATE_SYNTAX,
        f"`{match[0]}` is another template language, and renders as it is: {advice}.",
        place,
        repairs,
        instead=None if argument is None else at_node(argument.node),
    )
