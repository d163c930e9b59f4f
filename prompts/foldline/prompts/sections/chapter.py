"""Chapters: coarse gates around sections, closed until an evaluation opens them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NoReturn

from foldline.prompts import refusals
from foldline.prompts.errors import PromptRenderError, PromptValidationError
from foldline.prompts.roles import Role
from foldline.prompts.sections.section import ParamsT_co, Section, checked_items
from foldline.prompts.visibility import SectionVisibility


class Chapter(Section[ParamsT_co]):
    """A group of sections that enter a prompt together or not at all.

    A chapter is closed unless an evaluation opens it (`PromptTemplate.expand_chapters`). An open
    chapter dissolves: its sections take its place, with headings, numbers and paths of their own.
    A chapter has no text and no tools itself.

    Args:
        key: The name, unique among the chapters of the prompt.
        title: A headline for people and classifiers; it is not rendered.
        description: Its purpose, and how sensitive it is.
        sections: The sections that an open chapter adds to the prompt.
        enabled: Decides from the chapter's parameters if it may open.
        default_params: The chapter's parameters if none are bound.
        keywords: Terms for the intent classifier.
        role: The role of the sections that declare none themselves; for top-level chapters.

    Raises:
        PromptValidationError: An argument can never work.
    """

    constructor_arguments: ClassVar[tuple[str, ...]] = (
        "key",
        "title",
        "description",
        "sections",
        "enabled",
        "default_params",
        "keywords",
        "role",
    )

    description: str | None
    keywords: tuple[str, ...]

    def __init__(
        self,
        *,
        key: str,
        title: str,
        description: str | None = None,
        sections: Sequence[Section[object]] = (),
        enabled: Callable[[ParamsT_co], bool] | None = None,
        default_params: ParamsT_co | None = None,
        keywords: Sequence[str] = (),
        role: Role | str | None = None,
        tools: Sequence[object] = (),
    ) -> None:
        if tools:
            raise PromptValidationError(
                f"Chapter {key!r} cannot have tools; give them to the sections inside.",
                section_path=(key,),
            )
        vars(self).update(description=description, keywords=keywords)
        super().__init__(
            title=title,
            key=key,
            children=sections,
            enabled=enabled,
            default_params=default_params,
            role=role,
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        attributes = vars(self)
        keywords = attributes["keywords"]
        items = (keywords,) if isinstance(keywords, str) else keywords
        attributes["keywords"] = tuple(checked_items(items, "keywords", self.key))

    @property
    def sections(self) -> tuple[Section[object], ...]:
        """The sections that an open chapter adds to the prompt."""
        return self.children

    def set_arguments(self, values: Mapping[str, object]) -> None:
        super().set_arguments(
            {"children" if name == "sections" else name: value for name, value in values.items()}
        )

    def render_body(self, params: ParamsT_co) -> NoReturn:  # type: ignore[misc]
        """Raise: a chapter has no text."""
        raise self._not_rendered()

    def render(
        self,
        params: ParamsT_co | None = None,
        *,
        visibility: SectionVisibility | None = None,
    ) -> NoReturn:
        """Raise: a chapter has no text."""
        raise self._not_rendered()

    def _not_rendered(self) -> PromptRenderError:
        return PromptRenderError(
            f"Chapter {self.key!r} {refusals.NO_CHAPTER_TEXT}", section_path=(self.key,)
        )
