"""Add one text to a list of a TOML file and leave every other byte as it is: comments, order and style are the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentforge.config.sources import Key, toml_lines
from agentforge.errors import ConfigError

_STRINGS = r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\''
_PIECE = re.compile(
    rf"(?P<comment>#[^\n]*)|(?P<string>{_STRINGS})|(?P<mark>[\[\],])|(?P<space>\s+)|(?P<other>.)", re.DOTALL
)


def with_item(text: str, key: Key, item: str) -> str:
    """Return a TOML text whose list `key` (table, name) holds `item` as its last element.

    Raises:
        ConfigError: the text is no TOML, or is written so that the list cannot be extended safely.
    """
    import tomllib

    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"it is not TOML: {exc}", hint="correct the file first") from exc
    changed = _changed(text, key, _quoted(item))
    try:
        after = tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        after = {}
    if after != _expected(before, key, item):
        raise ConfigError(f"{'.'.join(key)} is written in a way that cannot be extended", hint=f"add {item!r} by hand")
    return changed


def _changed(text: str, key: Key, quoted: str) -> str:
    table, name = key
    lines = toml_lines(text)
    rows = text.splitlines(keepends=True)
    if key in lines:
        start = sum(map(len, rows[: lines[key] - 1]))
        return text[:start] + _extended(text[start:], quoted)
    header = next(
        (at for at, row in enumerate(rows) if re.fullmatch(rf"\s*\[\s*{table}\s*\]\s*(?:#.*)?", row.strip())), None
    )
    if header is not None:
        rows[header] = rows[header].rstrip("\r\n") + "\n"
        return "".join([*rows[: header + 1], f"{name} = [{quoted}]\n", *rows[header + 1 :]])
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}[{table}]\n{name} = [{quoted}]\n"


def _extended(statement: str, quoted: str) -> str:
    """The statement `name = [...]` with one more element before the bracket that closes it."""
    depth, at, last, comma = 0, statement.find("=") + 1, 0, True
    while at < len(statement):
        piece = _PIECE.match(statement, at)
        assert piece is not None
        kind, found = piece.lastgroup, piece[0]
        if found == "[" and kind == "mark":
            depth += 1
        elif found == "]" and kind == "mark":
            depth -= 1
            if not depth:
                break
        if kind not in ("comment", "space"):
            last, comma = piece.end(), found in ",["
        at = piece.end()
    return f"{statement[:last]}{'' if comma else ','}{_gap(statement, last)}{quoted}{statement[last:]}"


def _gap(statement: str, last: int) -> str:
    """What stands before the new element: a line of its own where the last one has its own line."""
    begin = statement.rfind("\n", 0, last) + 1
    row = statement[begin:last]
    if begin and row[:1].isspace():
        return "\n" + row[: len(row) - len(row.lstrip())]
    return "" if row.rstrip().endswith("[") else " "


def _quoted(item: str) -> str:
    escaped = item.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(one if one.isprintable() else f"\\U{ord(one):08X}" for one in escaped) + '"'


def _expected(before: Mapping[str, object], key: Key, item: str) -> dict[str, object]:
    table, name = key
    inner = before.get(table, {})
    if not isinstance(inner, Mapping):
        return {}
    present = inner.get(name, [])
    listed = [*present, item] if isinstance(present, list) else [item]
    return {**before, table: {**inner, name: listed}}
