"""Mutants of Python code: small wrong changes, made from the syntax tree, that a good test suite notices."""
