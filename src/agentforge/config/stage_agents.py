"""Settings of stages that an agent of another maker does: `[stages.green] agent = "acp:COMMAND"` and what belongs to it.

Which stages the settings may speak of: those of the house, and those that a file or a setting brings. Nothing is loaded.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.config.durations import parse_duration
from agentforge.config.paths import config_dir, project_tops
from agentforge.config.schema import schema_of
from agentforge.config.sources import Layer
from agentforge.errors import ConfigError
from agentforge.workspace.sandbox.hostlist import parse

if TYPE_CHECKING:
    from agentforge.config.settings import Settings


PREFIX = "acp:"
"""How the name of an agent begins that speaks the Agent Client Protocol over its standard input and output."""

_USERS_OWN = ("agent_network", "agent_env", "agent_read")
_EXAMPLE = 'for example agent = "acp:claude-agent-acp"'


def command_words(name: str, *, place: str) -> tuple[str, ...]:
    """The command of `acp:COMMAND`, in words as a shell would split it.

    Args:
        place: where the name stands, for the message.
    Raises:
        ConfigError: another protocol, an empty command, an open quote.
    """
    if not name.startswith(PREFIX):
        raise ConfigError(f"{place}: {name!r} does not begin with {PREFIX}", hint=_EXAMPLE)
    try:
        words = tuple(shlex.split(name.removeprefix(PREFIX)))
    except ValueError as exc:
        raise ConfigError(f"{place}: {name!r}: {exc}", hint=_EXAMPLE) from exc
    if not words:
        raise ConfigError(f"{place}: there is no command behind {PREFIX}", hint=_EXAMPLE)
    return words


def check_agents(layer: Layer) -> None:
    """Refuse commands and durations that cannot be read, and what a project may not give to an agent.

    A project may name an agent: it runs where the project's tests run, with the same walls and no network. What lies beyond
    the walls (network, variables, files outside the repository) only the user gives.

    Raises:
        ConfigError: names the file, the line, the key, and what to do.
    """
    stages = cast("Mapping[str, Mapping[str, object]]", layer.values.get("stages", {}))
    for stage, table in stages.items():
        if "agent" in table:
            _check_command(layer, stage, str(table["agent"]))
        if "agent_timeout" in table:
            _check_duration(layer, stage, str(table["agent_timeout"]))
        _check_hosts(layer, stage, table.get("agent_network"))
        for name in _USERS_OWN if layer.project else ():
            if table.get(name) not in (None, "off", []):
                raise ConfigError(
                    f"{layer.place(('stages', stage, name))}: a project may not set stages.{stage}.{name}",
                    hint="set it in your own settings (see `agentforge config path`)",
                )


def _check_command(layer: Layer, stage: str, name: str) -> None:
    place = layer.place(("stages", stage, "agent"))
    words = command_words(name, place=f"{place}: stages.{stage}.agent")
    outside = [
        word for word in words[1:] if layer.project and (word.startswith(("~", "/")) or ".." in Path(word).parts)
    ]
    if outside:
        raise ConfigError(
            f"{place}: a project's agent may not name {outside[0]}, which lies outside of the repository",
            hint="set stages.*.agent in your own settings (see `agentforge config path`)",
        )


def _check_duration(layer: Layer, stage: str, text: str) -> None:
    try:
        parse_duration(text)
    except ValueError as exc:
        place = layer.place(("stages", stage, "agent_timeout"))
        raise ConfigError(f"{place}: stages.{stage}.agent_timeout: {exc}", hint='for example "20m"') from exc


def _check_hosts(layer: Layer, stage: str, hosts: object) -> None:
    if not isinstance(hosts, list):
        return

    try:
        parse(tuple(str(host) for host in hosts))
    except ConfigError as exc:
        place = layer.place(("stages", stage, "agent_network"))
        raise ConfigError(f"{place}: {exc.message}", hint=exc.hint) from exc


PROJECT_FOLDER = ".agentforge/stages"
"""Where a project keeps stages of its own."""


def check_stage_names(settings: Settings, cwd: Path, environ: Mapping[str, str]) -> None:
    """Refuse `[stages.NAME]` of a stage that nobody brings.

    Raises:
        ConfigError: names the line, and the nearest stage.
    """
    house = cast("Mapping[str, object]", schema_of("stages").get("properties", {}))
    unknown = [name for name in settings.table("stages") if name not in house]
    if not unknown:
        return
    named = cast("list[object]", settings.get("pipeline.stages") or [])
    known = {*house, *map(str, named), *(file.stem for file in stage_files(project_tops(cwd, environ), environ))}
    for name in unknown:
        if name not in known:
            raise ConfigError(
                f"{settings.origin(f'stages.{name}')}: unknown setting stages.{name}",
                hint=_nearest(name, sorted(known)),
            )


def stage_files(tops: Sequence[Path], environ: Mapping[str, str]) -> Iterator[Path]:
    """The files that bring stages: the user's own, then those of the project; a name that begins with `_` is no stage.

    Args:
        tops: folders of the project that may hold some.
    """
    for folder in (config_dir(environ) / "stages", *(top / PROJECT_FOLDER for top in tops)):
        yield from (file for file in sorted(folder.glob("*.py")) if not file.name.startswith("_"))


def _nearest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean stages.{near[0]}?" if near else f"a stage is one of {', '.join(known)}"
