"""What adopting brings: its verb, its command, and the code action of a text."""

from foldline.ide.plugins import Plugin


class Adopt(Plugin):
    """Makes prompt modules of strings, f-strings, templates and messages."""

    heading = "Prompts"
    verbs = {"adopt": "foldline.plugins.adopt.verb"}
    commands = {"foldline.server.prompt.adopt": "foldline.plugins.adopt.command"}
