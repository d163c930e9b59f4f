"""The plugin of instruction files: everything about them but their being prompts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foldline.ide.plugins import Plugin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from foldline.backends import SmartFileAccess
    from foldline.backends.models import NamedIn, References
    from foldline.ide.checks import Diagnostic
    from foldline.ide.checks.diagnostic import Change
    from foldline.ide.features.completion import Completion
    from foldline.ide.folder import Folder
    from foldline.ide.plugins import Action, Link
    from foldline.ide.snapshot import Snapshot


class Instructions(Plugin):
    """Names in instruction files, what clients load of them, and what folding saves."""

    heading = "Prompts"
    verbs = {
        "stack": "foldline.plugins.instructions.stack_verb",
        "fold": "foldline.plugins.instructions.fold_verb",
    }
    commands = {"foldline.server.instructions.stack": "foldline.plugins.instructions.stack_command"}
    clients = Path(__file__).with_name("clients.toml")

    # What answers is loaded with the first question: most sessions ask none.

    def check(self, document: Snapshot) -> Iterable[Diagnostic]:
        if document.instructions is None or not document.instructions.has_front_matter:
            return ()
        from foldline.plugins.instructions.checks import check

        return check(document, document.instructions)

    def actions(self, document: Snapshot, start: int, end: int) -> Iterable[Action]:
        if document.instructions is None:
            return ()
        from foldline.plugins.instructions.fold import action_at

        return filter(None, [action_at(document.instructions, document.analysis.file, start)])

    def check_repository(
        self, document: Snapshot, seconds: float, since: float
    ) -> Iterable[Diagnostic]:
        if document.instructions is None:
            return ()
        from foldline.plugins.instructions.checks import check_repository

        return check_repository(document, document.instructions, seconds, since)

    def links(self, document: Snapshot) -> Iterable[Link]:
        from foldline.plugins.instructions.targets import links

        return links(document)

    def completions(self, document: Snapshot, offset: int) -> Iterable[Completion]:
        if document.instructions is None:
            return ()
        from foldline.plugins.instructions.targets import propose

        return propose(document.folder.access, document.instructions, offset)

    def named(
        self, access: SmartFileAccess, references: References, texts: list[str], modules: list[str]
    ) -> Iterable[NamedIn]:
        from foldline.plugins.instructions.named import named

        return named(access, references, texts, modules)

    def follow(self, folder: Folder, names: Mapping[str, str]) -> Iterable[Change]:
        from foldline.plugins.instructions.renaming import follow

        return follow(folder, names)
