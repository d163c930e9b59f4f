"""The commands of docs/09-team.md, as its reader types them."""

import itertools
import re
import shlex
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "09-team.md"


def page_commands(program: str) -> list[list[str]]:
    """The arguments of each command of the page that begins with `program`."""
    blocks = re.findall(
        r"^```console\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    commands = [shlex.split(line.removeprefix("$ ")) for line in lines]
    return [command for command in commands if command[0] == program]


def volumes(command: list[str]) -> dict[str, str]:
    """What a `podman run` mounts, by the place in the container."""
    mounted = [after for word, after in itertools.pairwise(command) if word == "--volume"]
    return {inside: outside for outside, inside in (one.split(":")[:2] for one in mounted)}
