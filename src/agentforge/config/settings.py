"""Settings in layers: defaults, the user's file, the project's, the environment, flags. Each value knows its origin.

Settings files that were found valid before: reading and judging one costs as much CPU as all else before the first request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from agentforge import __version__
from agentforge.canonical import Digest, digest_bytes, digest_value
from agentforge.config.defaults import DEFAULTS
from agentforge.config.durations import parse_duration
from agentforge.config.edits import write_text
from agentforge.config.paths import config_dir, data_dir, project_files, project_top
from agentforge.config.protections import weakened, without
from agentforge.config.schema import check
from agentforge.config.sources import Key, Layer, dotted, leaves, merged, read_toml, read_yaml
from agentforge.config.stage_names import check_stage_names
from agentforge.config.trust import agreed_items
from agentforge.errors import ConfigError, StorageError
from agentforge.frozen import dataclass

_VARIABLES: Mapping[str, Key] = {
    "AGENTFORGE_MAX_STEPS": ("limits", "max_steps"),
    "AGENTFORGE_BUDGET_TOKENS": ("limits", "budget_tokens"),
    "AGENTFORGE_BUDGET_USD": ("limits", "budget_usd"),
    "AGENTFORGE_DEADLINE": ("limits", "deadline"),
}
"""Variables that set a setting; those that name models and keys are read in model_choice.py."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One value as `config show` lists it."""

    key: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings that hold, read-only.

    Attributes:
        values: nested tables, the layers merged (tables deep, lists replaced).
        layers: where they come from, the strongest last.
        waiting: what the project sets although less would be protected by it; none of it holds before somebody trusts
            the project.
    """

    values: Mapping[str, object]
    layers: tuple[Layer, ...]
    waiting: tuple[Setting, ...] = ()

    def get(self, key: str, default: object = None) -> object:
        """Return the value of a dotted key such as "model.name", or `default` when nobody set it."""
        return _find(self.values, _parts(key), default)

    def text(self, key: str, default: str = "") -> str:
        """Return a string setting."""
        return cast("str", self.get(key, default))

    def number(self, key: str, default: float = 0.0) -> float:
        """Return a number setting."""
        return cast("float", self.get(key, default))

    def flag(self, key: str) -> bool:
        """Return a yes-or-no setting; unset means no."""
        return bool(self.get(key, False))

    def table(self, key: str) -> Mapping[str, object]:
        """Return a table such as "test"; empty when nobody set anything in it."""
        return cast("Mapping[str, object]", self.get(key, {}))

    def folders(self, key: str) -> tuple[Path, ...]:
        """Return a list of folders, `~` written out; empty when nobody set it."""
        return tuple(Path(str(one)).expanduser() for one in cast("list[object]", self.get(key, [])))

    def origin(self, key: str) -> str:
        """Say where a value comes from: `FILE:LINE`, "environment", "command line", "default", or "unset"."""
        parts = _parts(key)
        missing = object()
        for layer in reversed(self.layers):
            if _find(layer.values, parts, missing) is not missing:
                return layer.place(parts)
        return "unset"

    def limits(self) -> dict[str, int | float | None]:
        """Return the limits under the names of `events.state.Limits`; None = no bound."""
        table = self.table("limits")
        limits = {name: _bound(value) for name, value in table.items() if name != "deadline"}
        return {**limits, "deadline_s": _deadline(table.get("deadline"))}

    def files(self) -> tuple[str, ...]:
        """Return the settings files that were read."""
        return tuple(layer.name for layer in self.layers if "/" in layer.name)

    def digest(self) -> Digest:
        """Digest of all values, whatever their origin: a run records it."""
        return digest_value(self.values)

    def rows(self) -> tuple[Setting, ...]:
        """List every value with its origin, sorted by key."""
        return tuple(
            Setting(key=dotted(key), value=value, origin=self.origin(dotted(key)))
            for key, value in sorted(leaves(self.values).items())
        )


def load(cwd: Path, environ: Mapping[str, str], *, flags: Mapping[str, object] | None = None) -> Settings:
    """Read all settings that hold for work in `cwd`.

    Args:
        flags: dotted key -> value, from the command line; None values are left out.
    Raises:
        ConfigError: a file that cannot be read, an unknown key, a wrong type, one key in both project files.
    """
    known = Known(environ)
    own = read_toml(config_dir(environ) / "config.toml", project=False, recall=partial(known.recall, project=False))
    layers = [layer for layer in (own, *_project_layers(cwd, environ, known)) if layer is not None]
    for layer in layers:
        if not layer.judged:
            check(layer)
            known.remember(layer.text, layer.values, project=layer.project)
    stronger = [_environment_layer(environ), _nested("command line", flags or {})]
    base = [Layer(name="default", values=DEFAULTS), *(layer for layer in layers if not layer.project)]
    agreed, waiting = _agreed([layer for layer in layers if layer.project], base, cwd, environ)
    chain = (*base, *agreed, *(layer for layer in stronger if layer.values))
    settings = Settings(values=merged(chain), layers=chain, waiting=waiting)
    _check_limits(settings)
    if settings.table("stages"):
        check_stage_names(settings, cwd, environ)
    return settings


def _project_layers(cwd: Path, environ: Mapping[str, str], known: Known) -> list[Layer | None]:
    top = project_top(cwd, environ)
    if top is None:
        return []
    toml_file, yaml_file = project_files(top)
    recall = partial(known.recall, project=True)
    toml, yaml = read_toml(toml_file, project=True, recall=recall), read_yaml(yaml_file, project=True, recall=recall)
    if toml and yaml:
        for key in sorted(leaves(toml.values).keys() & leaves(yaml.values).keys()):
            raise ConfigError(
                f"{dotted(key)} is set in {toml.place(key)} and in {yaml.place(key)}", hint="keep one of the two"
            )
    return [toml, yaml]


def _agreed(
    layers: list[Layer], base: list[Layer], cwd: Path, environ: Mapping[str, str]
) -> tuple[list[Layer], tuple[Setting, ...]]:
    """The project's layers without what would protect less and nobody agreed to; and what was taken out."""
    if not layers:
        return layers, ()

    held = merged(base)
    found = [(layer, key, value) for layer in layers for key, value in weakened(layer.values, held)]
    top = project_top(cwd, environ)
    if not found or top is None:
        return layers, ()
    agreed = agreed_items(top, environ)
    left = [
        (layer, key, value)
        for layer, key, value in found
        if agreed.get(f"{Path(layer.name).relative_to(top)}: {dotted(key)}") != digest_value(value)
    ]
    waiting = tuple(Setting(key=dotted(key), value=value, origin=layer.place(key)) for layer, key, value in left)
    return [
        replace(layer, values=without(layer.values, frozenset(key for one, key, _ in left if one is layer)))
        for layer in layers
    ], waiting


