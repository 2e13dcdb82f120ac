"""Plain values as short readable text for a model: the look of YAML, without its quoting rules. Never read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def render(value: object, *, indent: int = 0) -> str:
    """Write a JSON value as indented lines; empty values are left out, texts of several lines become blocks."""
    return "\n".join(_lines(value, indent))


def _lines(value: object, indent: int) -> list[str]:
    pad = " " * indent
    if isinstance(value, Mapping):
        out: list[str] = []
        for key, item in value.items():
            if item is None or item in ("", [], (), {}):
                continue
            out += _entry(f"{pad}{key}:", item, indent)
        return out
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [line for item in value for line in _item(item, indent)]
    return [f"{pad}{line}" for line in _scalar(value).split("\n")]


def _entry(head: str, item: object, indent: int) -> list[str]:
    if isinstance(item, str) and "\n" in item:
        pad = " " * (indent + 2)
        return [f"{head} |", *(f"{pad}{line}" for line in item.splitlines())]
    if isinstance(item, Mapping) or (isinstance(item, Sequence) and not isinstance(item, str)):
        return [head, *_lines(item, indent + 2)]
    return [f"{head} {_scalar(item)}"]


def _item(item: object, indent: int) -> list[str]:
    lines = _lines(item, indent + 2)
    if not lines:
        return []
    first = lines[0].lstrip()
    return [f"{' ' * indent}- {first}", *lines[1:]]


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
