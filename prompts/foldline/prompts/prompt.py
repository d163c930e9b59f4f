"""A template with parameters bound to it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Generic, Never, NoReturn

from foldline.prompts.disclosure import disclosure_tools
from foldline.prompts.errors import PromptValidationError, did_you_mean, near_names
from foldline.prompts.layout import assemble
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.rendering import RenderPass, checked_overrides
from foldline.prompts.specialise import field_names, type_name
from foldline.prompts.template import OutputT_co, PromptTemplate
from foldline.prompts.visibility import SectionVisibility, VisibilityOverrideSource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Self

    from foldline.prompts.deadline import Deadline
    from foldline.prompts.errors import ErrorHandler
    from foldline.prompts.expansion import ChaptersExpansionPolicy
    from foldline.prompts.intent import IntentClassifier
    from foldline.prompts.tool import Tool
    from foldline.prompts.visibility import SectionPath

__all__ = ["Prompt"]


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
            raise PromptValidationError(
                f"Prompt(…) wraps a PromptTemplate, not {type_name(type(template))}."
            )
        self.template = template
        self._bound: dict[type, object] = {}
        self._repeated: set[type] = set()

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
        return tuple(self._bound.values())

    def bind(self, *params: object) -> Self:
        """Bind instances in this prompt, replacing those of the same type, and return the prompt.

        Two instances of one type in one call are ambiguous, and make the next render fail until
        that type is bound again.

        Raises:
            PromptValidationError: An argument isn't an instance of a dataclass.
        """
        self._bound, self._repeated = self._with(params)
        return self

    def render(
        self,
        *params: object,
        visibility_overrides: Mapping[SectionPath, SectionVisibility] | None = None,
        session: object | None = None,
        deadline: Deadline | None = None,
        on_error: ErrorHandler | None = None,
        **unknown: Never,
    ) -> RenderedPrompt[OutputT_co]:
        """Render the prompt with its bound parameters.

        Args:
            params: Instances for this render only, replacing bound ones of the same type.
            visibility_overrides: Sections to show in full or summarized, by path.
            session: Passed to visibility callables that ask for it. A `VisibilityOverrideSource`
                also overrides visibilities; explicit overrides take precedence.
            deadline: Stored in the result, for its evaluation.
            on_error: For previews, never for a model: called with the path and the error of each
                section that can't be rendered, it returns the text to show instead; the other
                sections are rendered as usual.
            unknown: Refused: the values of fields are bound as instances of their dataclass.

        Raises:
            PromptValidationError: A type is bound twice or not used by any section, or an override
                is for an unknown section or one without a summary.
            PromptRenderError: Parameters are missing, or an author's callable raised.
        """
        if unknown:
            self._refuse_keywords(unknown)
        bound, repeated = self._with(params) if params else (self._bound, self._repeated)
        plan = self.template.plan
        self._check(bound, repeated)
        source = RenderPass(
            plan,
            dict(bound),
            overrides=checked_overrides(visibility_overrides, plan),
            session=session,
            session_overrides=(
                dict(session.visibility_overrides())
                if isinstance(session, VisibilityOverrideSource)
                else {}
            ),
        )
        pieces = source.pieces(plan.roots, on_error=on_error)
        text, blocks = assemble(pieces)
        tools: list[Tool[object, object]] = [
            tool
            for piece in pieces
            if piece.enabled and piece.visibility is SectionVisibility.FULL
            for tool in piece.node.section.tools
        ]
        return RenderedPrompt(
            text=text,
            structured_output=self.template.structured_output,
            deadline=deadline,
            descriptor=self.template.descriptor,
            blocks=blocks,
            _tools=(*tools, *disclosure_tools(source, pieces)),
            _tool_param_descriptions=self.template.tool_param_descriptions,
            _source=source,
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
    ) -> Prompt[OutputT_co]:
        """Return a new prompt of the expanded template, with the same parameters bound.

        See `PromptTemplate.expand_chapters`.
        """
        expanded = Prompt(
            self.template.expand_chapters(
                policy,
                params=self.params,
                chapter_params=chapter_params,
                goal_section_key=goal_section_key,
                classifier=classifier,
                only=only,
                session=session,
            )
        )
        expanded._bound, expanded._repeated = dict(self._bound), set(self._repeated)
        return expanded

    def __repr__(self) -> str:
        bound = ", ".join(type_name(kind) for kind in self._bound)
        return f"<Prompt {self.ns}/{self.key} bound to ({bound})>"

    def _with(self, params: Iterable[object]) -> tuple[dict[type, object], set[type]]:
        given = tuple(params)
        for item in given:
            if isinstance(item, type) or not hasattr(type(item), "__dataclass_fields__"):
                shown = type_name(item) if isinstance(item, type) else repr(item)
                raise PromptValidationError(
                    f"Only instances of dataclasses can be bound, not {shown}.",
                    dataclass_type=item if isinstance(item, type) else type(item),
                )
        counts = Counter(type(item) for item in given)
        bound = {**self._bound, **{type(item): item for item in given}}
        repeated = (self._repeated - counts.keys()) | {k for k, n in counts.items() if n > 1}
        return bound, repeated

    def _refuse_keywords(self, unknown: Mapping[str, object]) -> NoReturn:
        name = next(iter(unknown))
        options = ("visibility_overrides", "session", "deadline", "on_error")
        near = near_names(name, options)
        owners = sorted(
            type_name(kind) for kind in self.template.plan.known_types if name in field_names(kind)
        )
        if owners:
            hint = f"; bind an instance: render({owners[0]}({name}=…))"
        else:
            hint = did_you_mean(near, f"; its keywords are {', '.join(options)}.")
        raise PromptValidationError(f"`render` has no keyword {name!r}{hint}", near=near)

    def _check(self, bound: Mapping[type, object], repeated: set[type]) -> None:
        for kind in repeated:
            raise PromptValidationError(
                f"{type_name(kind)} was bound twice in one call; bind one instance.",
                dataclass_type=kind,
            )
        known = self.template.plan.known_types
        for kind in bound:
            if kind not in known:
                names = sorted(type_name(k) for k in known)
                base = next((k for k in kind.__mro__ if k in known), None)
                if base is not None:
                    raise PromptValidationError(
                        f"{type_name(kind)} is a subclass of {type_name(base)}, and sections take "
                        f"instances of their own type: bind a {type_name(base)}, or specialise the "
                        f"sections with {type_name(kind)}.",
                        dataclass_type=kind,
                        near=(type_name(base),),
                    )
                raise PromptValidationError(
                    f"No section of {self.ns}/{self.key} takes {type_name(kind)}; its sections "
                    f"take {', '.join(names) or 'no parameters'}.",
                    dataclass_type=kind,
                    near=near_names(type_name(kind), names),
                )
