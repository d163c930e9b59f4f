"""Repositories that tests make."""

import subprocess
from pathlib import Path


def git(root: Path, *arguments: str) -> str:
    """Run git in a folder, and return what it prints."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", "-C", str(root), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
