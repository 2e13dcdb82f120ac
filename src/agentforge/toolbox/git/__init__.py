"""Tools that look at the repository and commit to it."""
