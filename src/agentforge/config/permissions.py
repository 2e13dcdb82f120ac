"""The permission rules of all settings layers: `[permissions] allow|ask|deny`, each rule with the place where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agentforge.config.edits import with_item, write_text
from agentforge.config.paths import config_dir
from agentforge.config.settings import Settings
from agentforge.config.sources import Layer, read_toml
from agentforge.errors import ConfigError
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.permission import RULE_DAYS, BadRule, Rule, after_days, read_rule


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


def remember_rule(
    rule: str, verdict: Consent = Consent.ALLOW, *, environ: Mapping[str, str], now: str, days: int | None = RULE_DAYS
) -> Rule:
    """Add a rule to the user's own settings: what "always allow" does after a person said so.

    Call it only with a rule that a person was shown (`safety.suggestion.suggest` offers narrow ones). A rule that stands there
    already and still holds is not written again.

    Args:
        rule: `Tool(pattern)`, without an end of its own.
        now: ISO 8601 in UTC.
        days: how long it holds; None for ever.
    Returns:
        The rule as it stands in the file.
    Raises:
        ConfigError: it is no rule, or the settings file cannot be read or extended.
        StorageError: the file cannot be written.
    Side effects: writes `config.toml` in the user's settings folder; comments and order stay.
    """
    path = (
        config_dir(environ) / "config.toml"
    ).resolve()  # a link to the user's own collection of such files stays one
    plain = _rule(rule, verdict, str(path))
    written = plain.written if days is None else f"{plain.written} until {after_days(now, days)}"
    layer = read_toml(path, project=False)
    standing = [one for one in _standing(layer) if one.verdict is verdict]
    known = next((one for one in standing if _text_of(one) in (plain.written, written)), None)
    if known is not None:
        return known
    try:
        text = with_item(layer.text if layer is not None else "", ("permissions", verdict.value), written)
    except ConfigError as exc:
        raise ConfigError(f"{path}: {exc.message}", hint=exc.hint) from exc
    write_text(path, text, folder_mode=0o700)
    return _rule(written, verdict, str(path))


def _standing(layer: Layer | None) -> list[Rule]:
    table = layer.values.get("permissions", {}) if layer is not None else {}
    if layer is None or not isinstance(table, Mapping):
        return []
    odd = [name for name in Consent if not isinstance(table.get(name, []), list)]
    if odd:
        raise ConfigError(f"{layer.name}: permissions.{odd[0]} is not a list", hint="correct the file first")
    return _rules_of(layer)


def _text_of(rule: Rule) -> str:
    return f"{rule.written} until {rule.expires}" if rule.expires else rule.written


def _rules_of(layer: Layer) -> list[Rule]:
    table = cast("Mapping[str, list[str]]", layer.values.get("permissions", {}))
    found = []
    for verdict in Consent:
        place = layer.place(("permissions", verdict.value)) if table.get(verdict.value) else ""
        for text in table.get(verdict.value, ()):
            if layer.project and verdict is Consent.ALLOW:
                raise ConfigError(
                    f"{place}: a project may not allow anything ({text!r})",
                    hint="put the rule into your own settings (see `agentforge config path`)",
                )
            found.append(_rule(text, verdict, place))
    return found


def _rule(text: str, verdict: Consent, place: str) -> Rule:
    try:
        return read_rule(text, verdict, origin=place)
    except BadRule as exc:
        raise ConfigError(f"{place}: {exc}", hint="see `agentforge policy --help` for the form of a rule") from exc
