"""Small text functions."""


def shout(text: str) -> str:
    """Upper-case the text and add an exclamation mark."""
    return text.upper() + "!"


def initials(text: str) -> str:
    """Give the first letter of every word, in upper case."""
    return "".join(word[0].upper() for word in text.split()[:2])


def mumble(text: str) -> str:
    """Lower-case the text."""
    return text.lower()


def count_words(text: str) -> dict[str, int]:
    """Count how often each word occurs."""
    counts: dict[str, int] = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts
