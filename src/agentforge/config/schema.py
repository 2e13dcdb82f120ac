"""Judging one settings file by settings.schema.json: unknown keys, wrong types, keys that only a user may set.

What the settings mean: a line, a type and a default for each, for `config explain` and the reference page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from agentforge.config.defaults import DEFAULTS
from agentforge.config.sources import Key, Layer
from agentforge.config.stage_agents import check_agents
from agentforge.errors import ConfigError, UsageError
from agentforge.workspace.sandbox.hostlist import parse

_PROTECTIONS = ("output_hygiene_enabled", "redaction_enabled", "prompt_injection_protection_enabled")
_STRICT_MODES = ("on-request", "auto-edit", "never")
_SCHEMA_FILE = Path(__file__).with_name("settings.schema.json")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def check(layer: Layer) -> None:
    """Refuse a layer that sets what is not known, or sets it to the wrong kind of value.

    Raises:
        ConfigError: names the file, the line, the key, and the nearest known key or the expected type.
    """
    _check_names(layer, layer.values, _schema(), ())
    _check_types(layer)
    _check_hosts(layer)
    if layer.values.get("stages"):
        check_agents(layer)
    if layer.project:
        _check_project(layer)


def known_keys() -> tuple[str, ...]:
    """List all settings with a fixed name, dotted, sorted; `*` stands for a name that the user chooses."""
    return tuple(sorted(_names(_schema(), "")))


def schema_of(key: str) -> Mapping[str, object]:
    """The JSON Schema of one dotted key of `known_keys`; `*` stands for any name."""
    schema = resolved(_schema())
    for part in key.split("."):
        known = cast("Mapping[str, Mapping[str, object]]", schema.get("properties", {}))
        chosen = known.get(part) or (next(iter(known.values())) if part == "*" and known else None)
        schema = resolved(chosen or cast("Mapping[str, object]", schema.get("additionalProperties", {})))
    return schema


def _check_names(layer: Layer, values: Mapping[str, object], schema: Mapping[str, object], prefix: Key) -> None:
    schema = resolved(schema)
    known = cast("Mapping[str, Mapping[str, object]]", schema.get("properties", {}))
    others = schema.get("additionalProperties", False)
    for name, value in values.items():
        key = (*prefix, str(name))
        inner = known.get(name, others if isinstance(others, Mapping) else None)
        if inner is None:
            raise ConfigError(f"{layer.place(key)}: unknown setting {'.'.join(key)}", hint=_nearest(key))
        inner = resolved(inner)
        items = inner.get("items")
        if isinstance(value, Mapping) and inner.get("type") == "object":
            _check_names(layer, value, inner, key)
        elif isinstance(value, list) and isinstance(items, Mapping) and "properties" in items:
            for item in value:
                _check_names(layer, item if isinstance(item, Mapping) else {}, items, key)


def _nearest(key: Key) -> str:
    from difflib import get_close_matches  # only for the error

    dotted = ".".join(key)
    names = known_keys()
    near = get_close_matches(dotted, names, n=1, cutoff=0.6)
    near = near or [name for name in names if name.rpartition(".")[2] == key[-1]][:1]
    return f"did you mean {near[0].removesuffix('.*')}?" if near else "see `agentforge config show` for what is known"


def _check_types(layer: Layer) -> None:
    import jsonschema_rs  # 10 ms; only where a settings file exists

    for error in jsonschema_rs.Draft202012Validator(_schema()).iter_errors(layer.values):
        key = tuple(str(part) for part in error.instance_path)
        named = tuple(part for part in key if not part.isdigit())
        wrong = f"{json.dumps(error.instance)} does not fit" if error.schema_path[-1] == "anyOf" else error.message
        raise ConfigError(
            f"{layer.place(named)}: {'.'.join(key) or 'the file'}: {wrong}",
            hint=_expected(error.schema_path) or "correct the value",
        )


def _expected(schema_path: list[str | int]) -> str:
    """What the schema says about the value that failed, in words."""
    node: object = _schema()
    for part in schema_path[:-1]:
        if isinstance(node, Mapping):
            node = resolved(node).get(str(part), resolved(node) if part == "$ref" else {})
    if not isinstance(node, Mapping):
        return ""
    return f"expected {type_words(node)}" if {"anyOf", "enum", "type"} & set(node) else ""


def _check_hosts(layer: Layer) -> None:
    sandbox = cast("Mapping[str, object]", layer.values.get("sandbox", {}))
    hosts = sandbox.get("network")
    if not isinstance(hosts, list):
        return

    try:
        parse(tuple(str(host) for host in hosts))
    except ConfigError as exc:
        raise ConfigError(f"{layer.place(('sandbox', 'network'))}: {exc.message}", hint=exc.hint) from exc


def _check_project(layer: Layer) -> None:
    """A project may not lower the user's safety or send the user's key elsewhere: such keys are the user's alone."""
    model = cast("Mapping[str, object]", layer.values.get("model", {}))
    sandbox = cast("Mapping[str, object]", layer.values.get("sandbox", {}))
    deliver = cast("Mapping[str, object]", layer.values.get("deliver", {}))
    checks = cast("Mapping[str, object]", layer.values.get("checks", {}))
    url = str(model.get("base_url", ""))
    shell = cast("Mapping[str, object]", layer.values.get("shell_environment", {}))
    refused: dict[Key, bool] = {
        **{(name,): layer.values.get(name) is False for name in _PROTECTIONS},
        ("approval",): layer.values.get("approval") not in (None, *_STRICT_MODES),
        ("pipeline", "approval"): "approval" in cast("Mapping[str, object]", layer.values.get("pipeline", {})),
        ("shell_environment", "ignore_default_excludes"): shell.get("ignore_default_excludes") is True,
        ("model", "base_url"): bool(url) and urlsplit(url).hostname not in _LOOPBACK,
        ("sandbox", "kind"): sandbox.get("kind") == "none",
        ("sandbox", "network"): sandbox.get("network", "off") != "off",
        ("deliver", "apply"): deliver.get("apply") is True,
        ("fleet", "database_url"): "database_url" in cast("Mapping[str, object]", layer.values.get("fleet", {})),
        ("checks", "project_code"): checks.get("project_code") is True,
        ("local", "mirror"): "mirror" in cast("Mapping[str, object]", layer.values.get("local", {})),
        ("fleet", "remote"): "remote" in cast("Mapping[str, object]", layer.values.get("fleet", {})),
        ("forge",): "forge" in layer.values,
        ("notify",): "notify" in layer.values,
        ("proof", "anchor"): "anchor" in cast("Mapping[str, object]", layer.values.get("proof", {})),
        ("telemetry",): "telemetry" in layer.values,
    }
    for key, wrong in refused.items():
        if wrong:
            raise ConfigError(
                f"{layer.place(key)}: a project may not set {'.'.join(key)} to this value",
                hint="set it in your own settings (see `agentforge config path`)",
            )


