"""The conversation half: the same agent loop as in a stage, with a history, a person, and modes."""
