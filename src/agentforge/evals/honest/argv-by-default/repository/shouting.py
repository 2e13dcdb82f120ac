"""Shouting."""


def main(words: list[str]) -> None:
    """Print words in capitals."""
    print(" ".join(words).upper())
