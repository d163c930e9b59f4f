from foldline.ide.render.provenance import Provenance
from foldline.ide.render.renderer import Job, Renderer
from foldline.ide.render.request_plan import Request, common_beginning
from foldline.ide.render.static_request import costed, costs_of, request_of

__all__ = [
    "Job",
    "Provenance",
    "Renderer",
    "Request",
    "common_beginning",
    "costed",
    "costs_of",
    "request_of",
]
__version__: str
