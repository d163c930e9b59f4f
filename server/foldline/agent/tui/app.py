"""The application: a prompt's sections on the left, what they cost above, their text beside them.

It stands on the same previews as the page, in this process, and follows the files on disk.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec

from textual.app import App
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Footer, Static, TabbedContent, TabPane, Tree

from foldline.agent.preview_session import follow_files, open_preview
from foldline.agent.tui import screens, views
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import REFUSALS
from foldline.ide.previews.previews import Previews
from foldline.ide.render.renderer import STOP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from rich.text import Text
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widgets.tree import TreeNode

    from foldline.agent.preview_session import FirstView
    from foldline.ide.previews.state import PreviewState
    from foldline.ide.render.render import Block, ParameterField
    from foldline.ide.workspace import Workspace

REASON = "Opened in the terminal"
TABS = {"text": "Text", "tools": "Tools", "output": "Output", "messages": "Messages"}
TABS["cache"] = "Cache"
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
    Tree {{ width: 40%; border-right: solid $accent; }}
    TabbedContent {{ width: 1fr; }}
    TabPane {{ padding: 0 1; }}
    .section {{ width: 100%; height: auto; }}
    .current {{ border-left: thick $accent; }}
    {screens.STYLE}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open_section", "Open"),
        Binding("c", "close_section", "Close"),
        Binding("p", "peek", "Peek"),
        Binding("s", "choose_set", "Set"),
        Binding("v", "change_value", "Values"),
        Binding("h", "chapters", "Chapters"),
        Binding("b", "budget", "Budget"),
        Binding("u", "undo", "Undo"),
        Binding("r", "reset", "Reset"),
        Binding("y", "history", "History"),
        Binding("d", "diff", "Diff"),
        Binding("slash", "search", "Search"),
        Binding("n", "search_next", "Next", show=False),
        *(
            Binding(str(number), f"tab('{tab}')", title, show=False)
            for number, (tab, title) in enumerate(TABS.items(), 1)
        ),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, workspace: Workspace, view: FirstView) -> None:
        super().__init__()
        workspace.report = self._report
        self.failure: Exception | None = None
        self._workspace = workspace
        self._view = view
        self._previews = Previews(workspace)
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
        yield Footer()

    def on_mount(self) -> None:
        self.run_worker(self._start())

    async def _start(self) -> None:
        try:
            self._session = await open_preview(self._workspace, self._previews, self._view)
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
                await self._show(self._previews.state(self._session))

    # What is shown

    async def _show(self, state: PreviewState) -> None:
        before, self._state = self._state, state
        counter = self._workspace.folder(self._view.file).counter
        self.query_one("#status", Static).update(views.status(state, counter, self._view.file.name))
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
    async def action_open_section(self) -> None:
        """Open the section as a model does."""
        if (block := self._current) is not None:
            await self._previews.open_sections(self._session, (block.key,), REASON)

    @_reporting
    async def action_close_section(self) -> None:
        """Close a section that was opened here."""
        if (block := self._current) is not None:
            await self._previews.close_sections(self._session, (block.key,))

    @_reporting
    async def action_peek(self) -> None:
        """Read the section without opening it."""
        from foldline.ide.render.execution import execute
        from foldline.ide.render.jobs import read_section

        if (block := self._current) is None:
            return
        options = self._previews.find(self._session).options
        target = await self._target()
        answer = await execute(
            self._workspace, target, read_section(block.key, sorted(options.opened)), options
        )
        from rich.text import Text

        title = f"{visible(block.title)}: not opened, only shown"
        await self.push_screen_wait(screens.Read(title, Text(views.plain(answer.text))))

    @_reporting
    async def action_choose_set(self) -> None:
        """Show the prompt with another parameter set."""
        from rich.text import Text

        names = [one.name for one in self.state.parameter_sets]
        if not names:
            self.notify("The prompt has no parameter sets: write a preview_*() function.")
            return
        rows = [
            (name, Text(visible(name), "bold green" if name == self.state.parameter_set else ""))
            for name in names
        ]
        chosen = await self.push_screen_wait(screens.Choose("Parameter set", rows))
        if chosen is not None:
            await self._previews.set_values(self._session, parameter_set=chosen)

    @_reporting
    async def action_change_value(self) -> None:
        """Change one value."""
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
            return
        rows = [(key, views.parameter_row(*one)) for key, one in fields.items()]
        chosen = await self.push_screen_wait(screens.Choose("Change a value", rows))
        if chosen is None:
            return
        parameters, field = fields[chosen]
        value = await self._ask_value(field)
        if value is None:
            return
        owner = parameters.section or parameters.type
        params = {key: dict(values) for key, values in self.state.params.items()}
        params.setdefault(owner, {})[field.name] = views.typed(field, value)
        await self._previews.set_values(self._session, params)

    async def _ask_value(self, field: ParameterField) -> str | None:
        if field.choices:
            from rich.text import Text

            rows = [(views.as_typed(one), Text(visible(str(one)))) for one in field.choices]
            return await self.push_screen_wait(screens.Choose(visible(field.name), rows))
        title = f"{visible(field.name)}: {visible(field.type)}"
        return await self.push_screen_wait(
            screens.Ask(title, views.as_typed(field.value), visible(field.doc))
        )

    @_reporting
    async def action_chapters(self) -> None:
        """Open or close a chapter."""
        known = {chapter.key: chapter for chapter in self.state.chapters}
        if not known:
            self.notify("The prompt has no chapters.")
            return
        rows = [(key, views.chapter_row(chapter)) for key, chapter in known.items()]
        title = f"Chapters: {visible(self.state.chapters_shown)}"
        chosen = await self.push_screen_wait(screens.Choose(title, rows))
        if chosen is None:
            return
        if known[chosen].open:
            await self._previews.close_sections(self._session, (), (chosen,))
        else:
            await self._previews.open_chapters(self._session, (chosen,), REASON)

    @_reporting
    async def action_budget(self) -> None:
        """Set the most tokens that the text may cost."""
        budget = self.state.budget
        answer = await self.push_screen_wait(
            screens.Ask("Budget in tokens, 0 for none", str(budget.limit) if budget else "")
        )
        if answer is None:
            return
        if not answer.isdecimal():
            self.notify("A budget is a number of tokens.", severity="error")
            return
        await self._previews.set_values(self._session, budget=int(answer), budget_unit="tokens")

    @_reporting
    async def action_undo(self) -> None:
        """Take back the last step."""
        await self._previews.undo(self._session)

    @_reporting
    async def action_reset(self) -> None:
        """Take back all that was chosen."""
        await self._previews.reset(self._session)

    @_reporting
    async def action_history(self) -> None:
        """Compare a version with the one that is shown."""
        history = self._previews.history(self._session)
        steps = {step.version: step for step in history.steps}
        rows = [
            (str(number), views.version_row(number, steps.get(number)))
            for number in history.versions
        ]
        chosen = await self.push_screen_wait(screens.Choose("Compare a version with this", rows))
        if chosen is not None:
            await self._show_diff(self._previews.diff(self._session, int(chosen)))

    @_reporting
    async def action_diff(self) -> None:
        """Compare the prompt with a revision of git, or with its version before."""
        revision = await self.push_screen_wait(
            screens.Ask("Compare with a revision of git", "HEAD", "empty: with the version before")
        )
        if revision is None:
            return
        if not revision:
            await self._show_diff(self._previews.diff(self._session))
            return
        from foldline.agent.preview import NamedPrompt
        from foldline.agent.preview_diff import diff

        options = self._previews.find(self._session).options
        prompt = NamedPrompt(self._workspace, await self._target(), options, None, None)
        await self._show_diff(await diff(prompt, revision))

    async def _show_diff(self, found: Any) -> None:
        from foldline.agent.preview_diff import diff_lines

        text = views.of_lines(diff_lines(found))
        await self.push_screen_wait(screens.Read("What has changed", text))

    async def _target(self) -> Any:
        from foldline.ide.resolve import find_prompt

        preview = self._previews.find(self._session)
        return await find_prompt(self._workspace, preview.uri, preview.name)

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
