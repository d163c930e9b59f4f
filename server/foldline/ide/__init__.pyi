from foldline.ide.workspace import AccessOptions, Workspace

__all__ = [
    "AccessOptions",
    "Workspace",
]
__version__: str
