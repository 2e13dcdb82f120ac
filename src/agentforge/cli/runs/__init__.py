"""Runs at the command line, as several commands share them: following, detaching, asking, queueing."""
