"""The plugin of stores: their verb."""

from foldline.ide.plugins import Plugin


class Stores(Plugin):
    """Events of evaluations in files and databases."""

    heading = "Prompts"
    verbs = {"runs": "foldline.plugins.stores.verb"}
