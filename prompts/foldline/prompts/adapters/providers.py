"""The adapters on providers' SDKs, by the names that people give the providers' APIs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldline.prompts.adapters.sdk import SdkAdapter

SDK_ADAPTERS = {
    "openai": "OpenAIAdapter",
    "openai-responses": "OpenAIResponsesAdapter",
    "anthropic": "AnthropicAdapter",
}


def sdk_adapter(provider: str) -> type[SdkAdapter[Any]]:
    """Return the class of an adapter; its SDK needn't be installed."""
    module = import_module(f"foldline.prompts.adapters.{provider.replace('-', '_')}")
    adapter: type[SdkAdapter[Any]] = getattr(module, SDK_ADAPTERS[provider])
    return adapter
