"""Operations: queries about a workspace, written once and offered by every shell.

A module of this package has the `Arguments` of one operation and an `OPERATION` that ties them to
their names and to one call of the core. The shells adapt it: the language server fills in the
editor's focus, MCP and Python tools turn the arguments into a JSON schema, and the command line
turns them into options.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from enum import Enum, StrEnum, auto
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from foldline import backends
from foldline.backends.base.reading import Between
from foldline.backends.base.waiting import LONG, QUICK, Threads, coroutine_of
from foldline.backends.formatting.budget import SUMMARY_BUDGET, cut_to_budget
from foldline.backends.formatting.parts import Code, Line, plain
from foldline.ide.operations.answer_sizes import SIZES
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.models import FileOutline
    from foldline.ide.scoped_context import Reader

    Outlining = Coroutine[Any, Any, FileOutline | None]

P = ParamSpec("P")
ArgumentsT = TypeVar("ArgumentsT")
# The arguments that many operations share come last, wherever a base class declares them.
_LAST = ("budget", "cursor", "seconds")
Result = TypeVar("Result")


@record
class Doc:
    """The documentation of an argument.

    Attributes:
        documentation: For people: help texts and tables.
        tool: For models, if the name doesn't say it all; empty for most arguments, as models get
            every byte of it with each request.
    """

    documentation: str
    tool: str = ""


class Role(Enum):
    """The meaning of an argument, by which a shell can fill it in or present it."""

    FILE = auto()
    """A file; in an editor, the focused one by default."""
    FILES = auto()
    """Files; in an editor, the focused one by default."""
    FOLDER = auto()
    """A folder; the workspace's root by default."""
    SYMBOL = auto()
    """A name; in an editor, that of the file's first symbol by default."""
    WORDS = auto()
    """Several words on the command line, one text elsewhere."""
    PATTERN = auto()
    """A pattern; in an editor, the name of the file's first symbol by default."""
    SCOPE = auto()
    """A file, folder or glob that the answer is limited to."""
    QUESTION = auto()
    """A question in words, which needs no other subject: no focus is filled in beside it."""
    POSITIONAL = auto()
    """Optional, and positional on the command line."""
    PEOPLE = auto()
    """For people and programs; not offered to models."""
    TOOL = auto()
    """For models; on the command line, each of its values is a verb of its own."""
    KEY = auto()
    """In an action on a prompt: by default the selected section, chapter or set."""
    MODEL = auto()
    """In an action on a prompt: required from models."""


@record
class Argument:
    """One argument of an operation, as the shells see it.

    Attributes:
        kind: `str`, `int`, `float`, `bool`, or `tuple` for several texts.
        optional: None is one of its values.
        default: `dataclasses.MISSING` if the argument is required.
    """

    name: str
    kind: type
    optional: bool
    default: object
    doc: Doc
    bounds: Between | None
    roles: frozenset[Role]

    @property
    def required(self) -> bool:
        """True if the argument has no default."""
        return self.default is MISSING


def _identity(result: object) -> object:
    return result


