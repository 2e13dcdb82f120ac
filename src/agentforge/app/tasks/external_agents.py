"""Which stages an agent of another maker does, and who examines, by the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from agentforge.config.durations import parse_duration
from agentforge.config.settings import Settings
from agentforge.config.stage_agents import command_words
from agentforge.errors import ConfigError
from agentforge.events.kinds.examinations import EXAMINE
from agentforge.guest import CALLS, TIMEOUT_S, GuestChoice
from agentforge.workspace.sandbox.box import Network


def guests_of(settings: Settings, environ: Mapping[str, str]) -> Callable[[str], GuestChoice | None]:
    """Find out which agent does a stage; nothing is loaded where no stage has one.

    Raises:
        ConfigError: a variable that an agent needs is not set.
    """
    tables = cast("Mapping[str, Mapping[str, object]]", settings.table("stages"))
    found = {stage: guest_of(stage, settings, environ) for stage, table in tables.items() if table.get("agent")}
    return lambda stage: found.get(stage)


def guest_of(stage: str, settings: Settings, environ: Mapping[str, str]) -> GuestChoice:
    """The agent of a stage that has one.

    Raises:
        ConfigError: a variable that it needs is not set.
    """
    key = f"stages.{stage}"
    name = settings.text(f"{key}.agent")
    timeout = settings.text(f"{key}.agent_timeout")
    read = cast("list[str]", settings.get(f"{key}.agent_read", []))
    return GuestChoice(
        name=name,
        argv=command_words(name, place=f"{key}.agent"),
        network=_network(settings.get(f"{key}.agent_network", "off")),
        env=_variables(f"{key}.agent_env", settings, environ),
        readable=tuple(Path(path).expanduser() for path in read),
        timeout_s=parse_duration(timeout) if timeout else TIMEOUT_S,
        calls=int(settings.number(f"{key}.agent_calls", CALLS)),
        auth=settings.text(f"{key}.agent_auth"),
    )


def _network(value: object) -> Network:
    if isinstance(value, list):
        return tuple(str(host) for host in value)
    return "on" if value == "on" else "off"


def _variables(key: str, settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    names = cast("list[str]", settings.get(key, []))
    missing = [name for name in names if name not in environ]
    if missing:
        raise ConfigError(f"{settings.origin(key)}: {key}: {missing[0]} is not set", hint=f"export {missing[0]}=...")
    return {name: environ[name] for name in names}


def examiner_of(settings: Settings) -> dict[str, object]:
    """What the first record of a run holds of it: {model, asks}; {} = nobody examines."""
    model = settings.text("verification.examiner", "auto")
    return {} if model == "off" else {"model": model, "asks": settings.flag("verification.examiner_asks")}


def flag_of(settings: Settings, stage: str, flag: str | None) -> str | None:
    """The model that is named for everything, as PROVIDER/NAME; for the examiner its own where it has one."""
    model = settings.text("verification.examiner", "auto") if stage == EXAMINE else "off"
    return flag if model in ("auto", "off") else model
