"""Texts for the terminal."""

try:
    import colorama
except ImportError:
    colorama = None


def paint(text: str) -> str:
    """Make the text red for the terminal where colorama is installed."""
    if colorama is None:
        return text
    return f"{colorama.Fore.RED}{text}{colorama.Style.RESET_ALL}"
