"""What the settings mean: a line, a type and a default for each, for `config explain` and the reference page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from agentforge.config.defaults import DEFAULTS
from agentforge.config.schema import known_keys, schema_of, type_words
from agentforge.errors import UsageError

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
        from difflib import get_close_matches

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
