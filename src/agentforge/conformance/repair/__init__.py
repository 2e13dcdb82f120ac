"""Repairing violations by program."""
