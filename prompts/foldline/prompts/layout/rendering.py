"""The render pipeline: enabled → visibility → substitution → pieces.

`layout.assemble` joins the pieces, so that text and blocks can't disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from foldline.prompts import errors, refusals
from foldline.prompts.forms.fields import declared_fields, is_required
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.layout.binding import Bindings
from foldline.prompts.layout.layout import Piece, piece
from foldline.prompts.sections.section import as_segments
from foldline.prompts.specialise import type_name
from foldline.prompts.visibility import SectionPath, SectionVisibility

if TYPE_CHECKING:
    from foldline.prompts.layout.tree import Node, Plan


@dataclass(slots=True, eq=False, repr=False)
class RenderPass:
    """One render of a plan, with its parameters, overrides and session.

    The result keeps it, to show a section later as it would be if opened.
    """

    plan: Plan
    bindings: Bindings
    _: KW_ONLY
    overrides: Mapping[SectionPath, SectionVisibility] = field(default_factory=dict)
    session: object | None = None
    session_overrides: Mapping[SectionPath, SectionVisibility] = field(default_factory=dict)
    fitted: Mapping[SectionPath, SectionVisibility | None] = field(default_factory=dict)
    """Sections that `fit` summarizes, or leaves out (None); overrides that open them win."""
    _built: dict[type, object] = field(init=False, default_factory=dict)

    def pieces(
        self,
        nodes: Iterable[Node],
        *,
        opened: Node | None = None,
        on_error: errors.ErrorHandler | None = None,
    ) -> list[Piece[Node]]:
        """Return the pieces of these sections and those below them, parents first.

        The section `opened` is shown in full whatever its visibility is. `on_error` returns the
        text for a section that can't be rendered; by default that raises.
        """
        pieces: list[Piece[Node]] = []
        for node in nodes:
            self._visit(node, pieces, opened, on_error)
        return pieces

    def _visit(
        self,
        node: Node,
        pieces: list[Piece[Node]],
        opened: Node | None,
        on_error: errors.ErrorHandler | None,
    ) -> None:
        try:
            piece = self.piece(node, SectionVisibility.FULL if node is opened else None)
        except errors.PromptError as error:
            if on_error is None:
                raise
            piece = self._failed(node, on_error(node.path, error))
        pieces.append(piece)
        if piece.enabled and piece.visibility is SectionVisibility.FULL:
            for child in node.children:
                self._visit(child, pieces, opened, on_error)

    def piece(self, node: Node, shown: SectionVisibility | None = None) -> Piece[Node]:
        """Return the section's piece, shown as it is or as `shown`; `PromptError` if it can't."""
        section = node.section
        try:
            params, bound = self.params(node)
            left_out = node.path in self.fitted and self.fitted[node.path] is None
            if left_out or (node.gated and not section.is_enabled(params, session=self.session)):
                return Piece(node, False, node.declared or SectionVisibility.FULL, [])
            visibility = shown or self.visibility(node, params)
            if visibility is SectionVisibility.FULL:
                body, note = as_segments(section.render_body(params)), None
            else:
                body = self._summary(node, params)
                keys = [child.section.key for child in node.children if self.is_shown(child)]
                note = node.note(self.plan.wording, keys)
            return piece(node, visibility, body if bound else _as_defaults(body), note)
        except errors.PromptError as error:
            raise located(error, node) from error.__cause__
        except Exception as error:
            raise errors.PromptRenderError(
                f"Section {node.dotted!r} could not be rendered: {type(error).__name__}: {error}",
                section_path=node.path,
                dataclass_type=node.params_type,
            ) from error

    def _failed(self, node: Node, text: str) -> Piece[Node]:
        """Return a piece with `text` for a body, for a section that failed."""
        visibility = self._wanted(node) or SectionVisibility.FULL
        return piece(node, visibility, [Segment(SegmentKind.ERROR, text)])

    def params(self, node: Node) -> tuple[object, bool]:
        """Return the parameters of a section, and True if they are bound.

        Raises:
            PromptRenderError: There are none, and their type needs arguments.
        """
        kind = node.params_type
        if kind is None:
            return None, True
        bindings = self.bindings
        if bindings.by_section and node.dotted in bindings.by_section:
            return bindings.by_section[node.dotted], True
        if kind in bindings.by_type:
            return bindings.by_type[kind], True
        default = node.section.default_params
        if default is None:
            default = self.plan.defaults.get(kind)
        if default is None:
            default = self._built.get(kind)
        if default is None:
            default = self._built[kind] = without_arguments(
                kind, f"Section {node.dotted!r}", node.path
            )
        return default, False

    def visibility(self, node: Node, params: object) -> SectionVisibility:
        """Return the explicit override, else the session's, else the declared visibility."""
        return self._wanted(node) or node.section.visibility_for(params, session=self.session)

    def _wanted(self, node: Node) -> SectionVisibility | None:
        """Return the overridden visibility, if any."""
        return (
            (self.overrides and self.overrides.get(node.path))
            or (self.session_overrides and self.session_overrides.get(node.path))
            or (self.fitted and self.fitted.get(node.path))
            or node.declared
        )

    def opened_paths(self) -> set[SectionPath]:
        """Return the sections that overrides open, and those around them."""
        overrides = {**self.session_overrides, **self.overrides}
        return {
            path[:end]
            for path, visibility in overrides.items()
            if visibility is SectionVisibility.FULL
            for end in range(1, len(path) + 1)
        }

    def is_shown(self, node: Node) -> bool:
        """Return True if a hidden section would probably exist if its parent were open."""
        try:
            params, _ = self.params(node)
        except errors.PromptRenderError:
            return True
        try:
            return node.section.is_enabled(params, session=self.session)
        except errors.PromptError as error:
            raise located(error, node) from error.__cause__

    def would_be_summarized(self, node: Node) -> bool:
        """Return True if a hidden section would be summarized if its parent were open."""
        try:
            params, _ = self.params(node)
        except errors.PromptRenderError:
            return True
        return self.visibility(node, params) is SectionVisibility.SUMMARY

    def _summary(self, node: Node, params: object) -> Sequence[Segment]:
        summary = node.section.render_summary(params)
        if summary is None:
            raise errors.PromptValidationError(
                refusals.no_summary(repr(node.dotted)), section_path=node.path
            )
        return as_segments(summary)


