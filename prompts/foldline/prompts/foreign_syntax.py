"""Finds the syntax of other template languages in template texts, which renders as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator

_FOREIGN = re.compile(
    r"(?<![{$])\{\{(?!\{)[#/^&>~-]?(?P<double>[^{}\n]+?)[~-]?\}\}(?!\})"
    r"|\{%(?P<tag>[^{}\n]+?)%\}"
    # `{name:03d}`, but no `{name: a type}` of a schema, and no `/{name}` of an address.
    r"|(?<![{$/\\])\{(?P<single>[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*|\[[^\]{}\s]+\])*(?:![rsa])?"
    r"(?::[^\s{}]?[<>=^]?[-+ #]?[\d,_.]+[a-zA-Z%]?)?\}(?!\})"
)
# With a name or a statement in it; a shell's parameter has a default.
_LEFTOVER = re.compile(
    r"(?<![{$])\{\{[#/^&>]?\s*(?!end\s*\}|range\b)[A-Za-z_][^{}\n]*\}\}(?!\})"
    r"|\{%-?\s*[a-z][^{}\n]*%\}|<%[=-]?\s*\w[^%\n]*%>|\$\{\d+:?[-+=?][^{}\n]*\}"
)
_WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*(?![\"'])")
_LEADING = re.compile(r"\s*(?:(?:#?if|#?each|#?with|#?unless)\s+)?([A-Za-z_]\w*)")
# This many characters before and after a match tell what it's a part of.
_FAR = 1_000
_F_QUOTE = re.compile(r"\b[fF][rR]?[\"']")
_IN_F_STRING = re.compile(r"\b[fF][rR]?(?:\"[^\"\n]*|'[^'\n]*)\Z")
# In code and comments there may well be another template language.
_CODE = re.compile(
    r"^[ \t>*-]*(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(`++)(?:[^\n]|\n(?!\s*\n))*?(?<!`)\2(?!`)"
    r"|<(pre|code|script|style)\b.*?(?:</\3>|\Z)|<!--.*?(?:-->|\Z)",
    re.M | re.S,
)

# A form of these languages, and not only something in braces.
_PATH = r"[A-Za-z_]\w*(?:\.\w+|\[[^\]{}\s]+\])*"
_STATEMENT = r"(?:if|elif|for|set|include|import|from|macro|call|filter|block|extends|with)"
_TAG = re.compile(rf"-?\s*{_STATEMENT}\s")
_CLOSED = re.compile(r"\{\{/([^\s}]+)")
_KEYWORD = re.compile(rf"(?:{_STATEMENT}|else|end\w*|this|not|in)\Z")
_EXPRESSION = re.compile(
    rf"\s*(?:(?:if|each|unless|with)\s+)?{_PATH}(?:\s*\|\s*[A-Za-z_]\w*(?:\(.*\))?)*\s*"
)
# `{actual result}` and `{yes/no}` are blanks that the model fills in, and so is `{name}` with them.
# A text with `$$name` shows placeholders to the model, or formulas.
_MEANT = re.compile(
    rf"(?<![{{$])\{{(?![{{%#])(?!{_PATH}\}})[^{{}}\"':!\n]+\}}(?!\}})"
    r"|\{\{\s*[A-Za-z]\w+(?: +[a-z]\w+){2}|\$\$\{?[A-Za-z_]"
)
# Around a part of `{date}-{slug}.md` or of code, and after the term in `**{name}** - its meaning`.
_PART_BEFORE = re.compile(r"(?:[\w=@#.-]|::)\Z")
_PART_AFTER = re.compile(r"[\w/\\`=(\[-]|\.\w|\*\* [-\u2013\u2014]")
_MEANT_IN_LINE = re.compile(
    r"\\[A-Za-z]+|[_^] ?\{|^\s*>>>|\b(?:placeholder|template|variable|brace|replace)s?\b", re.I
)


def occurrences(
    text: str, fields: Container[str], others: Callable[[str], bool] = lambda _: False
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each `{{ name }}`, `{% if name %}` and `{name}` in a template, and the name.

    For `fields`, which it doesn't have as `${name}`, the name is enough; those that `others` takes
    count only where the text can't mean the braces.
    """
    around = None
    for match in _FOREIGN.finditer(text):
        name, sure = _name(match, fields.__contains__), True
        if name is None:
            name, sure = _name(match, others), False
        if name is not None:
            around = around or _Surroundings(text)
            if not around.is_code(match) and (sure or not around.may_be_meant(match)):
                yield match, name


