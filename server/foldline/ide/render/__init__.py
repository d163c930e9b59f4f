"""Running prompts: requests, workers, costs, revisions."""
