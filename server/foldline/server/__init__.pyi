from foldline.server import diagnostic_items as diagnostic_items

__all__ = []
__version__: str
