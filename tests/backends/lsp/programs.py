"""The language servers that tests start: npm's are installed where they are missing."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from foldline.backends.lsp import ServerSpec
from foldline.backends.lsp.servers import SERVERS

from ...locks import one_at_a_time

PACKAGES = Path(__file__).parent / "npm"
INSTALL_SECONDS = 280


def spec_of(name: str) -> ServerSpec:
    """The server's entry in the table."""
    return next(spec for spec in SERVERS if spec.name == name)


def spec_from_npm(name: str) -> ServerSpec:
    """The same, with the program of the version in package.json."""
    with one_at_a_time("npm-language-servers"):
        return _spec_from_npm(name)


def _spec_from_npm(name: str) -> ServerSpec:
    wanted = json.loads((PACKAGES / "package.json").read_text())["dependencies"]
    modules = PACKAGES / "node_modules"
    manifests = {package: modules / package / "package.json" for package in wanted}
    if any(
        not path.exists() or json.loads(path.read_text())["version"] != wanted[package]
        for package, path in manifests.items()
    ):
        npm = shutil.which("npm")
        assert npm is not None, "this test needs Node.js with npm"
        result = subprocess.run(
            [npm, "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"],
            cwd=PACKAGES,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_SECONDS,
        )
        assert result.returncode == 0, result.stderr
    spec = spec_of(name)
    program = modules / ".bin" / spec.command[0]
    return replace(spec, command=(str(program), *spec.command[1:]))
