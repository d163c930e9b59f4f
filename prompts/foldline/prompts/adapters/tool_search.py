"""Tools that the model finds by the provider's tool search, instead of getting all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from foldline.prompts.adapters.schemas import allowed_name
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.prompts.layout.tree import Node
    from foldline.prompts.rendered import RenderedPrompt


@FrozenDataclass()
class ToolSearch:
    """Sends the tools of open sections deferred where there are many; the model searches for them.

    The provider runs the search. Tools of folded sections aren't found: their section has to be
    opened first. The tools that open and read sections are always shown.

    >>> search = ToolSearch(keep=("look_up",))

    Args:
        beyond: The most tools of open sections that are all shown; with more, they are deferred.
        keep: Names of tools that are shown in any case, such as those that every answer needs.
        variant: How Anthropic's models search: `bm25` by words, `regex` by patterns. OpenAI's
            have one way.

    Raises:
        PromptConfigurationError: `beyond` is negative.
    """

    beyond: int = 10
    keep: tuple[str, ...] = ()
    variant: Literal["bm25", "regex"] = "bm25"

    def __post_init__(self) -> None:
        if self.beyond < 0:
            raise PromptConfigurationError(f"`beyond` must be 0 or more, not {self.beyond}.")

    def deferred(self, rendered: RenderedPrompt[object]) -> Mapping[str, Namespace]:
        """Return the tools of a prompt that the model has to find, each with its section's name."""
        source = rendered._source  # noqa: SLF001 - Only the pass that rendered knows the sections.
        if source is None:
            return {}
        nodes = source.plan.by_path.values()
        owners = {tool.name: node for node in nodes for tool in node.section.tools}
        owned = [tool.name for tool in rendered.tools if tool.name in owners]
        if len(owned) <= self.beyond:
            return {}
        spaces: dict[str, Namespace] = {}
        found = {}
        for name in owned:
            if name not in self.keep:
                found[name] = _namespace(owners[name], spaces)
        return found


@FrozenDataclass()
class Namespace:
    """A section, as the group of its tools.

    Args:
        name: Its dotted key, as far as providers allow its characters.
        title: Its title.
    """

    name: str
    title: str


def _namespace(node: Node, spaces: dict[str, Namespace]) -> Namespace:
    """Return the namespace of a section; `spaces` has those of others, by their dotted keys."""
    if node.dotted not in spaces:
        name = allowed_name(node.dotted)
        if any(other.name == name for other in spaces.values()):
            name = f"{name[:59]}_{len(spaces)}"
        spaces[node.dotted] = Namespace(name, node.section.title)
    return spaces[node.dotted]
