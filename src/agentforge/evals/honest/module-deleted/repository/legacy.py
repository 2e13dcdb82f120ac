"""The old export."""


def old_export(values: dict[str, int]) -> str:
    """Write values, one in a line."""
    return "\n".join(f"{name} {value}" for name, value in values.items())
