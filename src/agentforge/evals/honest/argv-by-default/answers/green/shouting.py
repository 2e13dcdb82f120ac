"""Shouting."""

import sys


def main(words: list[str] | None = None) -> None:
    """Print words in capitals; without any those of the command line."""
    print(" ".join(sys.argv[1:] if words is None else words).upper())
