"""Runs that are killed, or whose disk fails, at any write; and what they come to all the same."""
