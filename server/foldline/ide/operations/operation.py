"""An operation: a question about a workspace that every shell can ask, written once.

A module of this package has the `Arguments` of one operation, a coroutine `run` that makes one call
of the core, and an `OPERATION` that ties them to their names. The shells adapt it: the language
server fills in the editor's focus, MCP and Python tools make a JSON schema of the arguments, and
the command line makes options of them.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, fields
from enum import Enum, auto
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from foldline.backends.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from foldline.backends import SmartFileAccess
    from foldline.backends.waiting import Threads

P = ParamSpec("P")
Given = TypeVar("Given")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Doc:
    """The documentation of an argument.

    Attributes:
        documentation: For people: help texts and tables.
        tool: For models, where the name doesn't say it all; every byte of it is sent with each
            request, so most arguments have none.
    """

    documentation: str
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Between:
    """The bounds of a number, both included."""

    least: float
    most: float | None = None

    def refusal(self, value: float) -> str | None:
        """What would fit, where `value` doesn't."""
        if value >= self.least and (self.most is None or value <= self.most):
            return None
        given = shown(value).removesuffix(".0")
        if self.most is None:
            return f"{self.least:g} or more fits, not {given}"
        return f"{self.least:g} to {self.most:g} fit, not {given}"


class Role(Enum):
    """What an argument names, so that a shell can fill it in, or knows how to show it."""

    FILE = auto()
    """A file: in an editor, the one that has the focus."""
    FILES = auto()
    """Several files of one workspace folder: in an editor, the one that has the focus."""
    FOLDER = auto()
    """A folder: the workspace's root unless it's given."""
    SYMBOL = auto()
    """A name: in an editor, that of the file's first symbol."""
    WORDS = auto()
    """Several words of a command line, or one text."""
    PATTERN = auto()
    """A pattern: in an editor, one that matches the name of the file's first symbol."""
    SCOPE = auto()
    """A file, folder or glob that the answer is limited to."""
    POSITIONAL = auto()
    """Optional, and on the command line given without an option's name."""
    PEOPLE = auto()
    """For people and programs; models aren't offered it."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an operation, as the shells see it.

    Attributes:
        kind: `str`, `int`, `float`, `bool`, or `tuple` for several texts.
        optional: None is one of its values.
        default: `dataclasses.MISSING` where it must be given.
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
        """Whether it must be given."""
        return self.default is MISSING


def _itself(result: object) -> object:
    return result


@dataclass(frozen=True, slots=True)
class Operation(Generic[Given, Result]):
    """One operation.

    Attributes:
        name: Its name in the language server: `code.outline` is the command
            `foldline.server.code.outline`.
        summary: One sentence for people: help texts and tables.
        arguments: A frozen dataclass whose fields are annotated with `Doc`, `Between` and `Role`.
        run: Asks one folder. A coroutine that awaits nothing but `foldline.backends.waiting`.
        text: The compact text form of a result.
        tool: The name under which models call it; empty where they aren't offered it.
        description: One sentence for models, with the cost.
        verb: The name on the command line; empty where it has none.
        found: Whether a result holds anything: the command line's exit status.
        data: The models of a result, for programs.
        across: Without a path, it is asked of every folder.
        several: The command line takes several files and asks about each.
        whole: An editor gets it whole unless it names a budget: its user scrolls, only models pay
            for each byte.
        many: It may read many files, and must not delay what reads one.
    """

    name: str
    summary: str
    arguments: type[Given]
    run: Callable[[SmartFileAccess, Given], Coroutine[Any, Any, Result]]
    text: Callable[[Result, Given], str]
    tool: str = ""
    description: str = ""
    verb: str = ""
    found: Callable[[Result], object] = bool
    data: Callable[[Result], object] = _itself
    across: bool = False
    several: bool = False
    whole: bool = False
    many: bool = False

    @property
    def threads(self) -> Threads:
        """The pool that works on it."""
        from foldline.backends.waiting import LONG, QUICK

        return LONG if self.many else QUICK

    @property
    def parameters(self) -> tuple[Argument, ...]:
        """The arguments in their order."""
        return parameters_of(self.arguments)


def parameters_of(arguments: type[Any]) -> tuple[Argument, ...]:
    """The arguments that a dataclass declares, by its annotations."""
    hints = get_type_hints(arguments, include_extras=True)
    return tuple(_argument(field, hints[field.name]) for field in fields(arguments))


def _argument(field: Field[Any], hint: object) -> Argument:
    hint, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kind = next(get_origin(member) or member for member in members if member is not type(None))
    assert isinstance(kind, type)
    return Argument(
        field.name,
        kind,
        type(None) in members,
        field.default,
        next((note for note in notes if isinstance(note, Doc)), Doc("")),
        next((note for note in notes if isinstance(note, Between)), None),
        frozenset(note for note in notes if isinstance(note, Role)),
    )


async def ask(method: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """The answer of a method of `SmartFileAccess`; while it waits, it holds no thread."""
    # Loaded with the first question: a command line that only shows its help asks none.
    from foldline.backends.waiting import question_of

    return await question_of(method)(*args, **kwargs)
