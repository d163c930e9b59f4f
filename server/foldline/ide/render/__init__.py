"""Running prompts: requests, workers, costs, revisions."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "provenance": ("Provenance",),
        "renderer": ("Job", "Renderer"),
        "request_plan": ("Request", "common_beginning"),
        "static_request": ("costed", "costs_of", "request_of"),
    },
)
