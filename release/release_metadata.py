"""The parts of the package's metadata that depend on its public address: URLs and README.

Hatchling runs `AddressHook` in every build, from the checkout and from the sdist. It doesn't enter
this module in `sys.modules`, where a dataclass looks annotations up that are texts: hence no
`from __future__ import annotations`.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

FILE = Path("release", "addresses.toml")

_REPOSITORY = re.compile(r"https://github\.com/(?P<owner>[A-Za-z0-9-]+)/[A-Za-z0-9._-]+")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_RELATIVE_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?![a-z]+:|#)(?P<path>[^)\s]+)\)")


class AddressError(ValueError):
    """`addresses.toml` holds an address that a release can't use."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The public addresses of the project."""

    repository: str
    homepage: str

    @property
    def mcp_name(self) -> str:
        """The server's name in the MCP registry; the owner of the repository may publish it."""
        match = _REPOSITORY.fullmatch(self.repository)
        assert match is not None, "checked when it was read"
        return f"io.github.{match['owner']}/foldline"

    def urls(self) -> dict[str, str]:
        """Return the links that a package index shows beside the description."""
        return {
            "Homepage": self.homepage,
            "Repository": self.repository,
            "Changelog": f"{self.repository}/blob/main/CHANGELOG.md",
            "Issues": f"{self.repository}/issues",
        }

    def description(self, readme: str, version: str) -> str:
        """Return the README for a package index.

        An index has none of the files that the README links to, so links lead to the repository
        as it was released. The comment at the end proves to the MCP registry that the package
        belongs to the server of that name.
        """

        def absolute(link: re.Match[str]) -> str:
            kind = "raw" if link["image"] else "blob"
            target = f"{self.repository}/{kind}/v{version}/{link['path']}"
            return f"{link['image']}[{link['text']}]({target})"

        parts = _FENCED.split(readme)
        parts[::2] = [_RELATIVE_LINK.sub(absolute, prose) for prose in parts[::2]]
        return f"{''.join(parts).rstrip()}\n\n<!-- mcp-name: {self.mcp_name} -->\n"


def read_addresses(root: Path) -> Addresses | None:
    """Return the addresses in `root`'s `addresses.toml`, None while it names no repository.

    Raises:
        AddressError: An address doesn't have the form that the file asks for.
    """
    table = tomllib.loads((root / FILE).read_text(encoding="utf-8"))
    repository, homepage = table["repository"], table["homepage"]
    if not repository:
        return None
    if _REPOSITORY.fullmatch(repository) is None:
        raise AddressError(f"{FILE}: write `repository` as https://github.com/OWNER/NAME")
    if homepage and not homepage.startswith("https://"):
        raise AddressError(f"{FILE}: write `homepage` as https://…")
    return Addresses(repository, homepage or repository)


class AddressHook(MetadataHookInterface):
    """Adds URLs and README to the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what the sdist's own metadata doesn't say already."""
        root = Path(self.root)
        addresses = read_addresses(root)
        readme = (root / "README.md").read_text(encoding="utf-8")
        if addresses is not None:
            metadata.setdefault("urls", addresses.urls())
            readme = addresses.description(readme, metadata["version"])
        metadata.setdefault("readme", {"content-type": "text/markdown", "text": readme})
