"""Reading of stored lines."""

import warnings


def read_all(lines: list[str]) -> list[str]:
    """Give the lines without line ends, empty ones left out."""
    return [line.rstrip("\n") for line in lines if line.strip()]


def fetch_all(lines: list[str]) -> list[str]:
    """Give the lines. Deprecated: use read_all."""
    warnings.warn("use read_all", DeprecationWarning, stacklevel=2)
    return read_all(lines)
