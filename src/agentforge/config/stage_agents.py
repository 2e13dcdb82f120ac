"""Settings of stages that an agent of another maker does: `[stages.green] agent = "acp:COMMAND"` and what belongs to it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.config.durations import parse_duration
from agentforge.config.sources import Layer
from agentforge.errors import ConfigError
from agentforge.workspace.sandbox.hostlist import parse

if TYPE_CHECKING:
    pass


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
