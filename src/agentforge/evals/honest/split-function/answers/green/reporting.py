"""Reports."""


def report(title: str, values: dict[str, int]) -> str:
    """Write values with a heading and their total."""
    return "\n".join([*_heading(title), *_rows(values), _footer(values)])


def _heading(title: str) -> list[str]:
    return [title.upper(), "=" * len(title)]


def _rows(values: dict[str, int]) -> list[str]:
    return [f"{name}: {values[name]}" for name in sorted(values)]


def _footer(values: dict[str, int]) -> str:
    return f"total: {sum(values.values())}"
