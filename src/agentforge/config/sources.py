"""Settings files as plain values, each with its line: TOML and YAML. What a key means is not known here."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import ConfigError, ContractInvalid
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    import yaml

Key = tuple[str, ...]
"""A setting's name in parts: ("model", "name")."""

Recall = Callable[[str], dict[str, object] | None]
"""Gives the values of a text that was found valid before."""

_MAX_BYTES = 1_000_000


def _nothing(_text: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One place from which settings come.

    Attributes:
        name: a file's path, "environment", "command line" or "default".
        project: the place belongs to the project, not to the user.
        lines: finds the lines of all keys; asked only when a line is shown, because finding them costs time.
        text: of the file.
        judged: the values were found valid before.
    """

    name: str
    values: Mapping[str, object]
    project: bool = False
    lines: Callable[[], Mapping[Key, int]] = dict
    text: str = ""
    judged: bool = False

    def place(self, key: Key) -> str:
        """Say where `key` stands: `FILE:LINE`, or the layer's name."""
        line = self.lines().get(key)
        return f"{self.name}:{line}" if line else self.name


def read_toml(path: Path, *, project: bool, recall: Recall = _nothing) -> Layer | None:
    """Read a TOML file; None when there is no such file.

    Raises:
        ConfigError: broken TOML (with its line), a date, not UTF-8, unreadable.
    """
    text = _text(path)
    if text is None:
        return None
    known = recall(text)
    if known is not None:
        return Layer(name=str(path), values=known, project=project, lines=lambda: toml_lines(text), judged=True)
    import tomllib  # only where a new file exists

    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"{path} is not TOML: {exc}", hint="correct the file or remove it") from exc
    _refuse_odd_values(values, path)
    return Layer(name=str(path), values=values, project=project, lines=lambda: toml_lines(text), text=text)


def read_yaml(path: Path, *, project: bool, recall: Recall = _nothing) -> Layer | None:
    """Read a YAML mapping, strictly (no anchors, no tags, no key twice); None when there is no such file.

    Raises:
        ConfigError: broken YAML (with its line), not a mapping, not UTF-8, unreadable.
    """
    text = _text(path)
    if text is None:
        return None
    known = recall(text)
    if known is not None:
        return Layer(name=str(path), values=known, project=project, lines=lambda: yaml_lines(text), judged=True)

    try:
        values = load_strict(text, source=str(path))
    except ContractInvalid as exc:
        raise ConfigError(exc.message, hint=exc.hint) from exc
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path} is not a mapping", hint="write `key: value` lines")
    return Layer(name=str(path), values=values, project=project, lines=lambda: yaml_lines(text), text=text)


def toml_lines(text: str) -> dict[Key, int]:
    """Find the line of every key of a valid TOML text, by parsing it statement by statement.

    Returns:
        Line numbers from 1; a key inside an array of tables is not listed, the array is (its first line).
    """
    import tomllib

    found: dict[Key, int] = {}
    table: Key = ()
    buffer, start = "", 1
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        start = number if not buffer else start
        buffer += line
        try:
            statement = tomllib.loads(buffer)
        except tomllib.TOMLDecodeError:
            continue  # a string or an array that goes on in the next line
        if buffer.lstrip().startswith("["):
            table = _table_of(statement)
            found.setdefault(table, start)
        else:
            for key in leaves(statement):
                found.setdefault((*table, *key), start)
        buffer = ""
    return found


def yaml_lines(text: str) -> dict[Key, int]:
    """Find the line of every key of a valid YAML mapping, from 1."""
    import yaml

    found: dict[Key, int] = {}
    pending: list[tuple[Key, yaml.Node | None]] = [((), yaml.compose(text, Loader=yaml.CSafeLoader))]
    while pending:
        prefix, node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                found.setdefault((*prefix, name.value), name.start_mark.line + 1)
                pending.append(((*prefix, name.value), value))
    return found


def leaves(values: Mapping[str, object], prefix: Key = ()) -> dict[Key, object]:
    """Flatten nested tables: every key that does not hold a non-empty table, with its value."""
    flat: dict[Key, object] = {}
    for name, value in values.items():
        key = (*prefix, str(name))
        if isinstance(value, Mapping) and value:
            flat.update(leaves(value, key))
        else:
            flat[key] = value
    return flat


def _text(path: Path) -> str | None:
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):  # a pipe would be waited for; /dev/null is an empty file
            raise ConfigError(f"{path} is not a file", hint="move it away, or put a file in its place")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as exc:
        if path.is_symlink():
            raise ConfigError(f"{path} leads to a file that is not there", hint="repair or remove the link") from exc
        return None
    except OSError as exc:
        raise ConfigError(f"{path} cannot be read: {exc.strerror}", hint="check its permissions") from exc
    if len(data) > _MAX_BYTES:
        raise ConfigError(f"{path} has {len(data)} bytes", hint=f"a settings file has at most {_MAX_BYTES}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{path} is not UTF-8: byte {exc.start}", hint="save the file as UTF-8") from exc


def _table_of(statement: Mapping[str, object]) -> Key:
    """The name of the table that a single `[a.b]` or `[[a]]` statement opens."""
    key: Key = ()
    inner: object = statement
    while isinstance(inner, Mapping) and inner:
        name, inner = next(iter(inner.items()))
        key = (*key, name)
    return key


def _refuse_odd_values(values: Mapping[str, object], path: Path) -> None:
    """Only what JSON can hold: TOML's dates and times are no settings."""
    pending: list[tuple[Key, object]] = list(leaves(values).items())
    while pending:
        key, value = pending.pop()
        if isinstance(value, list):
            pending.extend((key, item) for item in value)
        elif isinstance(value, Mapping):
            pending.extend(((*key, str(name)), item) for name, item in value.items())
        elif not isinstance(value, (str, int, float, bool)):
            raise ConfigError(f"{path}: {'.'.join(key)} is a {type(value).__name__}", hint="write it as a string")


def dotted(key: Key) -> str:
    """Write a key as one word; a part that holds a dot stands in quotes, as in TOML."""
    return ".".join(f'"{part}"' if "." in part else part for part in key)


def merged(layers: Iterable[Layer]) -> Mapping[str, object]:
    """The values of layers, the strongest last: tables deep, lists replaced."""
    values: Mapping[str, object] = {}
    for layer in layers:
        values = merged_tables(values, layer.values)
    return values


def merged_tables(weak: Mapping[str, object], strong: Mapping[str, object]) -> dict[str, object]:
    """Lay one table over another: tables in both are merged, everything else is replaced."""
    merged = dict(weak)
    for name, value in strong.items():
        under = merged.get(name)
        merged[name] = (
            merged_tables(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
        )
    return merged
