"""Version numbers."""


def parse_version(text: str) -> tuple[int, ...]:
    """Split a dotted version into its numbers."""
    return tuple(int(part) for part in text.split("."))
