"""Subagents of a session: delegation, swarms, and writers whose work is merged."""
