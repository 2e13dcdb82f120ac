"""Conformance: what linters and type checkers say of changed files, compared with what they said of the base."""
