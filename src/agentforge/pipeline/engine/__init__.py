"""The engine of a run: what happens next, performing it, judging the result, and asking a human."""
