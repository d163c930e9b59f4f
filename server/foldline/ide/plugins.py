"""Plugins: the rooms and packages that add to foldline, none of which it knows by name.

A plugin is a subclass of `Plugin`, named by an entry point of the group `foldline.plugins`. Only
distributions that are installed beside foldline are looked at: a workspace brings none.

`plugins()` loads each once, where first something asks for what plugins bring. Others' are guarded:
one that fails is left out, and `problems` says why. Ours raise as all of foldline does.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from inspect import isgenerator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeVar, cast

from foldline.ide.entry_points import Entry, entries
from foldline.ide.guarding import Answer, Guarded
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.models import NamedIn, References
    from foldline.ide.analysis.model import SourceSpan, Span
    from foldline.ide.checks.diagnostic import Change, Diagnostic
    from foldline.ide.features.completion import Completion
    from foldline.ide.features.hover import Hover
    from foldline.ide.folder import Folder
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.sources.source import PromptSource

P = ParamSpec("P")
Value = TypeVar("Value")

SECONDS = 5.0
"""How long another package's plugin may take to be imported, and for each answer."""
REPOSITORY_SECONDS = 20.0
"""How long plugins may look for what a document's repository says of it."""
TAKEN = "`{}` of its {} is taken"
_LOADING = threading.Lock()


@record
class Target:
    """What a text means: a file or folder of the document's folder, and a line of it, 0 for all.

    Attributes:
        path: From the folder; empty for several files.
        about: What it is, in Markdown.
    """

    path: str
    line: int
    about: str


@record
class Link:
    """Text of a document that means something elsewhere: hovers tell it, definitions lead there.

    `resolve` may read many files; it returns None where the text means nothing, or several things.
    """

    place: Span | SourceSpan
    resolve: Callable[[], Target | None]


@record
class Action:
    """A code action: changes of the document, or a server command and its arguments.

    Attributes:
        fix: Editors offer it with a light bulb, and not among the refactorings.
        field: The part of the changes' text that the user writes: a field where editors have them.
    """

    title: str
    changes: tuple[Change, ...] = ()
    command: str = ""
    arguments: Mapping[str, object] | None = None
    fix: bool = False
    field: str = ""


class Plugin:
    """What a package adds to foldline; a part that it doesn't have is left as it is here.

    Modules are named, and imported when they're used. A `Snapshot` is a document at one
    moment: its `text`, `analysis.module.prompts`, `instructions`, `folder` and `options`.

    Attributes:
        verbs: By verb of the command line; each has `register(verbs)`.
        heading: The verbs' heading in the help.
        commands: By name of the language server's command; as those of `foldline.server.commands`.
        transports: By option of `foldline mcp`; each has `add_options(parser)` and
            `serve(options)`, which, if it's given, serves in place of stdio and returns True.
        codes: By code of the diagnostics that its checks report, a sentence about each.
        clients: A file with the rules of more clients of instruction files, as `clients.toml`.
    """

    verbs: ClassVar[Mapping[str, str]] = {}
    heading: ClassVar[str] = "Plugins"
    commands: ClassVar[Mapping[str, str]] = {}
    transports: ClassVar[Mapping[str, str]] = {}
    codes: ClassVar[Mapping[str, str]] = {}
    clients: ClassVar[Path | None] = None

    def source(self, path: Path) -> type[PromptSource] | None:
        """Return the kind of source that a file is, if it isn't Python or Markdown."""
        return None

    def check(self, document: Snapshot) -> Iterable[Diagnostic]:
        """Yield what is wrong with a document, from its text alone: asked after each key."""
        return ()

    def check_repository(
        self, document: Snapshot, seconds: float, since: float
    ) -> Iterable[Diagnostic]:
        """Yield what its repository says of a document, looked for within `seconds`.

        It's asked when nothing changes for a moment, of Markdown alone, and its diagnostics follow
        their line. Files read at `since` or later may be taken as they were then.
        """
        return ()

    def hover(self, document: Snapshot, offset: int) -> Hover | None:
        """Return what a hover tells, where foldline has nothing to tell."""
        return None

    def links(self, document: Snapshot) -> Iterable[Link]:
        """Yield the texts of a document that mean something elsewhere."""
        return ()

    def completions(self, document: Snapshot, offset: int) -> Iterable[Completion]:
        """Yield what completes the text before an offset."""
        return ()

    def actions(self, document: Snapshot, start: int, end: int) -> Iterable[Action]:
        """Yield what can be done with a selection."""
        return ()

    def named(
        self, access: SmartFileAccess, references: References, texts: list[str], modules: list[str]
    ) -> Iterable[NamedIn]:
        """Yield the places in these Markdown files and modules that name what is referred to."""
        return ()

    def follow(self, folder: Folder, names: Mapping[str, str]) -> Iterable[Change]:
        """Yield the changes of texts that name what gets another name: a path, or `PATH#ANCHOR`."""
        return ()


