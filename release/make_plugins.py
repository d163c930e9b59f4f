"""Writes the manifests of the plugins for agents from `plugins.toml`.

    uv run python release/make_plugins.py

Clients read them from the repository, so they are committed; a test fails while they are older than
their sources.
"""

from __future__ import annotations

import json
import time
import tomllib
import zipfile
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from foldline.version import VERSION
from release_metadata import read_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PLUGIN = Path("release/plugin")
MARKETPLACE = Path(".claude-plugin/marketplace.json")
SOURCE = Path("release/plugins.toml")


def main() -> None:
    """Write each file of this checkout."""
    for path, text in manifests(ROOT, VERSION).items():
        (ROOT / path).write_text(text, encoding="utf-8")


def manifests(root: Path, version: str) -> dict[Path, str]:
    """Return the text of each manifest by its path below `root`."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entry = json.loads((root / "release/server.json").read_text(encoding="utf-8"))
    about = {"name": project["name"], "version": version, "description": entry["description"]}
    about |= {"author": {"name": project["name"]}}
    about |= {key: project[key] for key in ("license", "keywords")}
    template = Template((root / SOURCE).read_text(encoding="utf-8"))
    tables = tomllib.loads(template.safe_substitute(about))
    if addresses := read_addresses(root):
        about |= {"homepage": addresses.homepage, "repository": addresses.repository}
    for path, table in tables.items():
        if path.endswith("plugin.json"):
            table.update(about)
    return {Path(path): f"{json.dumps(table, indent=2)}\n" for path, table in tables.items()}


def manifest_faults(root: Path, version: str) -> Iterator[str]:
    """Yield the faults of the plugins in `root` that linters and clients pass over in silence."""
    made = manifests(root, version)
    for path, text in made.items():
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text:
            yield f"- {path} isn't what {SOURCE} makes: run `uv run poe generate`."
    for path in (path.relative_to(root) for path in root.glob("release/plugin*/**/*")):
        known = path in made or path.name in ("README.md", "SKILL.md") or (root / path).is_dir()
        if not known or (root / path).is_symlink():
            yield f"- {path} is a link, or not part of a plugin, and would be published: delete it."
    servers = json.loads(made[PLUGIN / ".lsp.json"])
    for plugin in json.loads(made[MARKETPLACE])["plugins"]:
        servers |= plugin.get("lspServers", {})
        if not (root / plugin["source"]).is_dir():
            yield f"- {SOURCE}: there is no folder {plugin['source']} for {plugin['name']}."
    for name, server in servers.items():
        if not (server.get("command") and server.get("extensionToLanguage")):
            yield f"- {SOURCE}: give the server {name} `command` and `extensionToLanguage`."


def pack(folder: Path, archive: Path, seconds: int) -> None:
    """Write a folder into a zip archive; the same files of the same time are the same bytes."""
    with zipfile.ZipFile(archive, "w") as files:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(str(path.relative_to(folder)), time.gmtime(seconds)[:6])
            entry.external_attr = 0o644 << 16
            files.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
