"""The state of a run and of a conversation, as records."""