class Plugins(Guarded):
    """The plugins that are installed, without those that are left out.

    Attributes:
        codes: The codes of others' checks, with the plugin and a sentence about each.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = sorted(entries, key=lambda one: (not one.ours, one.name, one.distribution))
        super().__init__(self.entries)
        self.codes: dict[str, tuple[Entry, str]] = {}
        self._plugins: dict[Entry, Plugin] = {}
        for entry in self.entries:
            load = partial(_load, entry, tuple(self._plugins.values()))
            if any(entry.name == other.name for other in self._plugins):
                self.leave_out(entry, "another plugin has that name")
            elif loaded := self.guarded(entry, load, SECONDS):
                self._plugins[entry] = loaded.value
                self.codes |= {code: (entry, one) for code, one in loaded.value.codes.items()}

    def parts(self, kind: Callable[[Plugin], Mapping[str, str]]) -> list[Part]:
        """Return the modules of a kind."""
        return [
            Part(name, module, entry, plugin)
            for entry, plugin in self._used()
            for name, module in kind(plugin).items()
        ]

    def use(self, part: Part, work: Callable[[Any], Value]) -> Value | None:
        """Return what `work` makes of a plugin's module; None where that failed."""
        return self._value(part.entry, lambda: work(import_module(part.module)))

    def read(
        self, kind: Callable[[Plugin], Path | None], work: Callable[[Path], Value]
    ) -> list[Value]:
        """Return what `work` makes of the plugins' files of a kind; a wrong one's is left out."""
        return [
            answer.value
            for entry, plugin in self._used()
            if (file := kind(plugin)) is not None
            and (answer := self.guarded(entry, partial(work, file), SECONDS))
        ]

    def ask(
        self, hook: Callable[Concatenate[Plugin, P], Value], *args: P.args, **kwargs: P.kwargs
    ) -> list[Value]:
        """Return the answers of the plugins that have a method for it."""
        name = hook.__name__
        answers: list[Any] = []
        for entry, plugin in self._used():
            if getattr(type(plugin), name) is getattr(Plugin, name):
                continue
            work = partial(getattr(plugin, name), *args, **kwargs)
            if entry.ours:
                answer = work()
                answers.append(list(answer) if isgenerator(answer) else answer)
            elif judged := self._judged(entry, plugin, name, work, *args):
                answers.append(judged.value)
        return answers

    def reserve(self, kind: str, names: Collection[str]) -> None:
        """Leave out others' plugins with a part of that kind that the house has, by its name."""
        for entry, plugin in self._used():
            for name in () if entry.ours else getattr(plugin, kind):
                if name in names:
                    self.leave_out(entry, TAKEN.format(name, kind))

    def _judged(
        self, entry: Entry, plugin: Plugin, name: str, work: Callable[[], Any], *args: Any
    ) -> Answer[Any] | None:
        from foldline.ide.plugin_answers import judged, target_of
        from foldline.ide.snapshot import Snapshot

        document = args[0] if isinstance(args[0], Snapshot) else None
        lock = None if document is None else document.project.lock
        seconds = SECONDS + (args[1] if name == Plugin.check_repository.__name__ else 0)
        judge = partial(judged, name, codes=plugin.codes, document=document)
        answer = self.guarded(entry, lambda: judge(work()), seconds, lock)
        if answer is not None and name == Plugin.links.__name__:
            # A plugin may keep its links: they stay as they are.
            links = [(link, partial(target_of, link.resolve)) for link in answer.value]
            value = partial(self._value, entry)
            return Answer([replace(link, resolve=partial(value, of)) for link, of in links])
        return answer

    def _value(self, entry: Entry, work: Callable[[], Value]) -> Value | None:
        answer = self.guarded(entry, work, SECONDS)
        return None if answer is None else answer.value

    def _used(self) -> list[tuple[Entry, Plugin]]:
        return [one for one in self._plugins.items() if one[0] not in self.left_out]


@record
class Part:
    """A module of a plugin, by the name of the verb, command or option that it brings."""

    name: str
    module: str
    entry: Entry
    plugin: Plugin


def _load(entry: Entry, others: Sequence[Plugin]) -> Plugin:
    plugin = entry.load()
    if not entry.ours:
        from foldline.ide.plugin_answers import check_parts

        check_parts(plugin, others)
    return cast("Plugin", plugin)


def plugins() -> Plugins:
    """Return the installed plugins; they are loaded by the first call."""
    with _LOADING:
        return _plugins()


@cache
def _plugins() -> Plugins:
    return Plugins(entries())


def is_loaded() -> bool:
    """Return True once something has asked for plugins."""
    return bool(_plugins.cache_info().currsize)
