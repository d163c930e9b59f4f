from foldline.ide.previews.previews import Previews

__all__ = [
    "Previews",
]
__version__: str
