"""Imports the user's module under its own name, with the editor's text instead of the file's."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType


class OverlayLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from an editor's text, at the path of its file."""

    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self._text = text

    def get_data(self, path: str | os.PathLike[str]) -> bytes:
        return self._text.encode("utf-8", "surrogatepass")

    def get_code(self, fullname: str) -> CodeType:
        # Bypasses the cache of compiled files, which has the text on disk.
        return self.source_to_code(self._text, self.path)


class WorkspaceLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from its file, and caches its compiled code in our own folder.

    Compiling takes 10 ms per thousand lines, in every render.
    """

    def __init__(self, fullname: str, path: str, pycache: str) -> None:
        super().__init__(fullname, path)
        self._pycache = pycache

    def get_code(self, fullname: str) -> CodeType | None:
        before, sys.pycache_prefix = sys.pycache_prefix, self._pycache
        try:
            return super().get_code(fullname)
        finally:
            sys.pycache_prefix = before

    def path_stats(self, path: str | os.PathLike[str]) -> Mapping[str, int]:
        # Python's own counts seconds: an edit right after another one could look the same.
        status = os.stat(path)  # noqa: PTH116  # A hot path.
        return {"mtime": status.st_mtime_ns, "size": status.st_size}


class OverlayFinder(importlib.abc.MetaPathFinder):
    """Finds modules as usual, but loads those open in an editor from the editor's text."""

    def __init__(
        self, overlays: Mapping[str, str], pycache: str, is_users: Callable[[str], bool]
    ) -> None:
        self._overlays = {os.path.realpath(path): text for path, text in overlays.items()}
        self._pycache = pycache
        self._is_users = is_users

    def loader(self, fullname: str, path: str) -> importlib.machinery.SourceFileLoader:
        """Return the loader of a workspace file: of the editor's text if the file is open."""
        text = self._overlays.get(os.path.realpath(path))
        if text is not None:
            return OverlayLoader(fullname, path, text)
        return WorkspaceLoader(fullname, path, self._pycache)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None:
            return self._unsaved(fullname, sys.path if path is None else path)
        # Other loaders stay: extensions, and compiled files without source.
        if type(spec.loader) is importlib.machinery.SourceFileLoader and spec.origin is not None:
            loader = self.loader(fullname, spec.origin)
            if isinstance(loader, OverlayLoader) or self._is_users(spec.origin):
                spec.loader = loader
                spec.cached = None
        return spec

    def _unsaved(
        self, fullname: str, folders: Sequence[str]
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module that the overlays have and the disk hasn't."""
        name = fullname.rpartition(".")[2]
        for folder in folders:
            path = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118  # A hot path.
            for file in (os.path.join(path, "__init__.py"), f"{path}.py"):  # noqa: PTH118
                if file in self._overlays:
                    loader = OverlayLoader(fullname, file, self._overlays[file])
                    return importlib.util.spec_from_file_location(fullname, file, loader=loader)
            if any(file.startswith(path + os.sep) for file in self._overlays):
                spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
                spec.submodule_search_locations = [path]
                return spec
        return None


def install(overlays: Mapping[str, str], pycache: str, is_users: Callable[[str], bool]) -> None:
    """Use these texts instead of their files from now on.

    Compiled modules of the user are cached below `pycache`.
    """
    sys.meta_path.insert(0, OverlayFinder(overlays, pycache, is_users))
    from foldline.prompts import files

    for path, text in overlays.items():
        files.contents[os.path.realpath(path)] = text.encode("utf-8", "surrogatepass")


def loaded_files(root: str) -> set[str]:
    """Return the files below `root` that modules came from, those of overlays left out."""
    return {
        file
        for module in tuple(sys.modules.values())
        if isinstance(file := getattr(module, "__file__", None), str)
        and file.startswith(root)
        and not isinstance(getattr(module, "__loader__", None), OverlayLoader)
    }


def import_file(file: Path, root: Path) -> ModuleType:
    """Import `file` as a program next to it, or in `root`, would."""
    base, name = module_name(file)
    for folder in dict.fromkeys((str(root), str(base))):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    if name.isidentifier() or all(part.isidentifier() for part in name.split(".")):
        module = importlib.import_module(name)
        if os.path.realpath(getattr(module, "__file__", None) or "") == str(file):
            return module
    # The name is another module's (`types.py`), or isn't an identifier (`my-prompt.py`).
    return _import_as(f"_foldline_{file.stem}", file)


def module_name(file: Path) -> tuple[Path, str]:
    """Return the folder to import `file` from, and its dotted name there."""
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists() and folder.parent != folder:
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _import_as(name: str, file: Path) -> ModuleType:
    finder = next(finder for finder in sys.meta_path if isinstance(finder, OverlayFinder))
    loader = finder.loader(name, str(file))
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file", path=str(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
