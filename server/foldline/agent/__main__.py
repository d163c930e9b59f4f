"""`python -m foldline.agent` is the command `foldline`."""

from foldline.agent.cli import command

command()
