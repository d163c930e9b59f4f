"""Everything that is done to a prompt: `actions` that every shell offers, and `perform`."""
