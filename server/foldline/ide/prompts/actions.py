"""The actions on prompts, each written once and offered by every shell.

A `Change` gives a preview another view, a `Query` answers something. `ACTIONS` lists all of them.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from foldline.backends.base.reading import Between
from foldline.backends.base.waiting import in_thread
from foldline.ide.errors import ToolRefused, Untrusted
from foldline.ide.operations.operation import Doc, Role
from foldline.ide.previews.state import PreviewState, Steps
from foldline.ide.prompts.action import EITHER, PREVIEW, PROMPT, RENDERED, Action, Change, Query
from foldline.ide.prompts.request import IN_EDITOR, View
from foldline.ide.render.render import (
    OpenedSections,
    Render,
    RequestBody,
    SectionSummary,
    SectionText,
    ToolAnswer,
)
from foldline.ide.resolve import resolve
from foldline.ide.uris import file_of
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.previews.previews import Previews
    from foldline.ide.prompts.request import PromptRef
    from foldline.ide.render.diff import Comparison
    from foldline.ide.render.matrix import Matrix
    from foldline.ide.render.provenance import Occurrence, TextOrigin
    from foldline.ide.render.static import PromptTokens
    from foldline.ide.render.static_disclosure import StaticText
    from foldline.ide.sources.source import PromptSource
    from foldline.ide.workspace import Workspace

MAX_STEPS = 1000


class Fidelity(StrEnum):
    EXECUTED = "executed"
    STATIC = "static"


class BudgetUnit(StrEnum):
    TOKENS = "tokens"
    BYTES = "bytes"


Keys = Annotated[
    tuple[str, ...], Doc("open a summarized section, as a model does"), Role.KEY, Role.MODEL
]
Set = Annotated[str | None, Doc("the name of a parameter set, or `none`"), Role.KEY]
Values = Annotated[dict[str, dict[str, Any]] | None, Doc("fields by dataclass name or section key")]
Reason = Annotated[str, Doc("why", "why, in at most 256 characters"), Role.MODEL]


@record(kw_only=True)
class OpenSections(
    Action[Any],
    takes=RENDERED,
    event=True,
    description="Opens summarized sections of a prompt: their full text, and their tools.",
    option=True,
):
    """Opens summarized sections, as a model does.

    Without keys, it's all of them. In a preview it opens `chapters` too, which no tool opens, and
    answers the new state. Of a prompt it answers what the prompt's own tool asks for, and the
    prompt as it's rendered then.
    """

    section_keys: Keys = ()
    reason: Reason = IN_EDITOR
    chapters: Annotated[tuple[str, ...] | None, Doc("chapters to open"), Role.PEOPLE] = None

    async def on_prompt(self, workspace: Workspace, ref: PromptRef) -> OpenedSections | StaticText:
        keys, source = self.section_keys, await resolve(workspace, ref)
        if source.only_source:
            from foldline.ide.render.static_disclosure import open_statically

            return await open_statically(source, ref.view, keys, self.reason)
        wanted = keys if keys or ref.mode.for_model else None
        return await source.open_sections(ref.view, wanted, self.reason)

    async def on_preview(self, previews: Previews, session_id: str | None) -> PreviewState:
        preview = previews.find(session_id)
        if self.chapters:
            chapters = OpenChapters(chapters=self.chapters, reason=self.reason)
            state: PreviewState = await chapters.on_preview(previews, session_id)
            if not self.section_keys:
                return state
        return await previews.open_sections(preview, self.section_keys, self.reason)


@record(kw_only=True)
class OpenChapters(Change):
    """Opens chapters of a preview, as far as the prompt lets them."""

    chapters: tuple[str, ...]
    reason: Reason = IN_EDITOR

    @property
    def needs_trust(self) -> bool:
        # The prompt's code decides whether a chapter may open.
        return True

    def changed(self, view: View, shown: Render) -> View:
        shown_chapters = {chapter.key: chapter for chapter in shown.chapters}
        for key in self.chapters:
            if key not in shown_chapters:
                message = (
                    f"There is no chapter {key!r}; there is {', '.join(shown_chapters) or 'none'}"
                )
                raise ToolRefused(message, near=list(shown_chapters))
            if not shown_chapters[key].may_open:
                why = "; ".join(shown_chapters[key].reasons)
                raise ToolRefused(f"The chapter {key!r} stays closed: {why}")
        chapters = None if view.chapters is None else view.chapters | set(self.chapters)
        return view.step("open", self.chapters, self.reason, chapters=chapters)


@record(kw_only=True)
class CloseSections(Change, takes=PREVIEW, event=True):
    """Closes sections that a preview has opened.

    And chapters, each with those in it. Without any, it's all opened sections.
    """

    section_keys: Annotated[tuple[str, ...] | None, Doc("the sections"), Role.KEY] = None
    chapters: Annotated[tuple[str, ...] | None, Doc("the chapters")] = None

    def changed(self, view: View, shown: Render) -> View:
        everything = self.section_keys is None and self.chapters is None
        keys = tuple(sorted(view.opened) if everything else self.section_keys or ())
        ended = self.chapters or ()
        opened = [*sorted(view.opened), *(one.key for one in shown.chapters if one.open)]
        unknown = [key for key in (*keys, *ended) if key not in opened]
        if unknown:
            raise ToolRefused(
                f"{', '.join(unknown)}: not open in this preview; open are: "
                f"{', '.join(opened) or 'none'}",
                near=opened,
            )
        left = tuple(key for key in view.opened if key not in keys)
        left_open = frozenset(
            chapter.key
            for chapter in shown.chapters
            if (view.chapters is None or chapter.open)
            and not {chapter.key, *chapter.around} & set(ended)
        )
        return view.step(
            "close",
            (*keys, *ended),
            overrides={key: value for key, value in view.overrides.items() if key not in keys},
            opened=left,
            chapters=left_open if ended else view.chapters,
            instructions=view.instructions if left else None,
        )


@record(kw_only=True)
class SetParams(Change, takes=PREVIEW, event=True):
    """Shows a preview with other values, or another budget.

    What is left out stays as it is; without anything, the values that were set are taken back.
    """

    params: Values = None
    parameter_set: Annotated[str | None, Doc("the name of a parameter set, or `none`")] = None
    budget: Annotated[
        int | None,
        Doc("what the text may cost; 0 for no limit, not the project's"),
        Between(0),
    ] = None
    budget_unit: Annotated[BudgetUnit | None, Doc("what it costs: tokens or bytes")] = None

    @property
    def needs_trust(self) -> bool:
        values = (self.params, self.parameter_set) != (None, None)
        return values or (self.budget, self.budget_unit) == (None, None)

    def changed(self, view: View, shown: Render) -> View:
        nothing = self == SetParams()
        return view.step(
            "params",
            params={} if nothing else view.params if self.params is None else self.params,
            parameter_set=self.parameter_set or view.parameter_set,
            budget=view.budget if self.budget is None else self.budget,
            budget_unit=self.budget_unit or view.budget_unit,
        )


@record(kw_only=True)
class Reset(Change, takes=PREVIEW, event=True):
    """Undoes all steps of a preview.

    That is a step, too, which can be undone.
    """

    def changed(self, view: View, shown: Render) -> View:
        return View(action="reset")


@record(kw_only=True)
class Undo(Action[PreviewState], takes=PREVIEW, event=True):
    """Undoes the last step of a preview."""

    steps: Annotated[int, Doc("how many"), Role.PEOPLE] = 1

    async def on_preview(self, previews: Previews, session_id: str | None) -> PreviewState:
        preview = previews.find(session_id)
        for _ in range(min(self.steps, MAX_STEPS)):
            await previews.move(preview, lambda: preview.steps[:-1] or preview.steps)
        return preview.state()


@record(kw_only=True)
class PreviewPrompt(Action[PreviewState], takes=PROMPT):
    """Shows a prompt, and keeps it up to date until it is closed."""

    async def on_prompt(self, workspace: Workspace, ref: PromptRef) -> PreviewState:
        return await workspace.previews.open(ref.uri, ref.name)


@record(kw_only=True)
class ClosePreview(Action[None], takes=PREVIEW):
    """Closes a preview."""

    async def on_preview(self, previews: Previews, session_id: str | None) -> None:
        previews.close(session_id)


@record(kw_only=True)
class RenderPrompt(Query[Render], takes=RENDERED, event=True):
    """A prompt as a model would get it, from the editor's text.

    Of a preview, it's with other values; the preview stays as it is.
    """

    params: Values = None
    parameter_set: Set = None
    fidelity: Annotated[
        Fidelity, Doc("executed, or static, which executes nothing and needs no trust")
    ] = Fidelity.EXECUTED

    async def answer(self, source: PromptSource, view: View) -> Render:
        params = view.params if self.params is None else self.params
        chosen = self.parameter_set or view.parameter_set
        static = self.fidelity is Fidelity.STATIC and not source.mode.of_preview
        render = source.render_source if static else source.render
        return await render(replace(view, params=params, parameter_set=chosen))


@record(kw_only=True)
class ReadSection(
    Query["SectionText | StaticText"],
    takes=RENDERED,
    event=True,
    description="The full text of a summarized section of a prompt.",
):
    """A section's text, without opening it."""

    answers: ClassVar[type[Any]] = SectionText

    section_key: Annotated[
        str | None, Doc("the section; the first summarized one"), Role.KEY, Role.MODEL
    ] = None

    async def answer(self, source: PromptSource, view: View) -> SectionText | StaticText:
        if not source.only_source:
            return await Query.answer(self, source, view)
        from foldline.ide.render.static_disclosure import read_statically

        return await read_statically(source, view, self.section_key)


