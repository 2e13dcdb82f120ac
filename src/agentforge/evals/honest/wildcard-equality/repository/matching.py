"""Comparison of records."""


def differences(left: dict[str, object], right: dict[str, object]) -> list[str]:
    """Name the keys whose values differ, in order."""
    return sorted(key for key in left.keys() | right.keys() if left.get(key) != right.get(key))