def leftovers(prose: str) -> Iterator[tuple[int, str]]:
    """Yield what a template engine would have filled in of a text that none reads, and where.

    Expressions of GitHub Actions and Go's templates aren't, nor what a line on templates shows.
    """
    at = 0
    for line in prose.splitlines(keepends=True):
        if not _MEANT_IN_LINE.search(_LEFTOVER.sub("", line)):
            yield from ((at + match.start(), match[0]) for match in _LEFTOVER.finditer(line))
        at += len(line)


def any_name(name: str) -> bool:
    """Return True for each name that `occurrences` can be about."""
    return not _KEYWORD.match(name)


def message(match: re.Match[str], name: str, *, known: bool = True) -> str:
    """Return what a model reads of a match, and what to write; `known` if it names a field."""
    if match["tag"] is not None:
        advice = "conditions and loops are sections with `enabled`, or a text computed in a field"
    elif known:
        advice = f"write `${{{name}}}` for the field"
    else:
        advice = (
            f"declare a field `{name}` and write `${{{name}}}`; if the model should see the "
            "braces, put them between backticks"
        )
    return f"`{match[0]}` is another template language, and renders as it is: {advice}."


def _name(match: re.Match[str], wanted: Callable[[str], bool]) -> str | None:
    """Return the name that a match is about, if it's wanted."""
    if match["tag"] is not None:
        return next(filter(wanted, _WORD.findall(match["tag"])), None)
    if match["single"] is not None:
        return match["single"] if wanted(match["single"]) else None
    leading = _LEADING.match(match["double"])
    return leading[1] if leading is not None and wanted(leading[1]) else None


class _Surroundings:
    """The surroundings of matches in a text, asked about in their order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._outside = _CODE.sub(_blanks, text)
        self._without = _FOREIGN.sub(_blanks, text)
        self._meant = _MEANT.search(self._outside) is not None
        self._closed = {*_CLOSED.findall(text)}
        self._line_end = -1

    def is_code(self, match: re.Match[str]) -> bool:
        start = match.start()
        if start > self._line_end:
            line, end = self._text.rfind("\n", 0, start) + 1, self._text.find("\n", start)
            self._line_end = end if end >= 0 else len(self._text)
            self._f_strings = _F_QUOTE.search(self._text, line, self._line_end) is not None
            self._meant_here = _MEANT_IN_LINE.search(self._without[line : self._line_end])
        return self._outside[start] == " " or (
            self._f_strings
            and _IN_F_STRING.search(self._text, max(start - _FAR, 0), start) is not None
        )

    def may_be_meant(self, match: re.Match[str]) -> bool:
        """Return True if the model may be shown a match on purpose."""
        if self._meant or self._meant_here:
            return True
        if match["tag"] is not None:
            return not _TAG.match(match["tag"])
        if match["double"] is not None:
            kind, inside = match[0][2], match["double"]
            unclosed = kind in "#^" and inside.split()[0] not in self._closed
            return unclosed or kind == "/" or not _EXPRESSION.fullmatch(inside)
        start, end = match.span()
        before = self._text[max(start - _FAR, 0) : start].rpartition("\n")[2]
        after = self._text[end : end + _FAR].partition("\n")[0]
        quoted = before.count('"') % 2 and not (before.endswith('"') and after.startswith('"'))
        capital = match["single"][0].isupper()
        return bool(capital or quoted or _PART_BEFORE.search(before) or _PART_AFTER.match(after))


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])
