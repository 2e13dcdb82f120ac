"""Tools that a project defines."""
