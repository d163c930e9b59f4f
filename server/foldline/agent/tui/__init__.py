"""A preview as an application in the terminal: the controls of the page, by keyboard."""
