"""`python -m foldline` is the command `foldline`."""

import sys

if not sys.flags.safe_path:
    # The working folder: no module is imported from a workspace.
    del sys.path[0]

from foldline.agent.cli import command

command()
