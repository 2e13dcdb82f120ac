"""Reports."""


def report(title: str, values: dict[str, int]) -> str:
    """Write values with a heading and their total."""
    lines = []
    lines.append(title.upper())
    lines.append("=" * len(title))
    for name in sorted(values):
        lines.append(f"{name}: {values[name]}")
    total = 0
    for value in values.values():
        total += value
    lines.append(f"total: {total}")
    return "\n".join(lines)
