"""The plugin of adopting: a verb, a command, and the code action of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.plugins import Action, Plugin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.snapshot import Snapshot

COMMAND = "foldline.server.prompt.adopt"


class Adopt(Plugin):
    """Makes prompt modules of strings, f-strings, templates and messages."""

    heading = "Prompts"
    verbs = {"adopt": "foldline.plugins.adopt.verb"}
    commands = {COMMAND: "foldline.plugins.adopt.command"}

    def actions(self, document: Snapshot, start: int, end: int) -> Iterator[Action]:
        """Yield the adoption of each text of a module under the cursor that can be a prompt."""
        if document.instructions is not None:
            return
        from foldline.plugins.adopt.find import candidates_at

        for candidate in candidates_at(document.analysis.text, start, end):
            title = f"Adopt {candidate.name} as a prompt"
            arguments = {"uri": document.uri, "name": candidate.name, "apply": True}
            yield Action(title, command=COMMAND, arguments=arguments)
