"""Guards of types."""

from typing import TypeGuard


def is_number(value: object) -> bool:
    """Tell whether a value is a number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_texts(value: object) -> TypeGuard[list[str]]:
    """Tell whether a value is a list that holds only strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
