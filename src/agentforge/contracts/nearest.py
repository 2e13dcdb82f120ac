"""Which known names an unknown one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], *, count: int = 3) -> list[str]:
    """Give the known names most like `name`, best first, at most `count`; none when nothing is alike."""
    import difflib

    by_lower = {item.lower(): item for item in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=count, cutoff=0.5)
    return [by_lower[item] for item in found]


def near_hint(name: str, known: Iterable[str]) -> str:
    """Say what was probably meant, or what there is."""
    listed = list(known)
    close = nearest(name, listed)
    if close:
        return f"did you mean {' or '.join(repr(item) for item in close)}?"
    return f"known: {', '.join(listed)}"
