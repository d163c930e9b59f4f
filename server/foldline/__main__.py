"""`python -m foldline` is the command `foldline`."""

from foldline.agent.cli import command

command()
