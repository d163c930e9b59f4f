"""A code reviewer: a prompt that stays folded until the model asks, and the program around it."""
