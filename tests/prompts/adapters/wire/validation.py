"""Requests against the SDKs' own types."""

import functools
import json
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from .prefix import Json

__all__ = ["UnlikeError", "check"]


class UnlikeError(AssertionError):
    """A request that isn't what the SDK's types say."""


def check(api: str, request: Json, *, beta: bool = False) -> None:
    """Check a request of `anthropic`, `openai` (chat completions) or `openai-responses`.

    Raises:
        UnlikeError: It has another form, or something that the types don't know.
    """
    kind = _kind(api, bool(request.get("stream", False)), beta)
    try:
        checked = _consumed(_adapter(kind).validate_python(request, strict=True))
    except ValidationError as error:
        raise UnlikeError(str(error)) from error
    if _known(json.loads(json.dumps(checked))) != _known(request):
        raise UnlikeError(f"the types don't know all of {json.dumps(request)[:2_000]}")


def _known(request: Json) -> Json:
    """The request without the tools' schemas, of which the beta types know only a part."""
    if "tools" not in request:
        return request
    return {
        **request,
        "tools": [{k: v for k, v in t.items() if k != "input_schema"} for t in request["tools"]],
    }


def _kind(api: str, streaming: bool, beta: bool) -> Any:
    if api == "anthropic" and beta:
        from anthropic.types.beta import message_create_params as of_beta

        return (
            of_beta.MessageCreateParamsStreaming
            if streaming
            else of_beta.MessageCreateParamsNonStreaming
        )
    if api == "anthropic":
        from anthropic.types import message_create_params as of_messages

        return (
            of_messages.MessageCreateParamsStreaming
            if streaming
            else of_messages.MessageCreateParamsNonStreaming
        )
    if api == "openai-responses":
        from openai.types.responses import response_create_params as of_responses

        return (
            of_responses.ResponseCreateParamsStreaming
            if streaming
            else of_responses.ResponseCreateParamsNonStreaming
        )
    from openai.types.chat import completion_create_params as of_chat

    return (
        of_chat.CompletionCreateParamsStreaming
        if streaming
        else of_chat.CompletionCreateParamsNonStreaming
    )


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Kept, because what is checked lazily needs it; and building one takes a second."""
    return TypeAdapter(kind)


def _consumed(value: object) -> object:
    """The value with its lazily checked parts checked."""
    if isinstance(value, BaseModel):
        # A request may have blocks of answers, which the SDK's classes describe.
        known = value.model_fields_set & type(value).model_fields.keys()
        return {name: _consumed(getattr(value, name)) for name in known}
    if isinstance(value, dict):
        return {key: _consumed(item) for key, item in value.items()}
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value
    return [_consumed(item) for item in value]