def checked_overrides(
    overrides: Mapping[SectionPath, SectionVisibility] | None, plan: Plan
) -> Mapping[SectionPath, SectionVisibility]:
    """Return a copy of the overrides.

    Raises:
        PromptValidationError: A path isn't that of a section, or a value isn't a visibility.
    """
    if not overrides:
        return {}
    if not isinstance(overrides, Mapping):
        raise errors.PromptValidationError(
            f"`visibility_overrides` is a mapping of paths to visibilities, not {overrides!r}."
        )
    for path, visibility in overrides.items():
        if not isinstance(path, tuple):
            node = plan.by_dotted.get(path)
            keys = tuple(str(path).split(".")) if node is None else node.path
            raise errors.PromptValidationError(refusals.override_needs_path(repr(path), repr(keys)))
        if not any(path in paths for paths in (plan.by_path, plan.inert_paths, plan.chapter_paths)):
            raise errors.PromptValidationError.unknown(
                f"The visibility override for {path!r} matches no section",
                ".".join(map(str, path)),
                plan.by_dotted,
                section_path=path,
            )
        if not isinstance(visibility, SectionVisibility):
            raise errors.PromptValidationError(
                refusals.override_needs_visibility(repr(path), repr(visibility)),
                section_path=path,
            )
    return dict(overrides)


def located(error: errors.PromptError, node: Node) -> errors.PromptError:
    """Add the section's full path to an error; the section itself knows only its key."""
    if error.section_path in ((), (node.section.key,)):
        error.section_path = node.path
    return error


def _as_defaults(body: Iterable[Segment]) -> list[Segment]:
    return [
        Segment(SegmentKind.DEFAULT, segment.text, segment.field)
        if segment.kind is SegmentKind.PARAM
        else segment
        for segment in body
    ]


def without_arguments(kind: type, who: str, path: SectionPath) -> object:
    """Return an instance of the dataclass from its defaults.

    Raises:
        PromptRenderError: It has fields without a default, or refuses its defaults.
    """
    missing = [field.name for field in declared_fields(kind) if is_required(field)]
    if missing:
        raise errors.PromptRenderError(
            f"{who} needs parameters: bind an instance of {type_name(kind)} "
            f"(no default for {', '.join(missing)}).",
            section_path=path,
            placeholder=missing[0],
            dataclass_type=kind,
        )
    try:
        return kind()
    except Exception as error:
        raise errors.PromptRenderError(
            f"{who} needs parameters: {type_name(kind)}() raised "
            f"{type(error).__name__}: {error}; bind an instance.",
            section_path=path,
            dataclass_type=kind,
        ) from error
