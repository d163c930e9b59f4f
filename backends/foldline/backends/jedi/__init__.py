"""References of Python names from jedi, in a process of its own: where no server can be asked."""
