"""Base of the adapters on official SDKs: one client, bounded requests, one kind of error."""

from __future__ import annotations

import contextvars
import importlib.util
import inspect
import socket
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, Unpack

from foldline.prompts import errors, runtime
from foldline.prompts.adapters.base import DEFAULT_MAX_TURNS, BaseAdapter, render_for_evaluation
from foldline.prompts.adapters.context import ManagedConversation
from foldline.prompts.adapters.protocol import Bounds, Evaluable, ModelTurn, report_request
from foldline.prompts.adapters.run import tool_turn
from foldline.prompts.context import ContextPolicy
from foldline.prompts.disclosure.opening import Appending, stable
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.bounded import CancelScope, bounded
from foldline.prompts.tool_calls import well_formed

__all__ = ["SdkAdapter", "SdkExchange"]

ClientT = TypeVar("ClientT")

DEFAULT_TIMEOUT = 120.0
"""Seconds without a byte from the provider after which a request fails."""
DEFAULT_MAX_RETRIES = 2
_NOT_IN_BODY = ("extra_body", "extra_headers", "extra_query", "timeout")

# A request runs in a thread of its own (`bounded`), and the SDK offers no way to end one from
# outside. So the thread's scope is a context variable, which the HTTP client's hook reads before a
# request, to keep the SDK from repeating a cancelled one, and its connections, to break when it is
# cancelled. What remains until it ends is the wait of the SDK before it repeats a request, and the
# making of a connection; the timeout bounds both, and the deadline shortens it.
_SCOPE: contextvars.ContextVar[CancelScope | None] = contextvars.ContextVar(
    "foldline_cancel_scope", default=None
)


@dataclass(frozen=True, slots=True)
class Request:
    """A running request, in its own thread."""

    scope: CancelScope
    timeout: float
    streaming: bool


class SdkExchange(ABC):
    """The requests of one evaluation; `request` has the arguments of the SDK's next call."""

    request: dict[str, Any]
    result_key: ClassVar[str] = "content"
    """The key of a tool's result that has its text."""

    def __init__(self, adapter: SdkAdapter[Any], conversation: runtime.Conversation) -> None:
        self._adapter = adapter
        self._results = [r for turn in conversation.turns for r in self._added(turn)]

    @abstractmethod
    def _added(self, turn: runtime.Turn) -> Sequence[dict[str, Any]]:
        """Add a turn to the next request, and return the results of tools in it."""

    @abstractmethod
    def _endpoint(self) -> Any:
        """Return the SDK's resource that is called."""

    @abstractmethod
    def _send(self, request: Request) -> ModelTurn:
        """Request the model's next message, in the thread of the request."""

    def ask(self, **bounds: Unpack[Bounds]) -> ModelTurn:
        """Request the model's next message."""
        self._adapter.check_options(self._endpoint().create)
        return self._adapter.asked(self._send, **bounds)

    def tell(self, outcomes: Sequence[runtime.ToolOutcome]) -> None:
        """Add the results of the last message's calls to the next request."""
        self._results += self._added(tool_turn(outcomes))

    def add(self, turn: runtime.SystemTurn | runtime.DeveloperTurn) -> None:
        """Add a message after the results."""
        self._added(turn)

    def revise(self, texts: Mapping[int, str]) -> None:
        """Send these texts in place of results that were given earlier."""
        for number, text in texts.items():
            self._results[number][self.result_key] = text

    def _sent(self, request: Request, **more: object) -> dict[str, Any]:
        """Return the arguments as they are sent, and report the body; `more` replaces some."""
        sent: dict[str, Any] = {**well_formed(self.request), **more}
        body = {name: value for name, value in sent.items() if name not in _NOT_IN_BODY}
        request.scope.emit({**body, **(sent.get("extra_body") or {})})
        return sent

    def _whole(self, request: Request) -> Any:
        """Return the raw response to a request that isn't streamed."""
        create = self._endpoint().with_raw_response.create
        with self._adapter.sending():
            return create(**self._sent(request, stream=False), timeout=request.timeout)

    def _begun(self, request: Request, **more: object) -> Any:
        """Return the stream of a response; `more` replaces arguments."""
        create = self._endpoint().create
        with self._adapter.sending():
            return create(**self._sent(request, **more, stream=True), timeout=request.timeout)


