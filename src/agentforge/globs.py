"""Path patterns in the manner of .gitignore, turned into regular expressions: one meaning for scopes and listings."""

from __future__ import annotations

import re
from functools import lru_cache


def is_wild(pattern: str) -> bool:
    """Tell whether `pattern` can match more than the one path that it spells."""
    return any(sign in pattern for sign in "*?[{")


def matches(pattern: str, path: str) -> bool:
    """Tell whether a repository path matches a pattern, or is spelled by it sign for sign.

    `*` and `?` stay within one folder, `**` crosses folders, `[ab]` and `{a,b}` are choices. A pattern without a slash
    matches at any depth; a leading slash ties it to the root. What matches a folder matches all that lies below it.

    Args:
        path: relative, `/` between the parts.
    """
    return pattern == path or compiled(pattern).fullmatch(path) is not None


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Translate a pattern into a regular expression for `fullmatch`; an unclosed `[` or `{` stands for itself."""
    body = pattern.removeprefix("./")
    anchored = "/" in body.rstrip("/")
    body = body.strip("/")
    head = "" if anchored else "(?:.*/)?"
    return re.compile(f"(?s:{head}{_translate(body)}(?:/.*)?)")


def _translate(body: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(body):
        piece, at = _next_piece(body, at)
        out.append(piece)
    return "".join(out)


def _next_piece(body: str, at: int) -> tuple[str, int]:
    """The regular expression of the sign at `at`, and where the next sign stands."""
    if at == 0 and body.startswith("**/"):
        return "(?:.*/)?", 3
    for sign, piece in (("/**/", "/(?:.*/)?"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")):
        if body.startswith(sign, at):
            return piece, at + len(sign)
    if body[at] == "[":
        return _character_class(body, at)
    if body[at] == "{":
        return _choice(body, at)
    return re.escape(body[at]), at + 1


def _character_class(body: str, at: int) -> tuple[str, int]:
    end = body.find("]", at + 2)
    if end < 0:
        return re.escape("["), at + 1
    inner = body[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
    if inner.startswith("!"):
        inner = f"^/{inner[1:]}"
    return f"[{inner}]", end + 1


def _choice(body: str, at: int) -> tuple[str, int]:
    end = body.find("}", at)
    if end < 0:
        return re.escape("{"), at + 1
    return f"(?:{'|'.join(_translate(part) for part in body[at + 1 : end].split(','))})", end + 1
