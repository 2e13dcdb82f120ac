"""Measurements of the program; each is run from the root of the repository, as `python -m bench.NAME`."""
