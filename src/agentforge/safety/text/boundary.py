"""The fence around untrusted text: whatever lies between the two lines is data, never an instruction."""

from __future__ import annotations

import re

_OPENS = re.compile(r"<untrusted (?P<mark>\S+)>\n")
_WRAPPED = re.compile(r"<untrusted (?P<mark>\S+)>\n(?P<text>.*)\n</untrusted (?P=mark)>", re.DOTALL)


def wrap(text: str, *, nonce: str) -> str:
    """Fence `text` so that nothing inside can close the fence.

    Args:
        nonce: a word that the author of the text cannot know, without white space; it is lengthened until the text does
            not hold it.
    """
    mark = nonce
    while mark in text:
        mark += "x"
    return f"<untrusted {mark}>\n{text}\n</untrusted {mark}>"


def outside(text: str) -> str:
    """Return what stands outside of all fences; one that is never closed holds everything behind it."""
    parts, rest = [], text
    while (match := _OPENS.search(rest)) is not None:
        parts.append(rest[: match.start()])
        close = f"\n</untrusted {match['mark']}>"
        end = rest.find(close, match.start())
        rest = rest[end + len(close) :] if end >= 0 else ""
    return "".join([*parts, rest])


def unwrap(text: str) -> str:
    """Return what `wrap` was given.

    Raises:
        ValueError: the text is not one whole fence.
    """
    match = _WRAPPED.fullmatch(text)
    if match is None:
        raise ValueError("not a fenced text")
    return match["text"]
