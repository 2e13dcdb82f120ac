"""Counting of words."""

import sys


def words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


def main(argv: list[str]) -> int:
    """Print how many words the first argument has; the result is the exit code."""
    if not argv:
        print("usage: counting.py TEXT", file=sys.stderr)
        return 2
    print(words(argv[0]))
    return 0


if __name__ == "__main__":  # pragma: no cover
    raise SystemExit(main(sys.argv[1:]))
