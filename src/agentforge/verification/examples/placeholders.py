"""Placeholders: what stands for something that nobody wrote out: `...`, `<name>`, KEY where the prose says key. Pure."""

from __future__ import annotations

import re

_LEFT_OUT = re.compile(r"\.\.\.|…")
_ANGLED = re.compile(r"<([A-Za-z][\w -]*)>")
_NAMED = re.compile(r"\{([A-Za-z]\w*)\}|(?<![A-Za-z0-9])([A-Z][A-Z_]+)(?![A-Za-z0-9])")


def placeholder_in(literal: str, prose: str) -> bool:
    """Whether a literal holds a placeholder.

    Text that is left out and a word in angle brackets that no closing tag answers are placeholders anywhere; a name in braces or
    in capitals is one where the prose speaks of it: "unknown property: KEY" where the key does not exist.

    Args:
        prose: the words around it, without literals and code.
    """
    if _LEFT_OUT.search(literal) or any(f"</{found}>" not in literal for found in _ANGLED.findall(literal)):
        return True
    words = {word.lower() for found in _NAMED.findall(literal) for name in found for word in name.split("_") if word}
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", prose, re.IGNORECASE) for word in words)
