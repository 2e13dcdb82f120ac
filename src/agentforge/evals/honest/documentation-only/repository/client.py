"""A small client."""

TIMEOUT = 30
RETRIES = 3


def settings() -> dict[str, int]:
    """Give the settings by name."""
    return {"timeout": TIMEOUT, "retries": RETRIES}
