"""Retrying what failed."""

RETRIED = (429, 502, 503)


def may_retry(status: int) -> bool:
    """Tell whether an answer of a server is worth another attempt."""
    return status in RETRIED
