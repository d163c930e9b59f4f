"""Compiled template texts, with the grammar of `string.Template`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from string import Template
from typing import TYPE_CHECKING, TypeAlias

from foldline.prompts import refusals
from foldline.prompts.errors import PromptRenderError, PromptValidationError, near_names
from foldline.prompts.files import Verbatim
from foldline.prompts.forms.field_forms import forms_for, warn_author, warn_of_none
from foldline.prompts.forms.forms import ForeignSyntaxWarning, indented
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.specialise import field_names

if TYPE_CHECKING:
    from foldline.prompts.forms.composition import FieldForm

    Slot: TypeAlias = tuple[Segment, str | None, str, FieldForm | None]
    """A part, and for a placeholder its name, the indentation of its line, and its form."""

ONLY_NAMES = (
    "placeholders are plain names of fields: compute the text in a field, or in a section's "
    "`derive`"
)
EXPRESSION = re.compile(r"\$\{\s*[A-Za-z_]\w*\s*[.\[(:!|][^}\n]*\}")
"""Matches what looks like a placeholder but holds more than a name."""


class CompiledTemplate:
    """A template text, dedented, stripped and split into literals and placeholders.

    Values are inserted as they are: a `$` or a brace in a value is text, never a placeholder. Only
    further lines of a value get the indentation of the placeholder's line.

    >>> [segment.text for segment in CompiledTemplate("Costs $$5, ${who}", key="k").parts]
    ['Costs $5, ', 'who']
    """

    __slots__ = ("_slots", "key", "parts", "placeholders", "source", "text", "verbatim", "what")

    parts: tuple[Segment, ...]
    """Segments: literals to insert, and placeholders whose text is the field's name."""

    def __init__(self, text: object, *, key: str, what: str = "template") -> None:
        if not isinstance(text, str):
            problem = refusals.not_a_string(what, type(text).__name__)
            raise PromptValidationError.of_section(key, problem)
        self.text = text
        self.key = key
        self.what = what
        self.verbatim = isinstance(text, Verbatim)
        # Most texts are one line.
        self.source = (textwrap.dedent(text) if "\n" in text else text).strip()
        self._slots = self._parse()
        self.parts = tuple([slot[0] for slot in self._slots])
        self.placeholders = tuple(
            dict.fromkeys(part.field for part in self.parts if part.field is not None)
        )

    def _parse(self) -> list[Slot]:
        slots: list[Slot] = []
        literal: list[str] = []
        position = 0

        def flush() -> None:
            if text := "".join(literal):
                slots.append((Segment(SegmentKind.LITERAL, text), None, "", None))
            literal.clear()

        for match in Template.pattern.finditer(self.source) if "$" in self.source else ():
            literal.append(self.source[position : match.start()])
            position = match.end()
            if match["escaped"] is not None:
                literal.append("$")
            elif name := match["named"] or match["braced"]:
                flush()
                indent = line_indent(self.source, match.start())
                slots.append((Segment(SegmentKind.PARAM, name, name), name, indent, None))
            else:
                raise self._stray_dollar(match.start())
        literal.append(self.source[position:])
        flush()
        return slots

    def _stray_dollar(self, offset: int) -> PromptValidationError:
        line = self.source.count("\n", 0, offset) + 1
        column = offset - (self.source.rfind("\n", 0, offset) + 1) + 1
        where = f"in line {line}, column {column} of `{self.what}`"
        expression = EXPRESSION.match(self.source, offset)
        return PromptValidationError.of_section(
            self.key,
            f"`{expression[0]}` {where} isn't the name of a field; {ONLY_NAMES}."
            if expression
            else f"the `$` {where} doesn't start a placeholder; write `$$` for a dollar sign, or "
            "`${field}`.",
        )

    def check(self, names: Iterable[str], params_type: type | None, *, gated: bool = False) -> None:
        """Check that every placeholder is one of `names`, and show each in the form of its field.

        Warns with `ReprPlaceholderWarning` and `ForeignSyntaxWarning`.

        Args:
            names: The fields and the derived placeholders.
            params_type: The dataclass of the fields; None without parameters.
            gated: True if the text is shown only where the section's `enabled` allows it, which may
                keep values away that are None.

        Raises:
            PromptValidationError: A placeholder isn't a field; the error has near names. Or the
                forms of a field make no sense.
        """
        field_list = list(names)
        for placeholder in self.placeholders:
            if placeholder in field_list:
                continue
            near = near_names(placeholder, field_list)
            owner = (
                f"field of {params_type.__name__}"
                if params_type is not None
                else "field: the section takes no parameters (it is specialised with None)"
            )
            hint = (
                f" Did you mean {' or '.join(f'`${{{name}}}`' for name in near)}?" if near else ""
            )
            raise PromptValidationError.of_section(
                self.key,
                f"the placeholder `${{{placeholder}}}` of `{self.what}` isn't a {owner}.{hint} "
                "Write `$$` for a dollar sign.",
                placeholder=placeholder,
                dataclass_type=params_type,
                near=near,
            )
        fields = {*field_names(params_type)}
        if fields and not self.verbatim and "{" in self.source.replace("${", ""):
            from foldline.prompts.foreign_syntax import message, occurrences

            for match, name in occurrences(
                self.source, fields.difference(self.placeholders), fields.__contains__
            ):
                where = f"Section {self.key!r}, `{self.what}`"
                warn_author(f"{where}: {message(match, name)}", ForeignSyntaxWarning)
        if params_type is not None and self.placeholders:
            forms = forms_for(
                params_type, self.placeholders, key=self.key, what=self.what, gated=gated
            )
            if forms:
                self._slots = [
                    (part, name, indent, None if name is None else forms.get(name))
                    for part, name, indent, _ in self._slots
                ]
                self.check_fences()

    @property
    def untrusted(self) -> Sequence[str]:
        """The placeholders that show `Untrusted` values."""
        return [name for _, name, _, form in self._slots if name and form and form.untrusted]

    def check_fences(self, between: str | None = None) -> None:
        """Check that no fence of an untrusted text shares a line, here or in a list of the text."""
        fences = {name for _, name, _, form in self._slots if form is not None and form.alone}
        for match in Template.pattern.finditer(self.source) if fences else ():
            name = match["named"] or match["braced"]
            if name in fences and not is_alone(self.source, *match.span(), between):
                problem = refusals.untrusted_beside(name)
                raise PromptValidationError.of_section(self.key, problem, placeholder=name)

    def substitute(self, params: object, derived: Mapping[str, str]) -> Sequence[Segment]:
        """Return the text's segments, with fields of `params` and `derived` texts filled in.

        Raises:
            PromptRenderError: A field can't be read or turned into text.
        """
        if not self.placeholders:
            return self.parts
        segments: list[Segment] = []
        for part, name, indent, form in self._slots:
            if name is None:
                segments.append(part)
            elif derived and name in derived:
                segments.append(Segment(SegmentKind.DERIVED, derived[name], name))
            else:
                try:
                    value = getattr(params, name)
                    text = (str if form is None else form.text)(value)
                except Exception as error:
                    why = f"could not be turned into text: {type(error).__name__}: {error}"
                    raise PromptRenderError.of_section(
                        self.key,
                        f"`${{{name}}}` {why}",
                        placeholder=name,
                        dataclass_type=type(params),
                    ) from error
                if value is None and "None" in text:
                    warn_of_none(type(params), name, key=self.key, what=self.what)
                if indent and "\n" in text:
                    text = indented(text, indent)
                segments.append(Segment(SegmentKind.PARAM, text, name))
        return segments


def is_alone(text: str, start: int, end: int, between: str | None = None) -> bool:
    """Return True if a part of a text, or of a list of it, is alone on a line after a blank one."""
    between = "\n\n" if between is None else between
    before, after = f"{text}{between}{text[:start]}", f"{text[end:]}{between}{text}"
    starts = re.search(r"\n[ \t]*\n {0,3}\Z", before)
    return starts is not None and not after.partition("\n")[0].strip()


def line_indent(text: str, offset: int) -> str:
    """Return the blanks that the line of an offset begins with."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]
