"""Limits of the shop."""

MAX_NAME_LENGTH = 40
