"""The user's own programs at fixed places of a run: they watch, add words, change a call or forbid it."""
