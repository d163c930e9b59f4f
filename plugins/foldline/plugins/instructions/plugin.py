"""What instruction files bring beyond being prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.plugins import Action, Plugin

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    def actions(self, document: Snapshot, start: int, end: int) -> Iterator[Action]:
        """Yield what folds or unfolds the section under the cursor.

        Only for a section that looks like reference, editors show a light bulb.
        """
        if document.source.is_module:
            return
        from foldline.ide.analysis.model import SourceSpan
        from foldline.ide.checks.diagnostic import Change
        from foldline.ide.sources.markdown import MarkdownSource
        from foldline.plugins.instructions.fold import mark_at

        source = document.source
        mark = mark_at(source.file, start) if isinstance(source, MarkdownSource) else None
        if mark is not None:
            place = SourceSpan(document.analysis.file, *mark.place)
            change = Change(place, mark.text.format(SUMMARY))
            yield Action(mark.title, (change,), fix=mark.suggested, field=SUMMARY)
