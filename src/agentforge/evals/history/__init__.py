"""Commits of real repositories as tasks: reading them, replaying them as honest work, and making task sets of them."""
