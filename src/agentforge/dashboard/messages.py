"""What a model writes, as paragraphs and blocks of code. Pure."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from agentforge.dashboard.diffs import coloured_lines
from agentforge.views.audit_blocks import visible

_FENCE = re.compile(r"^```([A-Za-z0-9_+-]*)[^\n]*\n(.*?)(?:^```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LANGUAGES = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "bash": "sh",
    "shell": "sh",
    "rust": "rs",
    "ruby": "rb",
}


_CODE = re.compile(r"`([^`\n]+)`")
_STRONG = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")


def inline(text: str) -> str:
    """A paragraph as markup: escaped, with `code` and **emphasis** as what they mean."""
    parts = _CODE.split(escape(visible(text)))
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    parts[::2] = [_STRONG.sub(r"<strong>\1</strong>", part) for part in parts[::2]]
    return "".join(parts)


def pieces(text: str) -> list[tuple[str, Any]]:
    """A message as paragraphs and blocks of code: ("text", words) and ("code", its lines as markup, or its text)."""
    from markupsafe import Markup

    found: list[tuple[str, Any]] = []
    place = 0
    for match in _FENCE.finditer(text):
        found.append(("text", text[place : match.start()].strip("\n")))
        found.append(_code(match[1], match[2].rstrip("\n")))
        place = match.end()
    found.append(("text", text[place:].strip("\n")))
    return [
        (kind, Markup(inline(value)) if kind == "text" else value)  # escaped there
        for kind, value in found
        if kind != "text" or value.strip()
    ]


def _code(language: str, text: str) -> tuple[str, Any]:
    from markupsafe import Markup

    word = language.lower()
    lines = coloured_lines(f"a.{_LANGUAGES.get(word, word)}", text) if word else ()
    return "code", Markup("\n".join(lines).rstrip("\n")) if lines else text  # escaped where it is coloured
