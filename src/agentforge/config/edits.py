"""Writing settings into the files of a person or a project: comments, order and all other lines stay as they are.

A file that was wrong before is not touched.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agentforge.config.paths import project_files
from agentforge.config.schema import check, known_keys, schema_of, type_words
from agentforge.config.sources import Key, Layer, toml_lines, yaml_lines
from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import AgentForgeError, ConfigError, ContractInvalid, StorageError, remedy_of


def with_item(text: str, key: Key, item: str) -> str:
    """Return a TOML text whose list `key` (table, name) holds `item` as its last element.

    Raises:
        ConfigError: the text is no TOML, or something else than a list stands there.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import AbstractTable, Array

    try:
        document = tomlkit.parse(text)
    except TOMLKitError as exc:
        raise ConfigError(f"it is not TOML: {exc}", hint="correct the file first") from exc
    table, name = key
    inner: Any = document.get(table)
    if inner is None:
        inner = document[table] = tomlkit.table()
    listed = inner.setdefault(name, tomlkit.array()) if isinstance(inner, AbstractTable) else None
    if not isinstance(listed, Array):
        raise ConfigError(f"{'.'.join(key)} is written in a way that cannot be extended", hint=f"add {item!r} by hand")
    listed.append(item)
    return tomlkit.dumps(document)


if TYPE_CHECKING:
    import yaml

    Pair = tuple[yaml.Node, yaml.Node]


def holds_key(text: str, key: str) -> bool:
    """Whether a YAML text sets a dotted key, or something below it; a text that is no YAML sets nothing."""
    import yaml

    try:
        return bool(_way(text, key))
    except yaml.YAMLError:
        return False


def with_yaml_values(text: str, values: Mapping[str, object]) -> str:
    """The text with other values for keys that stand in it.

    Args:
        values: by dotted key; None takes the key out.
    Raises:
        ValueError: a key does not stand in the text, or the text is no YAML.
    """
    import yaml

    for key, value in values.items():
        try:
            found = _way(text, key)
        except yaml.YAMLError as exc:
            raise ValueError(f"it is no YAML: {exc}") from exc
        if not found:
            raise ValueError(f"{key} does not stand in it")
        text = _without(text, found) if value is None else _with(text, found[-1], value)
    return text


def _way(text: str, key: str) -> list[Pair]:
    """The pairs of nodes that lead to a dotted key, the key's own last; [] where it does not stand there."""
    import yaml

    node, way = yaml.compose(text, Loader=yaml.CSafeLoader), []
    for part in key.split("."):
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = next((pair for pair in pairs if pair[0].value == part), None)
        if found is None:
            return []
        way.append(found)
        node = found[1]
    return way


def _with(text: str, pair: Pair, value: object) -> str:
    """Another value in the place of the old one; JSON is YAML, too."""
    name, old = pair
    start = _offset(text, old.start_mark)
    end = start + len(_own(text[start : _offset(text, old.end_mark)]))
    return f"{text[: _offset(text, name.end_mark)]}: {json.dumps(value, ensure_ascii=False)}{text[end:]}"


def _without(text: str, way: list[Pair]) -> str:
    """The text without the lines of a key; a mapping that would be empty goes with it."""
    *outer, pair = way
    while outer and len(outer[-1][1].value) == 1:
        pair = outer.pop()
    if outer and getattr(outer[-1][1], "flow_style", False):
        return _with(text, outer[-1], _plain(outer[-1][1], without=pair[0]))
    start = text.rfind("\n", 0, _offset(text, pair[0].start_mark)) + 1
    value = _offset(text, pair[1].start_mark)
    end = text.find("\n", value + len(_own(text[value : _offset(text, pair[1].end_mark)])))
    return text[:start] + (text[end + 1 :] if end >= 0 else "")


def _own(body: str) -> str:
    """A value's own text: a block's ends before the blank lines and comments that stand below it."""
    lines = body.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines).rstrip()


def _plain(node: yaml.Node, *, without: yaml.Node) -> dict[str, object]:
    """A mapping as plain values, one key left out."""
    import yaml

    value: dict[str, object] = yaml.CSafeLoader("").construct_document(node)
    return {name: inner for name, inner in value.items() if name != without.value}


