"""Refactorings by syntax tree as a use case: planned, shown, tested, and delivered or applied."""
