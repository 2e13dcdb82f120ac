"""Conformance as a use case: checking a tree, and fixing what was found."""
