"""A prompt in another framework, which sends it and passes on the model's calls."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar, Unpack

from foldline.prompts.adapters.base import BaseAdapter
from foldline.prompts.adapters.disclosure import DEFAULT_MAX_EXPANSIONS, ExpansionLoop
from foldline.prompts.adapters.schemas import ToolDefinition, tool_definitions
from foldline.prompts.disclosure.opening import Appending
from foldline.prompts.errors import ExpansionLimitError, VisibilityExpansionRequired
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.roles import Role
from foldline.prompts.runtime.dispatch import ToolCall, tool_text
from foldline.prompts.runtime.options import EvaluationKeywords, EvaluationOptions

if TYPE_CHECKING:
    from foldline.prompts.prompt import Prompt
    from foldline.prompts.template import PromptTemplate

OutputT = TypeVar("OutputT")


class PromptToolset(Generic[OutputT]):
    """A prompt for one run of an agent in another framework, which talks to the model itself.

    Give the framework `instructions`, `input` and `definitions`, which stay the same for the whole
    run, and pass each call of one of these tools to `call`. A section that the model opens is in
    the result of that call, with the tools that it brings: nothing changes that was sent before.
    `parse_output(text, toolset.rendered)` reads the declared output.

    Args:
        prompt: A prompt or a template; a rendered prompt can't open anything.
        params: Instances to bind.
        max_expansions: How many requests for sections are granted.
        options: As for `evaluate`; those about the model's answer have no effect.

    Raises:
        PromptConfigurationError: The arguments don't fit the prompt.
        PromptRenderError: It can't be rendered with its parameters.
    """

    def __init__(
        self,
        prompt: Prompt[OutputT] | PromptTemplate[OutputT],
        *params: object,
        max_expansions: int = DEFAULT_MAX_EXPANSIONS,
        **options: Unpack[EvaluationKeywords],
    ) -> None:
        settings = EvaluationOptions.of("PromptToolset", **options)
        self._loop = ExpansionLoop(prompt, *params, options=settings, max_expansions=max_expansions)
        self._run = self._loop.begin(_Elsewhere())
        # Calls may change the same session, and frameworks make them at the same time.
        self._lock = threading.Lock()

    @property
    def instructions(self) -> str:
        """The messages of the system and the developer, with a blank line between; may be empty."""
        messages = self._run.sent.messages
        return "\n\n".join(message.text for message in messages if message.role is not Role.USER)

    @property
    def input(self) -> str:
        """The message of the user; may be empty."""
        messages = self._run.sent.messages
        return "".join(message.text for message in messages if message.role is Role.USER)

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools to offer, the same for the whole run."""
        return tuple(tool_definitions(self._run.sent))

    @property
    def rendered(self) -> RenderedPrompt[OutputT]:
        """The prompt with all that was opened so far."""
        return self._run.rendered

    def call(self, name: str, arguments: str | Mapping[str, object] | None = None) -> str:
        """Run a call of the model, and return the text of its result.

        A failed call says in its text what is wrong. Calls run one after the other.

        Args:
            name: The tool's name.
            arguments: JSON text, or what it was parsed to; None for none.

        Raises:
            EvaluationTimeoutError: The deadline of the options passed.
            PromptEvaluationError: The cancellation of the options was set.
        """
        with self._lock:
            try:
                (outcome,) = self._run.call([ToolCall(uuid.uuid4().hex, name, arguments or "{}")])
            except ExpansionLimitError as error:
                return str(error)
            except VisibilityExpansionRequired as request:
                keys = ", ".join(map(repr, request.section_keys))
                return f"Cannot open {keys} here: {self._loop.why}."
            return tool_text(outcome.result)


class _Elsewhere(BaseAdapter):
    """Stands for the framework's own requests."""

    provider = "elsewhere"
    appending = Appending()

    def converse(self, rendered: object, conversation: object) -> NoReturn:
        raise NotImplementedError
