"""What instruction files bring beyond being prompts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foldline.ide.plugins import Action, Link, Plugin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.backends import SmartFileAccess
    from foldline.backends.models import NamedIn, References
    from foldline.ide.checks import Diagnostic
    from foldline.ide.features.completion import Completion
    from foldline.ide.snapshot import Snapshot

SUMMARY = "what it tells"
"""What stands for the summary of a folded section, which a person writes."""


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

    def actions(self, document: Snapshot, start: int, end: int) -> Iterator[Action]:
        """Yield what folds or unfolds the section under the cursor.

        Only for a section that looks like reference, editors show a light bulb.
        """
        if document.instructions is None:
            return
        from foldline.ide.analysis.model import SourceSpan
        from foldline.ide.checks.diagnostic import Change
        from foldline.plugins.instructions.fold import mark_at

        if (mark := mark_at(document.instructions, start)) is not None:
            place = SourceSpan(document.analysis.file, *mark.place)
            change = Change(place, mark.text.format(SUMMARY))
            yield Action(mark.title, (change,), fix=mark.suggested, field=SUMMARY)

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
