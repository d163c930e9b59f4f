"""Plugins: the rooms and packages that add to foldline, none of which it knows by name.

A plugin is a subclass of `Plugin`, named by an entry point of the group `foldline.plugins`. Only
distributions that are installed beside foldline are looked at: a workspace brings none.

`plugins()` loads each once, where first something asks for what plugins bring. Others' code is
waited for in a thread of its own. A plugin that can't be imported, raises, takes too long or
answers something else is left out from then on, and `problems` says why; ours raise as all of
foldline does.
"""

from __future__ import annotations

import re
import sys
import threading
from concurrent.futures import Future
from functools import cache, partial
from importlib import import_module
from inspect import isgenerator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar

from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from foldline.backends import SmartFileAccess
    from foldline.backends.models import NamedIn, References
    from foldline.ide.analysis.model import SourceSpan, Span
    from foldline.ide.checks.diagnostic import Change, Diagnostic
    from foldline.ide.features.completion import Completion
    from foldline.ide.features.hover import Hover
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.sources.source import PromptSource

P = ParamSpec("P")
Value = TypeVar("Value")

GROUP = "foldline.plugins"
SECONDS = 5.0
"""How long another package's plugin may take to be imported, and for each answer."""
REPOSITORY_SECONDS = 20.0
"""How long plugins may look for what a document's repository says of it."""
_ENTRY = re.compile(
    r"^(?P<name>[^\s=#\[][^=]*?)\s*=\s*(?P<module>[\w.]+)\s*:\s*(?P<kind>\w+)", re.M
)
_SECTION = re.compile(rf"^\[{re.escape(GROUP)}\]\s*$(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)


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
        clients: A file with the rules of more clients of instruction files, as `clients.toml`.
    """

    verbs: ClassVar[Mapping[str, str]] = {}
    heading: ClassVar[str] = "Plugins"
    commands: ClassVar[Mapping[str, str]] = {}
    transports: ClassVar[Mapping[str, str]] = {}
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


class Plugins:
    """The plugins that are installed, and what keeps others from being used."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.problems: list[str] = []
        self._plugins: dict[str, tuple[Entry, Plugin]] = {}
        for entry in sorted(entries, key=lambda one: (not one.ours, one.name)):
            if entry.name in self._plugins:
                self._left_out(entry, "another plugin has that name")
            elif plugin := self._guarded(entry, entry.load):
                self._plugins[entry.name] = entry, plugin.value

    def parts(self, kind: Callable[[Plugin], Mapping[str, str]]) -> list[Part]:
        """Return the modules of a kind; of those with one name the first."""
        parts: dict[str, Part] = {}
        for entry, plugin in self._plugins.values():
            for name, module in kind(plugin).items():
                parts.setdefault(name, Part(name, module, entry, plugin))
        return list(parts.values())

    def use(self, part: Part, work: Callable[[Any], Value]) -> Value | None:
        """Return what `work` makes of a plugin's module; None where that failed."""
        answer = self._guarded(part.entry, lambda: work(import_module(part.module)))
        return None if answer is None else answer.value

    def read(
        self, kind: Callable[[Plugin], Path | None], work: Callable[[Path], Value]
    ) -> list[Value]:
        """Return what `work` makes of the plugins' files of a kind; a wrong one's is left out."""
        return [
            answer.value
            for entry, plugin in list(self._plugins.values())
            if (file := kind(plugin)) is not None
            and (answer := self._guarded(entry, partial(work, file)))
        ]

    def ask(
        self, hook: Callable[Concatenate[Plugin, P], Value], *args: P.args, **kwargs: P.kwargs
    ) -> list[Value]:
        """Return the answers of the plugins that have a method for it."""
        name, answers = hook.__name__, []
        for entry, plugin in list(self._plugins.values()):
            if getattr(type(plugin), name) is not getattr(Plugin, name):
                method = getattr(plugin, name)
                if answer := self._guarded(entry, lambda: _whole(method(*args, **kwargs))):  # noqa: B023
                    answers.append(answer.value)
        return answers

    def _guarded(self, entry: Entry, work: Callable[[], Value]) -> _Answer[Value] | None:
        if entry.ours:
            return _Answer(work())
        future: Future[Value] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, name=f"foldline-plugin-{entry.name}", daemon=True).start()
        try:
            return _Answer(future.result(SECONDS))
        except TimeoutError:
            reason = f"it took more than {SECONDS:g} seconds"
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}"
        self._left_out(entry, reason)
        return None

    def _left_out(self, entry: Entry, reason: str) -> None:
        self._plugins.pop(entry.name, None)
        self.problems.append(
            f"the plugin {entry.name} of {entry.distribution} is left out: {reason}"
        )


@record
class Part:
    """A module of a plugin, by the name of the verb, command or option that it brings."""

    name: str
    module: str
    entry: Entry
    plugin: Plugin


@record
class _Answer(Generic[Value]):
    value: Value


def _whole(answer: Any) -> Any:
    """Return an answer; a generator's work is done here, where it's waited for."""
    return list(answer) if isgenerator(answer) else answer


@record
class Entry:
    """An entry point, and the distribution that has it."""

    name: str
    module: str
    kind: str
    distribution: str

    @property
    def ours(self) -> bool:
        """True for the rooms of foldline itself."""
        return self.distribution == "foldline"

    def load(self) -> Plugin:
        """Import the plugin.

        Raises:
            TypeError: It's something else.
        """
        plugin = getattr(import_module(self.module), self.kind)()
        if not isinstance(plugin, Plugin):
            raise TypeError(f"{self.module}:{self.kind} is no foldline.ide.plugins.Plugin")
        return plugin


def installed() -> Iterator[Entry]:
    """Yield the entry points of installed distributions.

    `importlib.metadata` takes 30 ms, for which an editor would wait, and reads the working folder.
    """
    for folder in dict.fromkeys(map(Path, sys.path)):
        if folder.name not in ("site-packages", "dist-packages") or folder == Path.cwd():
            continue
        for file in folder.glob("*.dist-info/entry_points.txt"):
            text = file.read_text(encoding="utf-8", errors="replace")
            if section := _SECTION.search(text):
                distribution = file.parent.name.partition("-")[0]
                for entry in _ENTRY.finditer(section[1]):
                    yield Entry(entry["name"], entry["module"], entry["kind"], distribution)


@cache
def plugins() -> Plugins:
    """Return the installed plugins; they are loaded by the first call."""
    return Plugins(installed())
