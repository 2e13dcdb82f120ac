"""Refactorings of Python by syntax tree: moving, renaming and deleting symbols, changing signatures. No model is asked."""
