"""Processes: running, stopping and watching them, in the background, too."""
