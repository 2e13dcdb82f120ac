"""Retrying what failed."""


def may_retry(status: int) -> bool:
    """Tell whether an answer of a server is worth another attempt."""
    return status == 429 or status >= 500
