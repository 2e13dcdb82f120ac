"""Reading of stored lines."""


def read_all(lines: list[str]) -> list[str]:
    """Give the lines without line ends, empty ones left out."""
    return [line.rstrip("\n") for line in lines if line.strip()]
