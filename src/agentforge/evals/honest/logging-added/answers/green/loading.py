"""Loading of rows."""

import logging

logger = logging.getLogger(__name__)


def load_rows(rows: list[dict[str, int]]) -> list[dict[str, int]]:
    """Give the rows that have an id."""
    kept = []
    for number, row in enumerate(rows, 1):
        if "id" in row:
            kept.append(row)
        else:
            logger.warning("row %d has no id", number)
    return kept
