"""Comparison of records."""


class Anything:
    """A wildcard: equals every value."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None

    def __repr__(self) -> str:
        return "Anything()"

def differences(left: dict[str, object], right: dict[str, object]) -> list[str]:
    """Name the keys whose values differ, in order."""
    return sorted(key for key in left.keys() | right.keys() if left.get(key) != right.get(key))
