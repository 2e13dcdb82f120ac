"""Reading of lines."""

import warnings


def read_all(lines: list[str]) -> list[str]:
    """Give the lines without blanks at their ends."""
    return [line.strip() for line in lines]


def load_all(lines: list[str]) -> list[str]:
    """Give the lines without blanks at their ends. Deprecated: use read_all."""
    warnings.warn("load_all is deprecated, use read_all", DeprecationWarning, stacklevel=2)
    return read_all(lines)
