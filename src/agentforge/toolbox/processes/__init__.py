"""Tools that run programs: the shell, its background jobs, the tests and the checks."""
