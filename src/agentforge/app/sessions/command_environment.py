"""Which variables the commands of a session see, by the settings in [shell_environment]."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from agentforge.app.composition.project import Project
    from agentforge.config.settings import Settings

_TABLE = "shell_environment"


def visible_environment(environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The variables of this process without those that `exclude_patterns` name (upper and lower case are the same).

    With `ignore_default_excludes` the patterns that the program brings are not applied; those of the user are.
    """
    patterns = _patterns(settings)
    return {name: value for name, value in environ.items() if not _matches(name, patterns)}


def added_variables(environ: Mapping[str, str], settings: Settings, project: Project) -> dict[str, str]:
    """What commands see on top of the allow-list: everything where the user said so, and `set_vars`.

    A project's own `set_vars` count once they are trusted.
    """
    everything = settings.get(f"{_TABLE}.ignore_default_excludes") is True
    found = visible_environment(environ, settings) if everything else {}
    for layer in settings.layers:
        table = cast("Mapping[str, Mapping[str, str]]", layer.values.get(_TABLE, {}))
        if table.get("set_vars") and (not layer.project or project.holds("environment")):
            found |= table["set_vars"]
    return found


def _patterns(settings: Settings) -> tuple[str, ...]:
    own = settings.origin(f"{_TABLE}.exclude_patterns") != "default"
    if settings.get(f"{_TABLE}.ignore_default_excludes") is True and not own:
        return ()
    return tuple(cast("list[str]", settings.get(f"{_TABLE}.exclude_patterns", [])))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.upper(), pattern.upper()) for pattern in patterns)
