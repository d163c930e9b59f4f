"""Turns a prompt that is a string, an f-string, a template or messages into a prompt module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide.adopt import find
from foldline.ide.adopt.model import AdoptError, JinjaOptions, Kind, Style
from foldline.ide.adopt.plan import plan as plan_of
from foldline.ide.adopt.proof import prove
from foldline.ide.adopt.read import read_candidate, read_text
from foldline.ide.adopt.write import module_text
from foldline.prompts.errors import near_names

if TYPE_CHECKING:
    from foldline.ide.adopt.find import Candidate
    from foldline.ide.adopt.model import Original
    from foldline.ide.adopt.plan import Plan
    from foldline.ide.adopt.proof import Proof


@dataclass(frozen=True, slots=True)
class Adoption:
    """A new module, and how it compares with its source.

    Attributes:
        text: The module.
        is_whole: Everything of the source is in the prompt, and nothing is left to do by hand.
    """

    plan: Plan
    text: str
    proof: Proof

    @property
    def is_whole(self) -> bool:
        """True if nothing of the source is a remainder."""
        return not self.plan.remainders


def adopt(original: Original) -> Adoption:
    """Return the prompt module for what was read.

    Raises:
        AdoptError: No module can be made of it.
    """
    made = plan_of(original)
    text = module_text(made)
    return Adoption(made, text, prove(made, text))


def read(
    text: str,
    *,
    stem: str,
    is_python: bool,
    name: str | None = None,
    style: Style | None = None,
    options: JinjaOptions | None = None,
) -> Original:
    """Read a prompt of a file.

    Args:
        text: The file's text.
        stem: The file's name without its suffix, which names a prompt that is a whole file.
        is_python: The file is a Python module.
        name: The variable or function of the prompt; None for the only one.
        style: The style of a text; None for the one that it seems to be in.
        options: Those of the Jinja environment, for a file that is a template.

    Raises:
        AdoptError: The file has no such prompt, or several.
    """
    if not is_python:
        if name is not None:
            raise AdoptError("only a Python module has names: the file is one prompt")
        chosen = style or find.style_of_text(text)
        if chosen in (Style.FSTRING, Style.MESSAGES):
            raise AdoptError(f"a file that is one text can't have the style {chosen}")
        return read_text(text, stem, chosen, options or JinjaOptions())
    module = find.parse(text)
    if options is not None:
        module.jinja = options
    return read_candidate(module, _chosen(find.candidates(module), name), style)


def _chosen(found: list[Candidate], name: str | None) -> Candidate:
    if not found:
        raise AdoptError(
            "the module has no string that looks like a prompt; `foldline new PATH` writes a "
            "prompt to begin with"
        )
    if name is None:
        if len(found) == 1:
            return found[0]
        raise AdoptError("the module has several prompts; name one", tuple(found))
    for candidate in found:
        if candidate.name == name:
            return candidate
    tails = [candidate for candidate in found if candidate.name.rpartition(".")[2] == name]
    if len(tails) == 1:
        return tails[0]
    near = near_names(name, [candidate.name for candidate in found])
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise AdoptError(f"the module has no prompt {name!r}{meant}", tuple(found))


__all__ = ["Adoption", "Kind", "adopt", "read"]
