"""Loading of rows."""


def load_rows(rows: list[dict[str, int]]) -> list[dict[str, int]]:
    """Give the rows that have an id."""
    return [row for row in rows if "id" in row]
