"""Conversations: what was said so far, in typed turns that every provider can be sent."""

from __future__ import annotations

import base64
import json
import mimetypes
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from foldline.prompts.context import Priority
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.disclosure.sent import NOTHING_SENT, SentPrompt
from foldline.prompts.errors import PromptConfigurationError, PromptValidationError
from foldline.prompts.files import read_bytes_file
from foldline.prompts.forms.json_values import json_text, to_json
from foldline.prompts.forms.values import read_json
from foldline.prompts.layout.blocks import PromptMessage
from foldline.prompts.roles import Role
from foldline.prompts.visibility import SectionPath
from foldline.prompts.wording import ENGLISH

if TYPE_CHECKING:
    from foldline.prompts.sections.examples import Example

FORMAT = 1
MAX_PART_BYTES = 32 << 20
"""The largest image or file that is read; providers' own limits are lower."""


class _Attached:
    """Shared by images and files: the content itself, or where it is."""

    media_type: str
    data: str | None
    url: str | None
    what: ClassVar[str]
    is_attachment: ClassVar[bool] = True
    """No text shows it."""

    def __post_init__(self) -> None:
        if (self.data is None) == (self.url is None):
            raise PromptValidationError(f"{self.what} has either `data` or a `url`.")
        if self.data is not None and not self.media_type:
            raise PromptValidationError(f"{self.what} with `data` needs its `media_type`.")

    @property
    def data_url(self) -> str:
        """The URL, or the content as a `data:` URL."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


@FrozenDataclass()
class Image(_Attached):
    """An image in a user's turn: `Image.read(path)`, `Image.of(bytes, media_type)` or a `url`.

    `data` is the content in base64.

    Raises:
        PromptValidationError: It has both `data` and a `url`, or neither.
    """

    media_type: str = ""
    data: str | None = None
    url: str | None = None
    kind: Literal["image"] = "image"
    what: ClassVar[str] = "An image"

    @classmethod
    def of(cls, content: bytes, media_type: str) -> Self:
        """Return the image with this content, such as `image/png`."""
        return cls(media_type, base64.b64encode(content).decode())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Return the image in a file; its name tells the media type.

        Raises:
            OSError: The file can't be read.
            PromptValidationError: It isn't a regular file, is too large, or its name is no image's.
        """
        return cls.of(*_read(path, "image/"))


@FrozenDataclass()
class File(_Attached):
    """A file in a user's turn, such as a PDF: `File.read(path)`, `File.of(…)` or a `url`.

    `data` is the content in base64.

    Raises:
        PromptValidationError: It has both `data` and a `url`, or neither.
    """

    name: str = ""
    media_type: str = ""
    data: str | None = None
    url: str | None = None
    kind: Literal["file"] = "file"
    what: ClassVar[str] = "A file"

    @classmethod
    def of(cls, content: bytes, media_type: str, name: str) -> Self:
        """Return the file with this content and name."""
        return cls(name, media_type, base64.b64encode(content).decode())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Return a file of the disk; its name tells the media type.

        Raises:
            OSError: The file can't be read.
            PromptValidationError: It isn't a regular file, is too large, or of unknown type.
        """
        return cls.of(*_read(path, ""), Path(path).name)


Part: TypeAlias = str | Image | File
"""A part of a user's turn."""


@FrozenDataclass()
class SystemTurn:
    """Instructions of the application."""

    text: str
    role: Literal["system"] = "system"
    sections: tuple[SectionPath, ...] = ()
    """The prompt's sections that the turn shows; see `Conversation.sent`."""


@FrozenDataclass()
class DeveloperTurn:
    """Instructions of the developer."""

    text: str
    role: Literal["developer"] = "developer"
    sections: tuple[SectionPath, ...] = ()
    """The prompt's sections that the turn shows; see `Conversation.sent`."""


@FrozenDataclass()
class UserTurn:
    """The user's texts, images and files, in order."""

    parts: tuple[Part, ...]
    role: Literal["user"] = "user"
    sections: tuple[SectionPath, ...] = ()
    """The prompt's sections that the turn shows, if the user didn't say it."""

    @property
    def text(self) -> str:
        """The texts alone, joined."""
        return "".join(part for part in self.parts if isinstance(part, str))


@FrozenDataclass()
class CallMade:
    """A call of the model; the arguments are JSON text or an object, as the model gave them."""

    id: str
    name: str
    arguments: str | dict[str, object] = "{}"


@FrozenDataclass()
class AssistantTurn:
    """A message of the model: text, tool calls, or both."""

    text: str = ""
    calls: tuple[CallMade, ...] = ()
    provider: str = ""
    native: tuple[dict[str, object], ...] | None = None
    """The message in that provider's own form, which it is sent back unchanged: the form has what
    the other fields don't, such as signed thinking. Other providers get the text and the calls."""
    role: Literal["assistant"] = "assistant"