class SdkAdapter(BaseAdapter, Generic[ClientT]):
    """An adapter that sends its requests with an official SDK.

    Args:
        model: The provider's name of the model.
        client: A client of the SDK to use as is, for settings without an argument here.
        api_key: The key; by default from the SDK's environment variable.
        base_url: Another endpoint that speaks the same protocol.
        max_turns: The most messages of the model per answer.
        timeout: Seconds without a byte from the provider after which a request fails; a deadline
            can shorten them.
        max_retries: How often the SDK repeats a request after a transient failure.
        options: Further arguments for the SDK's request function.
        context_policy: See `BaseAdapter`, also for `max_concurrency`.
        appending: The means to open sections without a change of what was sent; by default what
            the model supports, None to render prompts anew.

    Raises:
        PromptConfigurationError: The SDK isn't installed, the adapter itself sets an option, or
            its API or the model lacks the means of `appending`.
    """

    sdk: str
    """Name of the SDK's package, and of the extra that installs it."""
    client_class: str
    """Name of the SDK's client; that of its base class of errors has `Error` behind it."""
    own_options: frozenset[str]
    """The request arguments that the adapter sets itself."""
    adds_tools = False
    """True if the API has a means to bring tools in the middle of a conversation."""

    def __init__(
        self,
        model: str,
        *,
        client: ClientT | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES,
        options: Mapping[str, object] | None = None,
        context_policy: ContextPolicy | None = None,
        appending: Appending | Literal["auto"] | None = "auto",
        max_concurrency: int | None = None,
    ) -> None:
        super().__init__(
            max_turns=max_turns, context_policy=context_policy, max_concurrency=max_concurrency
        )
        self._appending = appending
        self.model = model
        deferred = isinstance(appending, Appending) and appending.tools == "deferred"
        if deferred and not self.adds_tools:
            raise errors.PromptConfigurationError(
                f"{type(self).__name__} can't bring tools later: its API has no such thing. Use "
                'Appending(tools="proxy").'
            )
        if client is None and importlib.util.find_spec(self.sdk) is None:
            raise errors.PromptConfigurationError(
                f"{type(self).__name__} needs the package {self.sdk!r}: "
                f"install foldline[{self.sdk}]."
            )
        self.options: dict[str, Any] = dict(options or {})
        taken = sorted(self.own_options & self.options.keys())
        if taken:
            raise errors.PromptConfigurationError(
                f"`options` cannot set {', '.join(taken)}: the prompt and the adapter's own "
                "arguments decide that."
            )
        self._api_key = api_key
        self._base_url = base_url
        self._timeout = timeout
        self._max_retries = max_retries
        self._lock = threading.Lock()
        self._client = client
        self._closing: weakref.finalize[..., SdkAdapter[ClientT]] | None = None

    @property
    def appending(self) -> Appending | None:
        """The means to open sections without a change of what was sent."""
        return self.supported() if self._appending == "auto" else self._appending

    @abstractmethod
    def supported(self) -> Appending | None:
        """Return the means that the model supports."""

    @property
    def client(self) -> ClientT:
        """The SDK's client, created at first use.

        Raises:
            PromptConfigurationError: The SDK lacks something, such as a key.
        """
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def close(self) -> None:
        """Close the connections, except those of a `client` argument."""
        with self._lock:
            if self._closing is not None:
                self._closing()
                self._client = self._closing = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check_options(self, send: Callable[..., object]) -> None:
        """Check that the SDK's request function accepts all options.

        Raises:
            PromptConfigurationError: It doesn't; the message has near names.
        """
        parameters = inspect.signature(send).parameters
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            return
        for name in self.options:
            if name not in parameters:
                near = errors.near_names(name, parameters)
                raise errors.PromptConfigurationError(
                    f"The SDK {self.sdk!r} knows no option {name!r}"
                    + errors.did_you_mean(near)
                    + "; `extra_body` accepts anything else.",
                    near=near,
                )

    @abstractmethod
    def converse(
        self, rendered: RenderedPrompt[object], conversation: runtime.Conversation
    ) -> SdkExchange:
        """Return a new exchange that continues this conversation."""

    def request(
        self, prompt: Evaluable[object], *params: object, loop: bool = False
    ) -> dict[str, object]:
        """Return the body of the first request of `evaluate`, which is not sent and needs no key.

        Give it what `render_for_evaluation` returns to choose chapters or sections. With `loop`,
        it's the first one of `evaluate_with_disclosure`, which may have more tools.

        Raises:
            PromptConfigurationError: The API can't express the prompt.
        """
        rendered = render_for_evaluation(prompt, *params)
        if loop and self.appending is not None:
            rendered = stable(rendered, self.appending)
        policy = self.policy_for(rendered, None)
        if policy is not None:
            rendered = ManagedConversation(policy, runtime.Conversation).offered(rendered)
        return self.converse(rendered, runtime.Conversation().begin(rendered.messages)).request

    def asked(
        self,
        request: Callable[[Request], ModelTurn],
        **bounds: Unpack[Bounds],
    ) -> ModelTurn:
        """Run one request in its own thread, and return the answer.

        After a timeout or a cancellation, the request isn't repeated, and its connection breaks;
        one of a `client` argument stays until the request ends by itself.
        """
        deadline, on_text = bounds["deadline"], bounds["on_text"]

        def call(scope: CancelScope) -> ModelTurn:
            _SCOPE.set(scope)
            timeout = self._timeout
            if deadline is not None:
                # Never 0: with that, even a request at the last moment couldn't connect.
                timeout = max(min(timeout, deadline.remaining), 0.001)
            try:
                return request(Request(scope, timeout, streaming=on_text is not None))
            except (errors.PromptEvaluationError, errors.PromptConfigurationError):
                raise
            except Exception as error:
                # Callers handle one kind of error, whatever the SDK raises.
                raise self._failure(error) from error

        pieces: list[str] = []

        def receive(piece: object) -> None:
            if isinstance(piece, dict):
                # In the caller's thread, where events are published.
                report_request(piece)
            elif on_text is not None:
                pieces.append(str(piece))
                on_text(pieces[-1])

        try:
            return bounded(
                call,
                what="a request",
                deadline=deadline,
                cancellation=bounds["cancellation"],
                provider=self.provider,
                receive=receive,
            )
        except errors.PromptEvaluationError as error:
            error.text = error.text or "".join(pieces)
            raise

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Wrap what the SDK does until there is an answer, so that its errors aren't the answer's.

        Raises:
            PromptConfigurationError: The SDK can't send the request, for want of a key or with an
                option of the wrong type.
        """
        try:
            yield
        except (TypeError, ValueError) as error:
            words = str(error).strip('".')
            problem = f"{type(self).__name__} can't send the request: {words}."
            if not any(getattr(self.client, name, None) for name in ("api_key", "auth_token")):
                problem = (
                    f"{type(self).__name__} has no key: give `api_key`, or set "
                    f"{self.sdk.upper()}_API_KEY ({words})."
                )
            raise errors.PromptConfigurationError(problem) from error

    def failed(
        self,
        message: str,
        kind: errors.EvaluationFailure,
        *,
        request_id: str | None = None,
        text: str = "",
    ) -> errors.PromptEvaluationError:
        """Return the error for a response without a usable answer."""
        return errors.PromptEvaluationError(
            message, kind=kind, provider=self.provider, request_id=request_id, text=text
        )

    def _connect(self) -> ClientT:
        sdk: Any = import_module(self.sdk)
        http_client = sdk.DefaultHttpxClient(
            event_hooks={"request": [lambda _: (_SCOPE.get() or CancelScope()).check()]},
            # As many connections at once as there are evaluations; by default, the others wait.
            limits=import_module("httpx2").Limits(max_keepalive_connections=100),
        )
        for transport in (http_client._transport, *http_client._mounts.values()):  # noqa: SLF001
            # httpx2 has no public access to its connections.
            network: Any = getattr(getattr(transport, "_pool", None), "_network_backend", None)
            if network is not None:
                network.connect_tcp = partial(_Connection, network.connect_tcp)
        # An adapter that is garbage-collected leaves no connections open.
        self._closing = weakref.finalize(self, http_client.close)
        try:
            client: ClientT = getattr(sdk, self.client_class)(
                api_key=self._api_key,
                base_url=self._base_url,
                max_retries=self._max_retries,
                http_client=http_client,
            )
        except getattr(sdk, f"{self.client_class}Error") as error:
            self._closing()
            raise errors.PromptConfigurationError(f"{type(self).__name__}: {error}") from error
        return client

    def _failure(self, error: Exception) -> errors.PromptEvaluationError:
        sdk: Any = import_module(self.sdk)
        response = getattr(error, "response", None)
        headers: Mapping[str, str] = getattr(response, "headers", {})
        request_id = headers.get("x-request-id") or headers.get("request-id")
        if isinstance(error, sdk.APITimeoutError):
            return errors.EvaluationTimeoutError(
                f"{self.provider} sent nothing for too long.", provider=self.provider
            )
        if isinstance(error, sdk.APIStatusError):
            status = getattr(error, "status_code", None)
            return errors.PromptEvaluationError(
                f"{self.provider} answered with status {status}: {error}",
                kind=errors.EvaluationFailure.PROVIDER,
                provider=self.provider,
                status=status,
                request_id=request_id,
                retry_after=_seconds(headers.get("retry-after")),
            )
        kind, invalid = errors.EvaluationFailure, sdk.APIResponseValidationError
        if isinstance(error, sdk.APIConnectionError):
            why = (error.__cause__ and str(error.__cause__)) or error
            told = f"{self.provider} could not be reached, or the connection broke: {why}"
            return self.failed(told, kind.CONNECTION)
        if isinstance(error, sdk.APIError) and not isinstance(error, invalid):
            # An error in the middle of a stream has no status of its own.
            return self.failed(f"{self.provider} stopped with an error: {error}", kind.PROVIDER)
        if type(error).__module__.partition(".")[0].startswith("httpx"):
            told = f"The connection to {self.provider} broke: {error}"
            return self.failed(told, kind.CONNECTION)
        of_client = getattr(sdk, f"{self.client_class}Error")
        if isinstance(error, of_client) and not isinstance(error, invalid):
            return self.failed(f"{self.provider}: {error}", kind.UNKNOWN)
        told = f"The answer of {self.provider} violates its protocol: {type(error).__name__}"
        return self.failed(f"{told}: {error}", kind.MALFORMED, request_id=request_id)


def plain_message(
    turn: runtime.SystemTurn | runtime.DeveloperTurn | runtime.UserTurn,
    part_of: Callable[[str | runtime.Image | runtime.File], dict[str, object]],
) -> dict[str, object]:
    """Return a turn that isn't the model's as a message; `part_of` returns images and files."""
    parts = turn.parts if isinstance(turn, runtime.UserTurn) else (turn.text,)
    match parts:
        case (str() as text,):
            return {"role": turn.role, "content": text}
    return {"role": turn.role, "content": [part_of(part) for part in parts]}


class _Connection:
    """A connection, of the request that uses it last."""

    def __init__(self, connect: Callable[..., Any], *args: Any, **keywords: Any) -> None:
        self._stream = connect(*args, **keywords)
        self._lock = threading.Lock()
        self._scope: CancelScope | None = None

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._stream, name)
        return partial(self._used, value) if name in ("read", "write", "start_tls") else value

    def _used(self, call: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        scope = _SCOPE.get() or CancelScope()
        if scope is not self._scope:
            with self._lock:
                self._scope = scope
            scope.on_cancel(lambda: self._break(scope))
        try:
            result = call(*args, **keywords)
        finally:
            # Otherwise a connection that broke is what the SDK connects again after.
            scope.check()
        return _Connection(lambda: result) if call.__name__ == "start_tls" else result

    def _break(self, scope: CancelScope) -> None:
        with self._lock:
            taken = self._stream.get_extra_info("socket") if self._scope is scope else None
            if taken is not None:
                with suppress(OSError):
                    # As a plain socket: its encryption may be in use in the thread that reads.
                    socket.socket.shutdown(taken, socket.SHUT_RDWR)


def _seconds(value: str | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None
