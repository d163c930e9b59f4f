"""`python -m code_reviewer`."""

import sys

from code_reviewer.cli import main

sys.exit(main(sys.argv[1:]))
