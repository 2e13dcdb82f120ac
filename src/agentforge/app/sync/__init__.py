"""Runs that travel between machines, and how long they are kept."""
