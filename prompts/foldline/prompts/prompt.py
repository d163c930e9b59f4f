"""A template with parameters bound to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Never, NoReturn, Self

from foldline.prompts import errors, refusals
from foldline.prompts.disclosure.disclosure import disclosure_param_descriptions, disclosure_tools
from foldline.prompts.forms.tags import LATEST
from foldline.prompts.layout.binding import Bindings
from foldline.prompts.layout.fitting import Fit, Fitted, fitted
from foldline.prompts.layout.layout import Piece, assemble
from foldline.prompts.layout.rendering import RenderPass, checked_overrides
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.specialise import field_names, type_name
from foldline.prompts.template import OutputT_co, PromptTemplate
from foldline.prompts.tool import Tool
from foldline.prompts.visibility import SectionPath, SectionVisibility, session_overrides
from foldline.prompts.wording import Wording

if TYPE_CHECKING:
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.expansion import ChaptersExpansionPolicy
    from foldline.prompts.layout.tree import Node
    from foldline.prompts.overrides.overrides import OverrideSource
    from foldline.prompts.sections.intent import IntentClassifier


class Prompt(Generic[OutputT_co]):
    """A template and the parameters it is rendered with, one instance per dataclass.

    >>> from foldline.prompts import MarkdownSection, PromptTemplate
    >>> from foldline.prompts.dataclasses import FrozenDataclass
    >>> @FrozenDataclass()
    ... class Greeting:
    ...     name: str
    >>> template = PromptTemplate(
    ...     ns="demo",
    ...     key="greeting",
    ...     sections=[MarkdownSection[Greeting](title="Hi", key="hi", template="Hello ${name}!")],
    ... )
    >>> print(Prompt(template).bind(Greeting(name="Ada")).render().text)
    ## 1. Hi
    <BLANKLINE>
    Hello Ada!

    Templates can be shared by threads; a prompt belongs to one at a time.
    """

    def __init__(self, template: PromptTemplate[OutputT_co]) -> None:
        if not isinstance(template, PromptTemplate):
            raise errors.PromptValidationError(refusals.not_a_template(type_name(type(template))))
        self.template = template
        """The template that is rendered: with the bound overrides and wording."""
        self._texts = _Texts(template)
        self._bindings = Bindings()

    @property
    def ns(self) -> str:
        """The template's namespace."""
        return self.template.ns

    @property
    def key(self) -> str:
        """The template's key."""
        return self.template.key

    @property
    def name(self) -> str | None:
        """The template's name."""
        return self.template.name

    @property
    def params(self) -> tuple[object, ...]:
        """The bound instances, in the order in which their types were first bound."""
        return tuple(self._bindings.by_type.values())

    @property
    def section_params(self) -> Mapping[str, object]:
        """The instances bound to single sections, by dotted key."""
        return MappingProxyType(dict(self._bindings.by_section))

    def bind(
        self,
        *params: object,
        section_params: Mapping[str, object] | None = None,
        overrides: OverrideSource | None = None,
        tag: str | None = None,
        wording: Wording | None = None,
        **unknown: Never,
    ) -> Self:
        """Bind instances in this prompt, replacing those of the same type, and return the prompt.

        All that share the prompt get them, too; `template.bind`, `render` and `copy.copy` leave it
        as it is. Two instances of one type in one call are ambiguous, and make the next render fail
        until that type is bound again. Sections that share a dataclass and not its values get
        theirs by key:

        >>> from foldline.prompts import MarkdownSection, PromptTemplate
        >>> from foldline.prompts.dataclasses import FrozenDataclass
        >>> @FrozenDataclass()
        ... class Person:
        ...     name: str
        >>> def person(key: str) -> MarkdownSection[Person]:
        ...     return MarkdownSection[Person](title=key.title(), key=key, template="${name}")
        >>> people = [person("buyer"), person("seller")]
        >>> template = PromptTemplate(ns="demo", key="people", sections=people)
        >>> prompt = Prompt(template).bind(Person("Ada"), section_params={"seller": Person("Bob")})
        >>> [line for line in prompt.render().text.splitlines() if line in ("Ada", "Bob")]
        ['Ada', 'Bob']

        Args:
            params: Instances for all sections of their type.
            section_params: Instances for one section each, by dotted key; they replace those of
                the same section, and take precedence over `params`. Sections inside of that one
                need their own.
            overrides: Stored replacements of texts, such as an `OverridesStore`. They are loaded
                now, and stay until others are bound; `template.override_issues` says which weren't
                applied.
            tag: The tag of the overrides, such as `shorter` or the language `de-CH`; `latest` by
                default. Texts that it lacks are those of the tags that it falls back to, see
                `fallback_tags`. Without `overrides`, another tag of those that are bound.
            wording: The library's own sentences, in place of the template's.
            unknown: Refused: the values of fields are bound as instances of their dataclass.

        Raises:
            PromptValidationError: An argument isn't an instance of a dataclass, or
                `section_params` has a key that no section has or an instance that its section
                doesn't take; or there are no overrides for a tag, or they aren't the prompt's.
        """
        if unknown:
            self._refuse_keywords(self.bind, unknown)
        bindings = self._bound_with(params, section_params)
        if not (overrides is None and tag is None and wording is None):
            self._change_texts(overrides, tag, wording)
        self._bindings = bindings
        return self

    def render(
        self,
        *params: object,
        section_params: Mapping[str, object] | None = None,
        visibility_overrides: Mapping[SectionPath, SectionVisibility] | None = None,
        session: object | None = None,
        deadline: Deadline | None = None,
        on_error: errors.ErrorHandler | None = None,
        fit: Fit | Fitted | None = None,
        **unknown: Never,
    ) -> RenderedPrompt[OutputT_co]:
        """Render the prompt with its bound parameters.

        Args:
            params: Instances for this render only, replacing bound ones of the same type.
            section_params: Instances for single sections, for this render only, by dotted key.
            visibility_overrides: Sections to show in full or summarized, by path.
            session: Passed to visibility callables that ask for it. A `VisibilityOverrideSource`
                also overrides visibilities; explicit overrides take precedence.
            deadline: Stored in the result, for its evaluation.
            on_error: For previews, never for a model: called with the path and the error of each
                section that can't be rendered, it returns the text to show instead; the other
                sections are rendered as usual.
            fit: The budget of the text, as in `Fit(tokens=8000)`: sections are summarized or left
                out until it fits. The result's `fitted` says which, and so does a line at the end.
            unknown: Refused: the values of fields are bound as instances of their dataclass.

        Raises:
            PromptValidationError: A type is bound twice or not used by any section, or an override
                or an instance of `section_params` doesn't fit a section.
            PromptRenderError: Parameters are missing, an author's callable raised, or no form that
                the sections allow fits.
        """
        if unknown:
            self._refuse_keywords(self.render, unknown)
        bindings = self._bound_with(params, section_params)
        plan = self.template.plan
        bindings.check(plan, plan.prompt)
        source = RenderPass(
            plan,
            bindings,
            overrides=checked_overrides(visibility_overrides, plan),
            session=session,
            session_overrides=session_overrides(session, plan.prompt),
        )
        pieces: Sequence[Piece[Node]] = source.pieces(plan.roots, on_error=on_error)
        shortened = None
        if fit is not None:
            shortened, pieces = fitted(source, pieces, fit, on_error)
        text, blocks = assemble(pieces)
        tools: list[Tool[object, object]] = [
            tool
            for piece in pieces
            if piece.enabled and piece.visibility is SectionVisibility.FULL
            for tool in piece.node.section.tools
        ]
        disclosing = disclosure_tools(source, pieces)
        return RenderedPrompt(
            text=text,
            structured_output=self.template.structured_output,
            deadline=deadline,
            descriptor=self.template.descriptor,
            blocks=blocks,
            _tools=(*tools, *disclosing),
            override_issues=self.template.override_issues,
            _tool_param_descriptions={
                **disclosure_param_descriptions(plan.wording, disclosing),
                **(self.template.tool_param_descriptions or {}),
            },
            _source=source,
            fitted=shortened,
        )

    def expand_chapters(
        self,
        policy: ChaptersExpansionPolicy | str = "all_included",
        *,
        chapter_params: Mapping[str, object] | None = None,
        goal_section_key: str | None = None,
        classifier: IntentClassifier | None = None,
        only: Collection[str] | None = None,
        session: object | None = None,
        said: Sequence[str] = (),
    ) -> Prompt[OutputT_co]:
        """Return a new prompt of the expanded template, with the same parameters bound.

        See `PromptTemplate.expand_chapters`.
        """
        expanded = Prompt(
            self.template.expand_chapters(
                policy,
                params=self.params,
                section_params=self.section_params,
                chapter_params=chapter_params,
                goal_section_key=goal_section_key,
                classifier=classifier,
                only=only,
                session=session,
                said=said,
            )
        )
        expanded._bindings = self._bindings
        if self._texts.overrides is not None:
            # With the chapters, the texts that overrides refer to are gone.
            has_chapters = bool(self.template.plan.chapter_paths)
            expanded._texts = replace(self._texts, dissolved=has_chapters)
        return expanded

    def __repr__(self) -> str:
        types = (type_name(kind) for kind in self._bindings.by_type)
        return (
            f"<Prompt {self.ns}/{self.key} bound to ({', '.join((*types, *self.section_params))})>"
        )

    def _change_texts(
        self, overrides: OverrideSource | None, tag: str | None, wording: Wording | None
    ) -> None:
        texts = self._texts
        if texts.dissolved and overrides is None and tag is None and wording is not None:
            self.template = self.template.with_wording(wording)
            self._texts = replace(texts, wording=wording)
            return
        if texts.dissolved:
            raise errors.PromptConfigurationError(
                f"{self.ns}/{self.key}: the chapters of a prompt with overrides are expanded; bind "
                "other overrides before `expand_chapters`."
            )
        if overrides is not None:
            if not callable(getattr(overrides, "load", None)):
                raise errors.PromptConfigurationError(
                    f"{self.ns}/{self.key}: `overrides` is an OverridesStore, or has its method "
                    f"`load`; it can't be {overrides!r}."
                )
            texts = replace(texts, overrides=overrides, tag=LATEST)
        if tag is not None:
            if texts.overrides is None:
                raise errors.PromptConfigurationError(
                    f"{self.ns}/{self.key}: the tag {tag!r} is that of overrides; give "
                    "`overrides`, such as an OverridesStore."
                )
            texts = replace(texts, tag=tag)
        if wording is not None:
            texts = replace(texts, wording=wording)
        self.template, self._texts = texts.template(), texts

    def _bound_with(
        self, params: tuple[object, ...], section_params: Mapping[str, object] | None
    ) -> Bindings:
        bindings = self._bindings
        if params:
            bindings = bindings.with_params(params)
        if section_params is not None:
            bindings = bindings.with_section_params(section_params, self.template.plan)
        return bindings

    def _refuse_keywords(
        self, method: Callable[..., object], unknown: Mapping[str, object]
    ) -> NoReturn:
        parameters = signature(method).parameters.values()
        options = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
        name = next(iter(unknown))
        near = errors.near_names(name, options)
        owners = sorted(
            type_name(kind) for kind in self.template.plan.known_types if name in field_names(kind)
        )
        if owners:
            hint = f"; bind an instance: {method.__name__}({owners[0]}({name}=…))"
        else:
            hint = errors.did_you_mean(near, f"; its keywords are {', '.join(options)}.")
        raise errors.PromptValidationError(
            f"`{method.__name__}` has no keyword {name!r}{hint}", near=near
        )


@dataclass(frozen=True, slots=True)
class _Texts(Generic[OutputT_co]):
    """The template of a prompt, and where its texts come from instead."""

    declared: PromptTemplate[OutputT_co]
    overrides: OverrideSource | None = None
    tag: str = LATEST
    wording: Wording | None = None
    dissolved: bool = False
    """True if the chapters of the prompt's template dissolved, and those of `declared` didn't."""

    def template(self) -> PromptTemplate[OutputT_co]:
        """Return the template with the other texts; loads the overrides."""
        template = self.declared
        if self.wording is not None:
            template = template.with_wording(self.wording)
        if self.overrides is None:
            return template
        from foldline.prompts.overrides.overrides import bind_overrides

        return bind_overrides(template, self.overrides, self.tag)
