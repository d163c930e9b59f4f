from foldline.backends.outlines.analysis import analysis_of
from foldline.backends.outlines.locations import Position
from foldline.backends.outlines.own_backend import OwnBackend
from foldline.backends.outlines.symbols import find_position, first_column, name_at

__all__ = [
    "OwnBackend",
    "Position",
    "analysis_of",
    "find_position",
    "first_column",
    "name_at",
]
__version__: str
