"""Adapters to processes, the sandbox, git and files. Nothing here decides; it performs and reports."""
