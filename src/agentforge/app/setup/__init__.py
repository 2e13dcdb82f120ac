"""Setting up a project, and diagnosing what is wrong with it."""
