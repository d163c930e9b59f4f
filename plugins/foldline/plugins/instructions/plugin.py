"""What instruction files bring beyond being prompts."""

from foldline.ide.plugins import Plugin


class Instructions(Plugin):
    """Names in instruction files, what clients load of them, and what folding saves."""

    heading = "Prompts"
    verbs = {
        "stack": "foldline.plugins.instructions.stack_verb",
        "fold": "foldline.plugins.instructions.fold_verb",
    }
    commands = {"foldline.server.instructions.stack": "foldline.plugins.instructions.stack_command"}