def _offset(text: str, mark: yaml.Mark) -> int:
    """Where a mark is in the text; libyaml counts lines and columns in characters, its index in bytes."""
    lines = text.splitlines(keepends=True)
    return sum(len(line) for line in lines[: mark.line]) + mark.column


_YAML = (".yaml", ".yml")
_A_KIND = re.compile(r"^(?:text|table|number|list)\b")


def parse_value(text: str, *, key: str = "") -> object:
    """Read a value as a person types it: JSON where it is JSON (true, 5, ["a"]), else the text itself.

    Args:
        key: of the setting, dotted; one that is a text takes `1` and `true` as texts.
    """
    try:
        value = json.loads(text, parse_constant=_no_number)
    except ValueError:
        return text
    return text if value is None or (not isinstance(value, str) and _is_text(key)) else value


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


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
    for key, value in values.items():
        if value is not None:
            _refuse_wrong(file, key, value, project=project)
    try:
        text = file.read_text("utf-8") if file.exists() else ""
        written = with_yaml_values(text, values) if file.suffix in _YAML else _with_toml_values(text, values)
        _judge(written, file, project=project)
    except (OSError, ValueError, ConfigError, ContractInvalid) as exc:
        why = exc.message if isinstance(exc, AgentForgeError) else f"{file} cannot be read: {exc}"
        raise ConfigError(f"{', '.join(values)}: nothing was written, {why}", hint=_mend(exc)) from exc
    write_text(file, written)


def _mend(exc: Exception) -> str:
    """What to do about a file that was wrong before anything was to be written into it."""
    told = exc.hint if isinstance(exc, AgentForgeError) else ""
    return f"correct it by hand first{f': {told}' if told else ''}"


def _refuse_wrong(file: Path, key: str, value: object, *, project: bool) -> None:
    """Judge one key and its value by themselves, before the file is looked at.

    Raises:
        ConfigError: names the key, the value, what is allowed there, and a command that goes on.
    """
    try:
        shown = json.dumps(value, ensure_ascii=False)
        shown.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise ConfigError(
            f"{key}: the value is no valid text, nothing was written to {file}", hint="type it in UTF-8"
        ) from exc
    nested: Any = value
    for part in reversed(key.split(".")):
        nested = {part: nested}
    try:
        check(Layer(name=str(file), values=nested, project=project))
    except ConfigError as exc:
        told = exc.message.removeprefix(f"{file}: ")
        known = any(fnmatchcase(key, name) or name.startswith(f"{key}.") for name in known_keys())
        allowed = type_words(schema_of(key)) if known else ""
        if known and re.match(rf"{re.escape(key)}(\.\d+)?:", told):
            told = f"{key} takes {_A_KIND.sub(lambda kind: f'a {kind[0]}', allowed)}, not {shown}"
        else:
            told = f"{key} = {shown}: {told}"
        raise ConfigError(f"{told}; nothing was written to {file}", hint=_next_step(key, exc, known=known)) from exc


def _next_step(key: str, exc: ConfigError, *, known: bool) -> str:
    """A command that goes on after a refused value."""
    if "may not set" in exc.message:
        return f"agentforge config set {key} VALUE --user writes your own settings"
    if not known:
        return exc.hint
    inside = [name for name in known_keys() if name.startswith(f"{key}.")]
    if inside:
        below = f"{key}.name" if f"{key}.name" in inside else inside[0]
        return (
            f"set one of its keys, such as {below.replace('*', 'NAME')}; `agentforge config explain {key}` lists them"
        )
    return f"`agentforge config explain {key}` says what it means"


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


def write_text(file: Path, text: str, *, folder_mode: int = 0o777) -> None:
    """Put a text at `file`, all of it or nothing; a new file is its owner's alone, and folders are made.

    Args:
        folder_mode: permissions of the folder where it is made.
    Raises:
        StorageError: it cannot be written.
    """
    fresh = None
    try:
        file.parent.mkdir(mode=folder_mode, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=file.parent, prefix=f".{file.name}.", delete=False
        ) as out:
            fresh = Path(out.name)
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        if file.exists():
            fresh.chmod(file.stat().st_mode & 0o777)
        fresh.replace(file)
    except OSError as exc:
        if fresh is not None:
            fresh.unlink(missing_ok=True)
        raise StorageError(
            f"{file} cannot be written: {exc.strerror}", hint=remedy_of(exc) or "check its permissions"
        ) from exc
