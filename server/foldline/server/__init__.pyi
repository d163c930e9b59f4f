from foldline.server import app as app
from foldline.server import diagnostic_items as diagnostic_items
from foldline.server import transport as transport

__all__ = []
__version__: str