@record(kw_only=True)
class Summary(Query[SectionSummary], takes=RENDERED):
    """A section's summary, and its sizes."""

    answers: ClassVar[type[Any]] = SectionSummary

    section_key: Annotated[str | None, Doc("the section; the first summarized one"), Role.KEY] = (
        None
    )


@record(kw_only=True)
class CallPromptTool(
    Query[ToolAnswer], description="Calls a tool that a prompt names.", safe=False
):
    """The result of a call of the prompt's own tool."""

    answers: ClassVar[type[Any]] = ToolAnswer

    tool: Annotated[str, Doc("the name of the tool")]
    input: Annotated[dict[str, object] | None, Doc("its arguments", tool="the tool's")] = None

    async def answer(self, source: PromptSource, view: View) -> ToolAnswer:
        if source.only_source:
            message = "The tools of a prompt are its code, and this workspace is not trusted"
            raise Untrusted(message)
        return await Query.answer(self, source, view)


@record(kw_only=True)
class Body(Query[RequestBody]):
    """The JSON that an evaluation would send to a provider; nothing is sent."""

    answers: ClassVar[type[Any]] = RequestBody

    provider: Annotated[str, Doc("anthropic, openai or openai-responses")]
    model: Annotated[str, Doc("the model that it names")]
    loop: Annotated[bool, Doc("as `evaluate_with_disclosure` sends it")] = False


