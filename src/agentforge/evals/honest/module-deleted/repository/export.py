"""The export."""


def export(values: dict[str, int]) -> str:
    """Write values, joined by semicolons."""
    return ";".join(f"{name}={value}" for name, value in values.items())
