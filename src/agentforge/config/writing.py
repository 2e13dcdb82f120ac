"""Writing one setting into a settings file; comments and order of the file stay, and a file that was wrong is not touched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentforge.config.schema import check, known_keys, schema_of
from agentforge.config.sources import Layer, toml_lines
from agentforge.errors import ConfigError, StorageError


def parse_value(text: str, *, key: str = "") -> object:
    """Read a value as a person types it: JSON where it is JSON (true, 5, ["a"]), else the text itself.

    Args:
        key: of the setting, dotted; one that is a text takes `1` and `true` as texts.
    """
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if value is None or (not isinstance(value, str) and _is_text(key)) else value


def set_value(file: Path, key: str, value: object, *, project: bool) -> None:
    """Set one key of a TOML settings file, or remove it.

    Args:
        key: dotted, such as "model.name".
        value: None removes the key.
        project: whether the file belongs to a project.
    Raises:
        ConfigError: the file is wrong already, or would be with this value; nothing was written.
        StorageError: it cannot be written.
    Side effects: the file is replaced as a whole.
    """
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        text = file.read_text("utf-8") if file.exists() else ""
        document: Any = tomlkit.parse(text)
    except (OSError, UnicodeDecodeError, ParseError) as exc:
        raise ConfigError(f"{file} cannot be changed: {exc}", hint="correct it by hand first") from exc
    _put(document, key.split("."), value)
    written = tomlkit.dumps(document)
    _judge(written, file, project=project)
    write_text(file, written)


def _judge(text: str, file: Path, *, project: bool) -> None:
    import tomllib

    values = tomllib.loads(text)
    check(Layer(name=str(file), values=values, project=project, lines=lambda: toml_lines(text), text=text))


def _is_text(key: str) -> bool:
    from fnmatch import fnmatchcase

    known = any(fnmatchcase(key, name) for name in known_keys())
    return known and schema_of(key).get("type") == "string"


def _put(table: Any, parts: list[str], value: object) -> None:
    import tomlkit

    head, *rest = parts
    if rest:
        if value is None and head not in table:
            return
        if not isinstance(table.get(head), Mapping):
            table[head] = tomlkit.table()
        _put(table[head], rest, value)
    elif value is None:
        table.pop(head, None)
    else:
        table[head] = value


def write_text(file: Path, text: str) -> None:
    """Put a text at `file`, all of it or nothing; folders are made.

    Raises:
        StorageError: it cannot be written.
    """
    import os
    import tempfile

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        if file.exists():
            Path(name).chmod(file.stat().st_mode & 0o777)
        Path(name).replace(file)
    except OSError as exc:
        raise StorageError(f"{file} cannot be written: {exc.strerror}", hint="check its permissions") from exc
