"""Ranking of players."""


def ranking(scores: list[tuple[str, int]]) -> list[str]:
    """Name the players, the best first."""
    return [name for name, _ in sorted(scores, key=lambda one: one[1], reverse=True)]
