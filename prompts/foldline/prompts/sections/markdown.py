"""Markdown sections, of which most prompts consist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms.segments import Segment
from foldline.prompts.forms.templating import CompiledTemplate
from foldline.prompts.sections.section import ParamsT_co, Section
from foldline.prompts.specialise import field_names, with_constructor
from foldline.prompts.visibility import SectionVisibility


@with_constructor
class MarkdownSection(Section[ParamsT_co]):
    """A section whose text is a Markdown template.

    The template and the summary are dedented and stripped; `${field}` stands for a field of the
    parameters and `$$` for a dollar sign. There is no other syntax. Values are inserted verbatim,
    and never parsed as templates.

    >>> from foldline.prompts.dataclasses import FrozenDataclass
    >>> @FrozenDataclass()
    ... class Tone:
    ...     tone: str
    >>> section = MarkdownSection[Tone](title="Tone", key="tone", template="Be ${tone}.")
    >>> section.render(Tone(tone="brief"))
    'Be brief.'

    Args:
        title: The heading, one line of literal text.
        key: The name within the parent.
        template: The full text.
        summary: The text while the section is summarized; required for that.
        children: The child sections, in order.
        tools: The tools that the model has while the section is shown in full.
        enabled: Decides from the parameters if a render includes the section.
        default_params: Used if no parameters of the type are bound.
        accepts_overrides: Let stored overrides replace the text.
        visibility: FULL, SUMMARY, or a callable that accepts the parameters or nothing, and
            optionally `session`.
        role: The role of the message that shows the section: `system`, `developer` or `user`.
            Only top-level sections have one of their own; those below are in the same message.
        priority: With `Fit`, `low` goes before `medium` and `high`; that of the most important
            section inside counts.
        fit: What `Fit` may do: `fold` shows the summary, if there is one; `drop` may also leave the
            section out, with all inside; `keep` leaves the section and all around it as they are.

    Raises:
        PromptValidationError: A placeholder isn't a field, a `$` doesn't start a placeholder, the
            visibility is SUMMARY without a summary, or another argument can never work.
    """

    template: str
    summary: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._template = self._compiled(self.template, "template")
        summary = self.summary
        self._summary = None if summary is None else self._compiled(summary, "summary")
        if self.visibility is SectionVisibility.SUMMARY and not self.has_summary:
            raise PromptValidationError(
                f"Section {self.key!r} has the visibility SUMMARY but no `summary` text; give it "
                "one.",
                section_path=(self.key,),
            )

    @property
    def has_summary(self) -> bool:
        """True if the section has a summary text."""
        return self._summary is not None and bool(self._summary.source)

    @property
    def source_text(self) -> str:
        """The template, dedented and stripped, with its placeholders."""
        return self._template.source

    @property
    def summary_text(self) -> str | None:
        """The summary, dedented and stripped, with its placeholders."""
        return None if self._summary is None else self._summary.source

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Placeholders of the template and the summary, in order of appearance."""
        summary = () if self._summary is None else self._summary.placeholders
        return tuple(dict.fromkeys((*self._template.placeholders, *summary)))

    def derive(self, params: ParamsT_co) -> Mapping[str, str]:  # type: ignore[misc]
        """Return the texts of `derived_placeholders` for these parameters."""
        return {}

    def render_body(self, params: ParamsT_co) -> Sequence[Segment]:  # type: ignore[misc]  # The renderer passes the section's own type only.
        """Return the template with the parameters filled in."""
        return self._template.substitute(params, self.derive(params))

    def render_summary(self, params: ParamsT_co) -> Sequence[Segment] | None:  # type: ignore[misc]  # As above.
        """Return the summary with the parameters filled in; None without a summary text."""
        if self._summary is None or not self._summary.source:
            return None
        return self._summary.substitute(params, self.derive(params))

    def _compiled(self, text: str, what: str) -> CompiledTemplate:
        before: CompiledTemplate | None = vars(self).get(f"_{what}")
        if before is not None and before.text is text and before.key == self.key:
            return before  # A clone's text has been checked, with its warnings.
        compiled = CompiledTemplate(text, key=self.key, what=what)
        if self.is_specialised:
            names, kind = self._names_for(what)
            gated = self.enabled is not None or type(self).is_enabled is not Section.is_enabled
            # A section with its own parameters is left out; an item of a list isn't.
            compiled.check(names, kind, gated=gated and kind is self.params_type)
        return compiled

    @property
    def untrusted(self) -> Sequence[str]:
        """The placeholders that show `Untrusted` values."""
        texts = [text for text in vars(self).values() if isinstance(text, CompiledTemplate)]
        return [name for text in texts for name in text.untrusted]

    def _names_for(self, what: str) -> tuple[tuple[str, ...], type | None]:
        """Return the placeholders that a text may have, and the dataclass whose fields they are."""
        kind = self.params_type
        return (*field_names(kind), *self.derived_placeholders), kind
