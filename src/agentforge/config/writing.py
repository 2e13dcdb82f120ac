"""Writing one setting into a settings file; comments and order of the file stay, and a file that was wrong is not touched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from agentforge.config.paths import project_files
from agentforge.config.schema import check, known_keys, schema_of
from agentforge.config.sources import Layer, toml_lines, yaml_lines
from agentforge.config.yaml_values import holds_key, with_yaml_values
from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import ConfigError, StorageError, remedy_of

_YAML = (".yaml", ".yml")


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
    """Set one key of a settings file, or remove it; see `set_values`."""
    set_values(file, {key: value}, project=project)


def set_values(file: Path, values: Mapping[str, object], *, project: bool) -> None:
    """Set keys of a settings file, or remove them, all together or none.

    Args:
        file: TOML, or YAML where its name says so; of a YAML file only keys that stand in it can be changed.
        values: by dotted key, such as "model.name"; None removes the key.
        project: whether the file belongs to a project.
    Raises:
        ConfigError: the file is wrong already, or would be with these values; nothing was written.
        StorageError: it cannot be written.
    Side effects: the file is replaced as a whole.
    """
    try:
        text = file.read_text("utf-8") if file.exists() else ""
        written = with_yaml_values(text, values) if file.suffix in _YAML else _with_toml_values(text, values)
    except (OSError, ValueError) as exc:
        raise ConfigError(f"{file} cannot be changed: {exc}", hint="correct it by hand first") from exc
    _judge(written, file, project=project)
    write_text(file, written)


def home_of(top: Path, key: str) -> Path:
    """The file of a project in which a key is to be written: the one that sets it already, so that it never has two homes."""
    toml, yaml = project_files(top)
    return yaml if yaml.is_file() and holds_key(yaml.read_text("utf-8", "replace"), key) else toml


def stands_in(file: Path, key: str) -> bool:
    """Whether a settings file sets a dotted key; one that cannot be read sets nothing."""
    import tomllib

    try:
        text = file.read_text("utf-8")
        if file.suffix in _YAML:
            return holds_key(text, key)
        node: Any = tomllib.loads(text)
        for part in key.split("."):
            node = node[part]
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return True


def _with_toml_values(text: str, values: Mapping[str, object]) -> str:
    import tomlkit

    document: Any = tomlkit.parse(text)
    for key, value in values.items():
        _put(document, key.split("."), value)
    return tomlkit.dumps(document)


def _judge(text: str, file: Path, *, project: bool) -> None:
    values: dict[str, Any]
    if file.suffix in _YAML:
        values, lines = cast("dict[str, Any]", load_strict(text, source=str(file)) or {}), yaml_lines
    else:
        import tomllib

        values, lines = tomllib.loads(text), toml_lines
    check(Layer(name=str(file), values=values, project=project, lines=lambda: lines(text), text=text))


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
        raise StorageError(
            f"{file} cannot be written: {exc.strerror}", hint=remedy_of(exc) or "check its permissions"
        ) from exc
