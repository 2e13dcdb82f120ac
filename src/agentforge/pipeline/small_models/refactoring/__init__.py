"""Requests that the refactoring engine can carry out without any model."""
