"""Stopping."""

STOP_WORDS = ("quit", "exit")


def means_stop(text: str) -> bool:
    """Tell whether somebody wants to stop."""
    return text.strip().lower() in STOP_WORDS