def _environment_layer(environ: Mapping[str, str]) -> Layer:
    flat: dict[str, object] = {}
    for variable, key in _VARIABLES.items():
        text = environ.get(variable, "").strip()
        if text:
            flat[dotted(key)] = text if key[-1] == "deadline" else _as_number(text, variable=variable, key=key)
    return _nested("environment", flat)


def _as_number(text: str, *, variable: str, key: Key) -> object:
    if text == "none":
        return text
    kind = float if key[-1] == "budget_usd" else int
    try:
        value = kind(text)
    except ValueError:
        value = 0
    if not 0 < value < float("inf"):
        word = "number" if kind is float else "whole number"
        raise ConfigError(f"{variable}={text} in the environment is not a {word} > 0", hint='write one, or "none"')
    return value


def _nested(name: str, flat: Mapping[str, object]) -> Layer:
    values: dict[str, object] = {}
    for key, value in flat.items():
        if value is None:
            continue
        *tables, last = _parts(key)
        inner = values
        for table in tables:
            inner = cast("dict[str, object]", inner.setdefault(table, {}))
        inner[last] = value
    return Layer(name=name, values=values)


def _parts(key: str) -> Key:
    """Split a dotted key; dots inside double quotes do not split."""
    parts: list[str] = []
    for number, piece in enumerate(key.split('"')):
        parts.extend([piece] if number % 2 else [part for part in piece.split(".") if part])
    return tuple(parts)


def _find(values: object, key: Key, default: object) -> object:
    for part in key:
        if not isinstance(values, Mapping) or part not in values:
            return default
        values = values[part]
    return values


def _bound(value: object) -> int | float | None:
    return None if value == "none" else cast("int | float", value)


def _deadline(value: object) -> float | None:
    if value is None or value == "none":
        return None
    return float(value) if isinstance(value, (int, float)) else parse_duration(cast("str", value))


def _check_limits(settings: Settings) -> None:
    try:
        settings.limits()
    except ValueError as exc:
        raise ConfigError(f"{settings.origin('limits.deadline')}: limits.deadline: {exc}", hint="correct it") from exc


_SCHEMA_FILE = Path(__file__).with_name("settings.schema.json")


class Known:
    """A memory of files by what they hold; what is not remembered, or not readable, is judged anew."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def recall(self, text: str, *, project: bool) -> dict[str, object] | None:
        """Return the values of a file that this version found valid; None when it did not see it yet."""
        try:
            found = json.loads(self._place(text, project=project).read_bytes())
        except (OSError, StorageError, ValueError):  # a memory that cannot be read is none
            return None
        return cast("dict[str, object]", found) if isinstance(found, dict) else None

    def remember(self, text: str, values: Mapping[str, object], *, project: bool) -> None:
        """Keep the values of a valid file; where that is not possible, it is judged again next time."""
        written = json.dumps(values)
        if json.loads(written) != values:  # keys that are no strings: JSON would change them
            return
        with suppress(OSError, StorageError):
            write_text(self._place(text, project=project), written, folder_mode=0o700)

    def _place(self, text: str, *, project: bool) -> Path:
        """Bound to the program, its schema, the file's text, and whose file it is."""
        bound = "\0".join((__version__, digest_bytes(_SCHEMA_FILE.read_bytes()), str(project), text))
        return data_dir(self._environ) / "settings" / f"{digest_bytes(bound.encode())}.json"
