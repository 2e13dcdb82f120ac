"""Guards of types."""


def is_number(value: object) -> bool:
    """Tell whether a value is a number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