@record(kw_only=True)
class Tokens(Query["PromptTokens"], takes=PROMPT):
    """Token counts of a prompt and its sections, from source alone."""

    async def answer(self, source: PromptSource, view: View) -> PromptTokens:
        return await source.tokens()


@record(kw_only=True)
class Diff(Query["Comparison"], takes=EITHER, event=True):
    """The changes between two versions of a prompt.

    They are versions of a preview, or with `revision`, `REV` or `REV..REV`, what git has of the
    prompt, or the prompt with two parameter sets. Of a prompt without a preview, the revision is
    `HEAD` by default.
    """

    before: Annotated[int | None, Doc("a version of the preview; the one before `after`")] = None
    after: Annotated[int | None, Doc("a version of the preview; the newest")] = None
    revision: Annotated[str | None, Doc("`REV` or `REV..REV`")] = None
    before_set: Annotated[str | None, Doc("a parameter set, to compare with `after_set`")] = None
    after_set: Annotated[str | None, Doc("the other one; both by default the one in use")] = None

    @property
    def of_sets(self) -> bool:
        """True if it compares parameter sets."""
        return (self.before_set, self.after_set) != (None, None)

    def prefers_preview(self, uri: str | None, *, any_open: bool) -> bool:
        of_versions = (self.before, self.after) != (None, None)
        return self.revision is None and (of_versions or (uri is None and any_open))

    async def answer(self, source: PromptSource, view: View) -> Comparison:
        from foldline.ide.render.diff import compare
        from foldline.ide.render.matrix import set_side
        from foldline.ide.render.revisions import parse_range, revision_side

        source.require_trust()
        if self.of_sets:
            named, of_sets = (self.before_set, self.after_set), _of_sets(source, view)
            sides = [await set_side(*of_sets, name) for name in named]
        else:
            revisions = parse_range("HEAD" if self.revision is None else self.revision)
            sides = [await revision_side(source, view, one) for one in revisions]
        return await in_thread(partial(compare, *sides))

    async def on_preview(self, previews: Previews, session_id: str | None) -> Comparison:
        from foldline.ide.render.diff import compare

        if self.revision is not None or self.of_sets:
            return await Query.on_preview(self, previews, session_id)
        preview = previews.find(session_id)
        after = preview.version if self.after is None else self.after
        before = max(1, after - 1) if self.before is None else self.before
        sides = preview.version_side(before), preview.version_side(after)
        return await in_thread(partial(compare, *sides))


