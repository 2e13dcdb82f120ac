"""The permission rules of all settings layers: `[permissions] allow|ask|deny`, each rule with the place where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agentforge.config.settings import Settings
from agentforge.config.sources import Layer
from agentforge.errors import ConfigError
from agentforge.safety.modes import Mode, Verdict
from agentforge.safety.permission import BadRule, Rule, read_rule


def permission_rules(settings: Settings) -> tuple[Rule, ...]:
    """Read the rules of every layer; none replaces another, the strictest decides.

    Raises:
        ConfigError: a rule that cannot be read, or a project that allows something: only the user may.
    """
    return tuple(rule for layer in settings.layers for rule in _rules_of(layer))


def mode_of(settings: Settings, name: str | None = None) -> Mode:
    """The mode that holds: `name` when given, else the setting `approval`.

    Raises:
        ConfigError: there is no such mode.
    """
    wanted = name or settings.text("approval", Mode.ON_REQUEST)
    if wanted not in list(Mode):
        raise ConfigError(f"there is no mode {wanted!r}", hint=f"one of {', '.join(Mode)}")
    return Mode(wanted)


def _rules_of(layer: Layer) -> list[Rule]:
    table = cast("Mapping[str, list[str]]", layer.values.get("permissions", {}))
    found = []
    for verdict in Verdict:
        place = layer.place(("permissions", verdict.value)) if table.get(verdict.value) else ""
        for text in table.get(verdict.value, ()):
            if layer.project and verdict is Verdict.ALLOW:
                raise ConfigError(
                    f"{place}: a project may not allow anything ({text!r})",
                    hint="put the rule into your own settings (see `agentforge config path`)",
                )
            found.append(_rule(text, verdict, place))
    return found


def _rule(text: str, verdict: Verdict, place: str) -> Rule:
    try:
        return read_rule(text, verdict, origin=place)
    except BadRule as exc:
        raise ConfigError(f"{place}: {exc}", hint="see `agentforge policy --help` for the form of a rule") from exc