@FrozenDataclass()
class ToolAnswer:
    """The result of one call, as the model got it."""

    call_id: str
    name: str
    text: str
    success: bool = True
    tools: tuple[str, ...] = ()
    """Deferred tools that the model can call from here on."""
    summary: str | None = None
    """The text that a context policy sends in place of an old result."""
    priority: Priority = Priority.MEDIUM
    """How long a context policy keeps the result."""
    full: str | None = None
    """The result as it was, if a policy with `handles` replaced it."""
    handle: str = ""
    """The name by which `read_result` returns `full`."""
    sections: tuple[SectionPath, ...] = ()
    """The prompt's sections that the result shows; no policy removes it."""


@FrozenDataclass()
class ToolTurn:
    """The results of a message's calls, in their order."""

    answers: tuple[ToolAnswer, ...]
    role: Literal["tool"] = "tool"


Turn: TypeAlias = SystemTurn | DeveloperTurn | UserTurn | AssistantTurn | ToolTurn


# For a message whose sections aren't named: a turn that shows none wouldn't be the prompt's.
_UNNAMED: Any = ((),)
_PROMPT_TURNS = {Role.SYSTEM: SystemTurn, Role.DEVELOPER: DeveloperTurn}


@FrozenDataclass()
class Conversation:
    """Turns of a conversation, the oldest first; immutable.

    An evaluation begins one with the messages of its prompt, and continues one that has begun:

    >>> conversation = Conversation().with_examples([("2 + 2", "4")]).user("And 3 + 3?")
    >>> [turn.role for turn in conversation.begin(()).turns]
    ['user', 'assistant', 'user']
    >>> Conversation.from_json(conversation.to_json()) == conversation
    True

    Each evaluation compares what its prompt shows with what was sent. What is new is appended,
    so that the provider's cache keeps all that was sent before; if anything else differs, the
    beginning is rendered anew.
    """

    turns: tuple[Turn, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    """Inputs and outputs that are shown between the instructions and the user's first message."""
    begun: int = 0
    """The number of turns at the beginning that the prompt and the examples made."""
    appends: bool = False
    """True if the prompt's tools were offered so that sections can be opened by appending them."""
    opened: tuple[tuple[str, ...], ...] = ()
    """Paths of the sections that the model opened since."""
    sent: SentPrompt = NOTHING_SENT
    format: int = field(default=FORMAT, repr=False)

    @property
    def said(self) -> tuple[str, ...]:
        """The texts of what the user said, the oldest first: without the prompt and examples."""
        return tuple(turn.text for turn in self._added() if isinstance(turn, UserTurn))

    def system(self, text: str) -> Conversation:
        """Return the conversation with an instruction of the application at its end."""
        return self.add(SystemTurn(text))

    def developer(self, text: str) -> Conversation:
        """Return the conversation with an instruction of the developer at its end."""
        return self.add(DeveloperTurn(text))

    def user(self, *parts: Part) -> Conversation:
        """Return the conversation with something that the user says at its end."""
        if not parts:
            raise PromptValidationError("A user's turn has at least one part.")
        return self.add(UserTurn(parts))

    def assistant(self, text: str) -> Conversation:
        """Return the conversation with an answer of the model at its end."""
        return self.add(AssistantTurn(text))

    def add(self, *turns: Turn) -> Conversation:
        """Return the conversation with these turns at its end."""
        return replace(self, turns=(*self.turns, *turns))

    def with_examples(
        self, examples: Iterable[Example[object, object] | tuple[object, object]]
    ) -> Conversation:
        """Return the conversation with examples, each an input and the answer to it.

        They become turns of the user and the model, before the user's first message. Anything but
        text, such as a dataclass, is shown as JSON. The reasoning of an `Example` isn't shown: the
        model would write its own into the answer.

        Raises:
            PromptConfigurationError: The conversation has begun.
        """
        if self.begun:
            raise PromptConfigurationError(
                "Examples come before a conversation begins; this one has begun."
            )
        pairs = (
            example if isinstance(example, tuple) else (example.input, example.output)
            for example in examples
        )
        added = tuple(
            (json_text(to_json(params)), json_text(to_json(answer))) for params, answer in pairs
        )
        return replace(self, examples=(*self.examples, *added))

    def begin(
        self,
        messages: Sequence[PromptMessage],
        *,
        appends: bool = False,
        sent: SentPrompt = NOTHING_SENT,
        sections: Sequence[tuple[SectionPath, ...]] = (),
    ) -> Conversation:
        """Return the conversation with a prompt's messages and the examples in front.

        A conversation that has begun is returned as it is. `sections` has the paths of the sections
        that each message shows.
        """
        if self.begun:
            return self
        first: list[Turn] = []
        last: list[Turn] = []
        for message, paths in zip_longest(messages, sections[: len(messages)], fillvalue=_UNNAMED):
            make = _PROMPT_TURNS.get(message.role)
            if make is not None:
                first.append(make(message.text, sections=paths))
            elif message.text or not self.turns:
                last.append(UserTurn((message.text,), sections=paths))
        beginning = (*first, *self._examples(), *last)
        turns = (*beginning, *self.turns)
        return replace(self, turns=turns, begun=len(beginning), appends=appends, sent=sent)

    def append(
        self, messages: Iterable[tuple[Role, str]], sections: Sequence[SectionPath]
    ) -> Conversation:
        """Return the conversation with sections of the prompt behind all that was answered.

        What the user says next stays behind the user's sections; instructions follow it.
        """
        answered = (AssistantTurn, ToolTurn)
        at = max((n for n, t in enumerate(self.turns, 1) if isinstance(t, answered)), default=0)
        at = max(at, self.begun)
        before: list[Turn] = []
        after: list[Turn] = []
        for role, text in messages:
            make = _PROMPT_TURNS.get(role)
            if make is None:
                before.append(UserTurn((text,), sections=tuple(sections)))
            else:
                after.append(make(text, sections=tuple(sections)))
        return replace(self, turns=(*self.turns[:at], *before, *self.turns[at:], *after))

    def restart(
        self, note: str = ENGLISH.sections_above, gone: Collection[str] = ()
    ) -> Conversation:
        """Return the conversation as if it hadn't begun: without anything of the prompt.

        The `note` replaces results that show sections, and those of the calls with the ids in
        `gone`. The model's messages lose their provider's own form: the provider takes that only
        behind the messages that it was made behind.
        """
        # One that was begun by an earlier version doesn't say what its results show.
        opening = "open_sections" if self.begun and not self.sent.sections else ""
        turns: list[Turn] = []
        for turn in self._added():
            if isinstance(turn, AssistantTurn):
                turns.append(replace(turn, native=None))
            elif isinstance(turn, ToolTurn):
                shown = [
                    replace(answer, text=note, tools=(), sections=())
                    if answer.sections
                    or answer.call_id in gone
                    or (answer.name == opening and answer.success)
                    else answer
                    for answer in turn.answers
                ]
                turns.append(ToolTurn(tuple(shown)))
            else:
                turns.append(turn)
        return replace(
            self, turns=tuple(turns), begun=0, appends=False, opened=(), sent=NOTHING_SENT
        )

    def close(self, paths: Iterable[SectionPath]) -> Conversation:
        """Return the conversation without these sections among those that the model opened."""
        closed = set(map(tuple, paths))
        return replace(self, opened=tuple(path for path in self.opened if path not in closed))

    @property
    def shows(self) -> set[SectionPath]:
        """The paths of the prompt's sections that turns and results show."""
        return {path for turn in self.turns for path in shows(turn)}

    def _examples(self) -> list[Turn]:
        return [
            turn
            for params, answer in self.examples
            for turn in (UserTurn((params,)), AssistantTurn(answer))
        ]

    def _added(self) -> Iterator[Turn]:
        """Yield the turns that neither the prompt nor the examples made."""
        if self.begun and not self.sent.sections:
            yield from self.turns[self.begun :]
            return
        examples = self._examples()
        for number, turn in enumerate(self.turns):
            # Turns may have been dropped since it began.
            is_prompts = shows(turn) and not isinstance(turn, ToolTurn)
            if not is_prompts and (number >= self.begun or turn not in examples):
                yield turn

    def open(self, paths: Iterable[SectionPath]) -> Conversation:
        """Return the conversation with these sections among the opened ones."""
        return replace(self, opened=tuple(dict.fromkeys((*self.opened, *map(tuple, paths)))))

    def to_json(self) -> str:
        """Return the conversation as JSON text."""
        return json.dumps(to_json(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: object) -> Conversation:
        """Return the conversation from the result of `to_json`.

        Raises:
            ValueError: The text has another form; the message has the location.
        """
        return read_json(str(text), cls, "conversation", FORMAT)


def shows(turn: Turn) -> tuple[SectionPath, ...]:
    """Return the paths of the prompt's sections that a turn shows."""
    match turn:
        case AssistantTurn():
            return ()
        case ToolTurn():
            return tuple(path for answer in turn.answers for path in answer.sections)
        case _:
            return turn.sections


def _read(path: str | os.PathLike[str], family: str) -> tuple[bytes, str]:
    media_type = mimetypes.guess_type(str(path))[0] or ""
    if not media_type or not media_type.startswith(family):
        kind = "an image" if family else "a file of a known type"
        raise PromptValidationError(
            f"The name of {Path(path).name!r} isn't that of {kind}; give the content and its "
            "media type to `of`."
        )
    return read_bytes_file(Path(path), MAX_PART_BYTES), media_type
