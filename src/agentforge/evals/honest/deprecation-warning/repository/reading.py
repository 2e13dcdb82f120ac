"""Reading of lines."""


def read_all(lines: list[str]) -> list[str]:
    """Give the lines without blanks at their ends."""
    return [line.strip() for line in lines]


def load_all(lines: list[str]) -> list[str]:
    """Give the lines without blanks at their ends."""
    return read_all(lines)
