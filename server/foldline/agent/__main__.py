"""`python -m foldline.agent` is the command `foldline`."""

import sys

from foldline.agent.cli import main

sys.exit(main())