@cache
def _schema() -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(_SCHEMA_FILE.read_bytes()))


def resolved(schema: Mapping[str, object]) -> Mapping[str, object]:
    """The definition that a part of the schema refers to, or the part itself."""
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    definitions = cast("Mapping[str, Mapping[str, object]]", _schema()["$defs"])
    return definitions[reference.removeprefix("#/$defs/")]


def _names(schema: Mapping[str, object], prefix: str) -> list[str]:
    schema = resolved(schema)
    known = cast("Mapping[str, Mapping[str, object]]", schema.get("properties", {}))
    others = schema.get("additionalProperties", False)
    children = {**known, "*": others} if isinstance(others, Mapping) else dict(known)
    if not children:
        return [prefix]
    found: list[str] = []
    for name, inner in children.items():
        found.extend(_names(inner, f"{prefix}.{name}" if prefix else name))
    return found


def type_words(schema: Mapping[str, object]) -> str:
    """What a value must be, in words: `number or "none"`."""
    schema = resolved(schema)
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        return " or ".join(type_words(cast("Mapping[str, object]", choice)) for choice in choices)
    if "const" in schema:
        return f'"{schema["const"]}"'
    if "title" in schema:  # a text that has to match a pattern
        return str(schema["title"])
    if isinstance(schema.get("enum"), list):
        return "one of " + ", ".join(str(item) for item in cast("list[object]", schema["enum"]))
    kind = str(schema.get("type", "text"))
    if kind == "array":
        items = resolved(cast("Mapping[str, object]", schema.get("items", {})))
        return "list of tables" if "properties" in items else f"list of {type_words(items).replace('text', 'texts')}"
    return {"string": "text", "boolean": "true or false", "object": "table"}.get(kind, kind)


_FILE = Path(__file__).with_name("words.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One setting.

    Attributes:
        key: dotted; `*` stands for a name that the user chooses.
        type: in words: "integer", "true or false", "one of a, b", "list of texts".
        default: None when nothing is set by default.
    """

    key: str
    words: str
    type: str
    default: object = None


def explained(key: str = "") -> tuple[Explained, ...]:
    """Explain one setting, all settings of a table, or everything.

    Args:
        key: dotted; "" is everything.

    Raises:
        UsageError: there is no such setting and no such table; names the nearest.
    """
    keys = tuple(dict.fromkeys(_folded(name) for name in known_keys()))
    chosen = [name for name in keys if not key or fnmatchcase(key, name) or name.startswith(f"{key}.")]
    if not chosen:
        near = get_close_matches(key, [*keys, *{name.partition(".")[0] for name in keys}], n=1)
        raise UsageError(
            f"there is no setting {key}",
            hint=f"did you mean {near[0]}?" if near else "`agentforge config explain` lists all of them",
        )
    return tuple(
        Explained(
            key=name, words=setting_words().get(name, ""), type=type_words(schema_of(name)), default=_default(name)
        )
        for name in chosen
    )


@cache
def setting_words() -> Mapping[str, str]:
    """The line of every setting, by its dotted key."""
    import tomllib

    return {key: str(words) for key, words in tomllib.loads(_FILE.read_text("utf-8")).items()}


def _folded(key: str) -> str:
    """All stages have the same settings."""
    parts = key.split(".")
    return ".".join(("stages", "*", *parts[2:])) if parts[0] == "stages" else key


def _default(key: str) -> object:
    value: object = DEFAULTS
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
