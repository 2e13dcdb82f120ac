"""Durations as people write them."""

_SECONDS = {"s": 1, "m": 60}


def parse_duration(text: str) -> int:
    """Give the seconds of a text like 90s or 5m."""
    return int(text[:-1]) * _SECONDS[text[-1]]


def write_duration(seconds: int) -> str:
    """Write seconds as minutes where they are whole ones."""
    return f"{seconds // 60}m" if seconds and seconds % 60 == 0 else f"{seconds}s"
