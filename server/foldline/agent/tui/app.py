"""The application: a prompt's sections on the left, what they cost above, their text beside them.

It stands on the same previews as the page, in this process, and follows the files on disk.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec

from rich.text import Text
from textual.app import App
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Footer, Static, TabbedContent, TabPane, Tree

from foldline.agent.preview import REASON
from foldline.agent.preview_lines import diff_lines
from foldline.agent.preview_session import follow_files, open_preview
from foldline.agent.tui import screens, views
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import REFUSALS
from foldline.ide.prompts.actions import (
    ACTIONS,
    BudgetUnit,
    CloseChapter,
    Diff,
    History,
    OpenChapter,
    SetValues,
)
from foldline.ide.prompts.controls import Controls
from foldline.ide.prompts.perform import perform
from foldline.ide.render.diff import Comparison
from foldline.ide.render.render import SectionText
from foldline.ide.render.renderer import STOP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widgets.tree import TreeNode

    from foldline.agent.preview_session import FirstView
    from foldline.ide.previews.state import PreviewState
    from foldline.ide.prompts.actions import Action
    from foldline.ide.render.render import Block, ParameterField
    from foldline.ide.workspace import Workspace

TABS = {"text": "Text", "tools": "Tools", "output": "Output", "messages": "Messages"}
TABS["cache"] = "Costs"
FIRST_KEYS = {"q": "Quit", "question_mark": "Keys", "slash": "Search"}
"""Those that a footer of 80 columns has, too: `?` names the others."""
RARE = ("reset", "history", "diff")
"""The events whose keys only `?` names: a footer of 120 columns has no room for them."""
P = ParamSpec("P")


def _reporting(
    action: Callable[Concatenate[PreviewApp, P], Awaitable[None]],
) -> Callable[Concatenate[PreviewApp, P], Any]:
    """Run an action besides the application's messages; what it's refused is shown."""

    @wraps(action)
    def start(self: PreviewApp, /, *args: P.args, **kwargs: P.kwargs) -> None:
        async def run() -> None:
            try:
                await action(self, *args, **kwargs)
            except REFUSALS as error:
                self.notify(visible(str(error)), severity="error", markup=False)

        self.run_worker(run())

    return start


class PreviewApp(App[None]):
    """A preview; `failure` is why it ended, if it couldn't be shown."""

    TITLE = "foldline preview"
    ENABLE_COMMAND_PALETTE = False
    CSS = f"""
    #status {{ height: auto; padding: 0 1; background: $boost; }}
    Tree {{ width: 1fr; border-right: solid $accent; }}
    Tab {{ padding: 0 1 0 0; }}
    TabbedContent {{ width: 1fr; min-width: 44; }}
    TabPane {{ padding: 0 1; }}
    .section {{ width: 100%; height: auto; }}
    .current {{ border-left: thick $accent; }}
    {screens.STYLE}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "search_next", "Next", show=False),
        *(
            Binding(str(number), f"tab('{tab}')", "Tabs", number == 1, key_display="1-5")
            for number, tab in enumerate(TABS, 1)
        ),
    ]

    def __init__(
        self,
        workspace: Workspace,
        view: FirstView,
        actions: Sequence[type[Action[Any]]] = ACTIONS,
    ) -> None:
        super().__init__()
        for key, label in FIRST_KEYS.items():
            self.bind(key, label.lower(), description=label)
        for names in (action.names for action in actions if action.names.key):
            shown = names.event not in RARE
            self.bind(names.key, f"perform('{names.event}')", description=names.label, show=shown)
        workspace.report = self._report
        self.failure: Exception | None = None
        self._workspace = workspace
        self._view = view
        self._previews = workspace.previews
        self._actions = actions
        self._dialogs = {
            "set": self._choose_set,
            "params": self._change_value,
            "openChapter": self._toggle_chapter,
            "budget": self._set_budget,
            "history": self._compare_version,
            "diff": self._compare_revision,
        }
        self._session = ""
        self._state: PreviewState | None = None
        self._updated = asyncio.Event()
        self._query = ""

    @property
    def state(self) -> PreviewState:
        """The state that is shown."""
        assert self._state is not None
        return self._state

    def compose(self) -> ComposeResult:
        yield Static(f"Running {visible(self._view.file.name)} …", id="status", markup=False)
        with Horizontal():
            tree: Tree[str] = Tree("", id="sections")
            tree.show_root = False
            tree.guide_depth = 2
            yield tree
            with TabbedContent():
                for number, (tab, title) in enumerate(TABS.items(), 1):
                    with TabPane(f"{number} {title}", id=tab), VerticalScroll(id=f"{tab}-view"):
                        if tab != "text":
                            yield Static(id=f"{tab}-text", markup=False)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.run_worker(self._start())

    async def _start(self) -> None:
        try:
            self._session = await open_preview(self._workspace, self._view)
        except REFUSALS as error:
            self.failure = error
            self.exit()
            return
        self._previews.watch(self._session, lambda _: self._updated.set())
        self._updated.set()
        self.run_worker(self._follow_updates())
        self.run_worker(follow_files(self._workspace, self._view.file))
        self.query_one(Tree).focus()

    async def on_unmount(self) -> None:
        """End the preview with what it started."""
        self._previews.close_all()
        await self._workspace.stop(STOP_SECONDS)

    async def _follow_updates(self) -> None:
        """Show the newest state; those between two are left out while one is shown."""
        while True:
            await self._updated.wait()
            self._updated.clear()
            with suppress(*REFUSALS):
                await self._show(self._previews.find(self._session).state())

    # What is shown

    async def _show(self, state: PreviewState) -> None:
        before, self._state = self._state, state
        self.query_one("#status", Static).update(views.status(state))
        self._show_tree(state, before)
        await self._show_texts(state, before)
        for tab in (views.tools, views.output, views.messages, views.cache):
            self.query_one(f"#{tab.__name__}-text", Static).update(tab(state))

    def _show_tree(self, state: PreviewState, before: PreviewState | None) -> None:
        tree: Tree[str] = self.query_one("#sections", Tree)
        if before is None or before.order != state.order:
            folded = {node.data for node in _nodes(tree.root) if not node.is_expanded}
            at = tree.cursor_node.data if tree.cursor_node else None
            tree.clear()
            self._add_nodes(tree.root, state.blocks, folded)
            if (node := self._node(at)) is not None:
                tree.move_cursor(node)
            elif tree.root.children:
                tree.move_cursor(tree.root.children[0])
        for node in _nodes(tree.root):
            node.set_label(self._label(node.data))

    def _add_nodes(
        self, root: TreeNode[str], blocks: Sequence[Block], folded: set[str | None]
    ) -> None:
        nodes: dict[tuple[str, ...], TreeNode[str]] = {(): root}
        for block in blocks:
            parent = nodes.get(block.path[:-1], root)
            nodes[block.path] = parent.add("", block.id, expand=block.id not in folded)
        for node in _nodes(root):
            node.allow_expand = bool(node.children)

    def _label(self, id_: str | None) -> Text:
        block = self._block(id_)
        assert block is not None
        counter = self._workspace.folder(self._view.file).counter
        return views.label(block, counter, opened=bool(block.opened))

    async def _show_texts(self, state: PreviewState, before: PreviewState | None) -> None:
        """Show the sections' texts; those that haven't changed stay as they are."""
        view = self.query_one("#text-view", VerticalScroll)
        if before is None or before.order != state.order:
            await view.remove_children()
            texts = map(self._section, state.blocks)
            await view.mount(*(Static(one, classes="section", markup=False) for one in texts))
            return
        for shown, old, new in zip(view.children, before.blocks, state.blocks, strict=True):
            if old is not new and isinstance(shown, Static):
                shown.update(self._section(new))

    def _section(self, block: Block) -> Text:
        return views.section_text(block, self._query)

    def _block(self, id_: str | None) -> Block | None:
        return next((block for block in self.state.blocks if block.id == id_), None)

    def _node(self, id_: str | None) -> TreeNode[str] | None:
        return next((node for node in _nodes(self.query_one(Tree).root) if node.data == id_), None)

    @property
    def _current(self) -> Block | None:
        node = self.query_one(Tree).cursor_node
        return self._block(node.data) if node is not None and self._state else None

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[str]) -> None:
        """Scroll to the section's text."""
        if self._state is None or event.node.data is None:
            return
        for shown, block in zip(
            self.query_one("#text-view").children, self.state.blocks, strict=False
        ):
            shown.set_class(block.id == event.node.data, "current")
            if block.id == event.node.data:
                shown.scroll_visible(top=True, animate=False)

    def _report(self, problems: Iterable[str]) -> None:
        for problem in problems:
            self.notify(visible(problem), severity="warning", markup=False)

    # What a user does

    async def action_tab(self, tab: str) -> None:
        """Show another view."""
        self.query_one(TabbedContent).active = tab

    @_reporting
    async def action_perform(self, event: str) -> None:
        """Perform the action of an event, as its dialog says, and show what it answers."""
        controls = Controls(self._workspace, self._session, REASON, self._actions)
        block = self._current
        if event in ("open", "peek") and block is not None and block.visibility == "FULL":
            self.notify("Already open." if block.enabled else "Off with these values.")
            return
        if (dialog := self._dialogs.get(event)) is not None:
            action = await dialog()
        else:
            action = controls.read({"action": event, "key": block.key if block else ""})
        answer = None if action is None else await controls.perform(action)
        if isinstance(answer, Comparison):
            text = views.of_lines(diff_lines(answer))
            await self.push_screen_wait(screens.Read("What has changed", text))
        elif isinstance(answer, SectionText) and block is not None:
            title = f"{visible(block.title)}: not opened, only shown"
            await self.push_screen_wait(screens.Read(title, Text(views.plain(answer.text))))

    async def _choose_set(self) -> Action[Any] | None:
        names = [one.name for one in self.state.parameter_sets]
        if not names:
            self.notify("The prompt has no parameter sets: write a preview_*() function.")
            return None
        shown = self.state.parameter_set or "none"
        rows = [
            (name, Text(visible(name), "bold green" if name == shown else ""))
            for name in (*names, "none")
        ]
        chosen = await self.push_screen_wait(screens.Choose("Parameter set", rows))
        return None if chosen is None else SetValues(parameter_set=chosen)

    async def _change_value(self) -> Action[Any] | None:
        fields = {
            f"{number}": (parameters, field)
            for number, (parameters, field) in enumerate(
                (parameters, field)
                for parameters in self.state.parameters
                for field in parameters.fields
            )
        }
        if not fields:
            self.notify("The prompt takes no values.")
            return None
        rows = [(key, views.parameter_row(*one)) for key, one in fields.items()]
        chosen = await self.push_screen_wait(screens.Choose("Change a value", rows))
        if chosen is None:
            return None
        parameters, field = fields[chosen]
        value = await self._ask_value(field)
        if value is None:
            return None
        owner = parameters.section or parameters.type
        params = {key: dict(values) for key, values in self.state.params.items()}
        params.setdefault(owner, {})[field.name] = views.typed(field, value)
        return SetValues(params=params)

    async def _ask_value(self, field: ParameterField) -> str | None:
        if field.choices:
            rows = [(views.as_typed(one), Text(visible(str(one)))) for one in field.choices]
            return await self.push_screen_wait(screens.Choose(visible(field.name), rows))
        title = f"{visible(field.name)}: {visible(field.type)}"
        return await self.push_screen_wait(
            screens.Ask(title, views.as_typed(field.value), visible(field.doc))
        )

    async def _toggle_chapter(self) -> Action[Any] | None:
        known = {chapter.key: chapter for chapter in self.state.chapters}
        if not known:
            self.notify("The prompt has no chapters.")
            return None
        rows = [(key, views.chapter_row(chapter)) for key, chapter in known.items()]
        title = f"Chapters: {visible(self.state.chapters_shown)}"
        chosen = await self.push_screen_wait(screens.Choose(title, rows))
        if chosen is None:
            return None
        if known[chosen].open:
            return CloseChapter(chapters=(chosen,))
        return OpenChapter(chapters=(chosen,), reason=REASON)

    async def _set_budget(self) -> Action[Any] | None:
        budget = self.state.budget
        answer = await self.push_screen_wait(
            screens.Ask("Budget in tokens, 0 for none", str(budget.limit) if budget else "")
        )
        if answer is not None and not answer.isdecimal():
            self.notify("A budget is a number of tokens.", severity="error")
            return None
        unit = BudgetUnit.TOKENS
        return None if answer is None else SetValues(budget=int(answer), budget_unit=unit)

    async def _compare_version(self) -> Action[Any] | None:
        history = await perform(self._workspace, self._session, History())
        steps = {step.version: step for step in history.steps}
        rows = [
            (str(number), views.version_row(number, steps.get(number)))
            for number in history.versions
        ]
        chosen = await self.push_screen_wait(screens.Choose("Compare a version with this", rows))
        return None if chosen is None else Diff(before=int(chosen))

    async def _compare_revision(self) -> Action[Any] | None:
        revision = await self.push_screen_wait(
            screens.Ask("Compare with a revision of git", "HEAD", "empty: with the version before")
        )
        return None if revision is None else Diff(revision=revision or None)

    @_reporting
    async def action_search(self) -> None:
        """Find words in titles and texts."""
        query = await self.push_screen_wait(screens.Ask("Search", self._query))
        if query is None:
            return
        self._query = query
        view = self.query_one("#text-view", VerticalScroll)
        for shown, block in zip(view.children, self.state.blocks, strict=True):
            if isinstance(shown, Static):
                shown.update(self._section(block))
        if query:
            self._go_to_match(include_current=True)

    @_reporting
    async def action_keys(self) -> None:
        """Show what each key does."""
        rows = [
            (action.names.key, (action.__doc__ or action.names.description).partition("\n")[0])
            for action in self._actions
            if action.names.key
        ]
        rows += [("/ n", "Finds words in titles and texts, and the next place that has them.")]
        rows += [("1-5", f"Shows the tabs: {', '.join(TABS.values())}."), ("space", "Folds a row.")]
        text = views.of_lines([(f"{key:>6}", "bold"), (f"  {doc}", "")] for key, doc in rows)
        await self.push_screen_wait(screens.Read("Keys", text))

    def action_search_next(self) -> None:
        """Go to the next section that has the words."""
        if self._query:
            self._go_to_match(include_current=False)

    def _go_to_match(self, *, include_current: bool) -> None:
        query = self._query.casefold()
        blocks = self.state.blocks
        current = self._current
        at = next((n for n, block in enumerate(blocks) if block is current), 0)
        start = at if include_current else at + 1
        for block in (*blocks[start:], *blocks[:start]):
            if query in f"{block.title}\n{block.text}".casefold():
                node = self._node(block.id)
                if node is not None:
                    self.query_one(Tree).move_cursor(node)
                return
        self.notify(f"Nothing has {visible(self._query)!r}.", markup=False)


def _nodes(node: TreeNode[str]) -> Iterable[TreeNode[str]]:
    for child in node.children:
        yield child
        yield from _nodes(child)