@record(kw_only=True)
class CompareSets(
    Query["Matrix"],
    takes=RENDERED,
    event=True,
    description="A prompt with each of its parameter sets: which sections are shown, tokens, "
    "and what differs.",
    of_sets=True,
):
    """All parameter sets of a prompt by its sections: what each shows, and what it costs.

    Each set is rendered once; one that fails has its error in its place.
    """

    async def answer(self, source: PromptSource, view: View) -> Matrix:
        from foldline.ide.render.matrix import matrix_of, render_sets

        renders = await render_sets(*_of_sets(source, view))
        return await in_thread(partial(matrix_of, renders))


@record(kw_only=True)
class Text(Query[str]):
    """The text of a prompt; of a preview now, in an earlier version, or as git has it."""

    version: Annotated[int | None, Doc("a version of the preview")] = None
    revision: Annotated[str | None, Doc("a revision of git")] = None

    async def answer(self, source: PromptSource, view: View) -> str:
        if self.revision is None:
            return (await RenderPrompt().answer(source, view)).text
        from foldline.ide.render.revisions import revision_side

        source.require_trust()
        return (await revision_side(source, view, self.revision)).text

    async def on_preview(self, previews: Previews, session_id: str | None) -> str:
        if self.revision is not None:
            return await Query.on_preview(self, previews, session_id)
        preview = previews.find(session_id)
        if self.version is not None:
            return preview.version_side(self.version).text
        return "".join(block.text for block in preview.render.blocks)


@record(kw_only=True)
class History(Action[Steps], takes=PREVIEW, event=True):
    """The steps of a preview."""

    async def on_preview(self, previews: Previews, session_id: str | None) -> Steps:
        preview = previews.find(session_id)
        return Steps(preview.session_id, preview.undo_steps(), preview.history.numbers)


@record(kw_only=True)
class Origin(Action["TextOrigin"], takes=PREVIEW):
    """The place in the source that a character of a preview comes from.

    For a value, it's the placeholder, then the value itself and its field. Where that isn't known,
    it's the nearest place that is, and the answer says so.
    """

    section_key: Annotated[str | None, Doc("the section; the first one"), Role.KEY] = None
    offset: Annotated[int, Doc("UTF-16 code units of its text before the character")] = 0

    async def on_preview(self, previews: Previews, session_id: str | None) -> TextOrigin:
        preview = previews.find(session_id)
        blocks = [one for one in preview.render.blocks if self.section_key in (None, one.key)]
        if not blocks:
            raise ToolRefused(f"The preview shows no section {self.section_key!r}")
        return await previews.provenance(preview, lambda made: made.origin(blocks[0], self.offset))


@record(kw_only=True)
class Occurrences(Action["tuple[Occurrence, ...]"], takes=PREVIEW, event=True):
    """The parts of a preview that come from characters of the source."""

    source: Annotated[str | None, Doc("the URI of the document; that of the prompt")] = None
    line: Annotated[int, Doc("the line of the first character, from 0")] = 0
    character: Annotated[int, Doc("UTF-16 code units of the line before it")] = 0
    size: Annotated[int, Doc("how many code points")] = 1

    async def on_preview(
        self, previews: Previews, session_id: str | None
    ) -> tuple[Occurrence, ...]:
        preview = previews.find(session_id)
        file, *at = file_of(self.source or preview.uri), self.line, self.character, self.size
        return await previews.provenance(preview, lambda made: tuple(made.occurrences(file, *at)))


def _of_sets(source: PromptSource, view: View) -> tuple[PromptSource, View]:
    """Return what parameter sets are shown of: without what a preview's user typed in place."""
    mode = replace(source.mode, tolerant=True, for_model=False, costs=True)
    params = {} if mode.of_preview else view.params
    return replace(source, mode=mode), replace(view, params=params)


ACTIONS: tuple[type[Action[Any]], ...] = (
    *(OpenSections, CloseSections, ReadSection, SetParams, Undo, Reset, History, Diff, Origin),
    *(Occurrences, PreviewPrompt, ClosePreview, RenderPrompt, Summary, CallPromptTool, Body),
    *(Tokens, Text, CompareSets),
)
"""All actions."""
