"""Packages that bring plugins, as an installer leaves them, and environments that have them."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = str(Path(sys.executable).with_name("foldline"))
SECONDS = 120


def install(site: Path, distribution: str, entry: str, files: Mapping[str, str]) -> None:
    """Put a distribution with an entry point, as `name = module:Class`, into a folder."""
    listing = f"{distribution}-1.0.dist-info/entry_points.txt"
    everything = {**files, listing: f"[console_scripts]\na = b:c\n\n[foldline.plugins]\n{entry}\n"}
    for path, text in everything.items():
        file = site / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Environment:
    """A virtual environment in a folder, which has what this one has and packages of its own."""

    folder: Path

    @classmethod
    def made(cls, folder: Path, *, patch: str = "") -> Environment:
        """Make one; `patch` is what each of its processes does first."""
        venv.create(folder, symlinks=os.name != "nt")
        made = cls(folder)
        here = sysconfig.get_path("purelib")
        lines = [f"import site; site.addsitedir({here!r})", patch]
        (made.site / "house.pth").write_text("\n".join(lines), encoding="utf-8")
        return made

    @property
    def site(self) -> Path:
        (site,) = self.folder.glob("lib/python*/site-packages")
        return site

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    @property
    def script(self) -> tuple[str, ...]:
        """The command `foldline`, as its script starts it."""
        return (self.python, SCRIPT)

    def run(
        self, *words: str, cwd: Path, command: tuple[str, ...] = (), **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a command line in a folder."""
        line = [*(command or self.script), *words]
        return subprocess.run(
            line, cwd=cwd, capture_output=True, text=True, timeout=SECONDS, check=False, **options
        )