@record
class Operation(Generic[ArgumentsT, Result]):
    """One operation.

    Attributes:
        name: Its name in the language server: `code.outline` is the command
            `foldline.server.code.outline`.
        summary: One sentence for people: help texts and tables.
        arguments: A frozen dataclass whose fields are annotated with `Doc`, `Between` and `Role`.
        run: Runs the operation in one folder. It awaits only `foldline.backends.base.waiting`.
        format: Returns a result's lines, which are few; `lines` and `text` keep to the budget.
        tool: Its name for models; empty if it isn't offered to them.
        description: One sentence for models, with the cost.
        verb: Its name on the command line; empty if it has none.
        found: Returns something true for a result that holds anything, false for an empty one, and
            None if the operation couldn't tell; it decides the command line's exit status.
        data: Returns a result's models, for programs.
        outline: Returns the outline that can replace a result in a model's conversation; None
            for a file that is too large to parse.
        priority: How long a model's conversation keeps results, as `foldline.prompts.Priority`
            says it.
        run_across: Runs the operation over several folders at once, whose paths begin with a
            folder's name; without it, an operation runs in each folder that its arguments name.
        across: Without a path, it runs in every folder.
        several: The command line takes several files and runs it for each.
        whole: An editor gets the whole result unless it sets a budget: people scroll, and only
            models pay for each byte.
        many: It may read many files, and must not delay operations that read one.
    """

    name: str
    summary: str
    arguments: type[ArgumentsT]
    run: Callable[[SmartFileAccess, ArgumentsT], Coroutine[Any, Any, Result]]
    format: Callable[[Result, ArgumentsT], Sequence[Line | Code]]
    tool: str = ""
    description: str = ""
    verb: str = ""
    found: Callable[[Result], object] = bool
    data: Callable[[Result], object] = _identity
    outline: Callable[[SmartFileAccess, ArgumentsT], Outlining] | None = None
    priority: Literal["high", "medium", "low"] = "medium"
    run_across: Callable[[Reader, ArgumentsT], Coroutine[Any, Any, Result]] | None = None
    across: bool = False
    several: bool = False
    whole: bool = False
    many: bool = False

    def lines(self, result: Result, arguments: Any) -> Sequence[Line | Code]:
        """Return a result's lines, in no more bytes than the arguments' budget.

        Pages are made to fit. One with a path that is longer than the budget may not, and is cut.
        """
        return cut_to_budget(self.format(result, arguments), budget_of(arguments))

    def text(self, result: Result, arguments: ArgumentsT) -> str:
        """Return the same lines as a text."""
        return plain(self.lines(result, arguments))

    @property
    def threads(self) -> Threads:
        """The thread pool that runs it."""
        return LONG if self.many else QUICK

    @property
    def parameters(self) -> tuple[Argument, ...]:
        """The arguments, in declaration order."""
        return parameters_of(self.arguments)


def budget_of(arguments: object) -> int | None:
    """Return the most bytes of an answer to these arguments; None if there is no limit."""
    from foldline.ide.operations.arguments import Budgeted

    return arguments.budget if isinstance(arguments, Budgeted) else None


def parameters_of(arguments: type[Any]) -> tuple[Argument, ...]:
    """Return the arguments that a dataclass declares in its annotations, its own ones first."""
    hints = get_type_hints(arguments, include_extras=True)
    order = {name: number for number, name in enumerate(_LAST, 1)}
    in_order = sorted(fields(arguments), key=lambda field: order.get(field.name, 0))
    return tuple(_argument(field, hints[field.name]) for field in in_order)


def _argument(field: Field[Any], hint: object) -> Argument:
    hint, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kind = next(get_origin(member) or member for member in members if member is not type(None))
    assert isinstance(kind, type)
    kind = str if issubclass(kind, StrEnum) else kind
    return Argument(
        field.name,
        kind,
        type(None) in members,
        field.default,
        next((note for note in notes if isinstance(note, Doc)), Doc("")),
        next((note for note in notes if isinstance(note, Between)), None),
        frozenset(note for note in notes if isinstance(note, Role)),
    )


def summary_text(outline: FileOutline | None) -> str | None:
    """Return an outline as the text that replaces a file's in a model's conversation."""
    return None if outline is None else backends.text.format_outline(outline, SUMMARY_BUDGET)


async def shortening(
    operation: Operation[Any, Any], access: SmartFileAccess, arguments: object
) -> dict[str, object]:
    """Return how a conversation may shorten a result, as JSON; empty if it's compact as it is."""
    if operation.outline is None:
        return {}
    summary = summary_text(await operation.outline(access, arguments))
    return {"_summary": summary, "priority": operation.priority}


def method_of_access(
    method: Callable[[SmartFileAccess], Callable[..., Result]],
) -> Callable[[SmartFileAccess, Any], Coroutine[Any, Any, Result]]:
    """Return the `run` of an operation that has the arguments of a method of `SmartFileAccess`."""

    async def run(access: SmartFileAccess, arguments: Any) -> Result:
        values = {field.name: getattr(arguments, field.name) for field in fields(arguments)}
        path = [values.pop("path")] if "path" in values else []
        return await run_query(method(access), *path, **values)

    return run


async def run_query(method: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Call a method of `SmartFileAccess`; waiting for its result holds no thread."""
    return await coroutine_of(method)(*args, **kwargs)


def cost_of(tool: str) -> str:
    """Return the median size of a tool's answers, such as `~1.0 KB`; lines cost what they hold."""
    if tool == "read_lines":
        return "as long as the range"
    return f"~{SIZES[tool].median / 1000:.1f} KB"
