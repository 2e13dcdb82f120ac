"""The attacks and the everyday commands as data: one YAML file per class of attack, one entry per case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from agentforge.contracts.strict_yaml import load_strict
from agentforge.errors import ConfigError
from agentforge.evals.case import chosen_of
from agentforge.safety.shell.grammar.syntax import names

Against = Literal["shell", "tool", "dispatch", "settings", "trust", "rules"]

_FOLDER = Path(__file__).with_name("attacks")
_EVERYDAY = {"on-request": "everyday", "auto": "everyday_in_auto"}
_KEYS = frozenset(
    names("name shell tool arguments settings trust bad_rule modes rules allowed_tools files links setup expect floor")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackCase:
    """One attack.

    Attributes:
        kind: the class that it belongs to: the file's name.
        against: what is attacked: a shell line, a tool's call, the dispatch, a project's settings, trust, a rule file.
        text: the line, the tool's name, the settings, or the file that asks for trust.
        arguments: of the tool, as the model wrote them (a text that may be no JSON), or as values.
        modes: in each of them it must not be allowed.
        rules: permission rules, as in the settings: {allow|ask|deny: [...]}.
        allowed_tools: names of the tools that may be called; None = all.
        files, links: what the project holds besides the ground's own files: {path: text}, {path: target}.
        setup: bash lines run in the workspace before, outside of any judgement.
        expect: verdicts that count as held.
        floor: whether the line is also run in the sandbox, as if it had been allowed.
    """

    name: str
    kind: str
    against: Against
    text: str
    arguments: object = field(default_factory=dict)
    modes: tuple[str, ...] = ("on-request",)
    rules: Mapping[str, list[str]] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    setup: tuple[str, ...] = ()
    expect: tuple[str, ...] = ("ask", "deny")
    floor: bool = True


def attack_cases() -> tuple[AttackCase, ...]:
    """Read all attacks.

    Raises:
        ConfigError: an entry that cannot be read, or a name twice.
    """
    found: dict[str, AttackCase] = {}
    for path in sorted(_FOLDER.glob("*.yaml")):
        if path.stem in _EVERYDAY.values():
            continue
        for entry in _entries(path):
            case = _plain(entry, path) if isinstance(entry, str) else _case(cast("Mapping[str, object]", entry), path)
            if case.name in found:
                raise ConfigError(f"{path}: the name {case.name} appears twice", hint="give each case its own name")
            found[case.name] = case
    return tuple(found.values())


def everyday_commands(mode: str = "on-request") -> tuple[str, ...]:
    """Read the commands of every day, none of which may be asked about.

    Args:
        mode: "on-request" for what needs no question there, "auto" for work that changes files or installs.
    """
    return tuple(str(entry) for entry in _entries(_FOLDER / f"{_EVERYDAY[mode]}.yaml"))


def chosen_cases(wanted: tuple[str, ...]) -> tuple[AttackCase, ...]:
    """Pick attacks by name or class; none named means all.

    Raises:
        UsageError: a name that no attack and no class has.
    """
    cases = attack_cases()
    known = tuple(dict.fromkeys(name for case in cases for name in (case.name, case.kind)))
    chosen = chosen_of(wanted, known, noun="attack", page="`agentforge eval attacks --json`")
    return tuple(case for case in cases if case.name in chosen or case.kind in chosen)


def _entries(path: Path) -> list[object]:

    value = load_strict(path.read_text(encoding="utf-8"), source=str(path))
    if not isinstance(value, list):
        raise ConfigError(f"{path} is not a list", hint="write `- name: ...` entries")
    return value


def _plain(line: str, path: Path) -> AttackCase:
    """A line that stands for itself: asked about with somebody there and without, and not run in the sandbox."""
    modes = ("on-request", "auto")
    return AttackCase(name=line, kind=path.stem, against="shell", text=line, modes=modes, floor=False)


def _case(entry: Mapping[str, object], path: Path) -> AttackCase:
    unknown = sorted(set(entry) - _KEYS)
    attacked = [key for key in ("shell", "tool", "settings", "trust", "bad_rule") if key in entry]
    if unknown or len(attacked) != 1 or "name" not in entry:
        raise ConfigError(
            f"{path}: {dict(entry)} is not a case (unknown keys: {unknown or 'none'})", hint="see the others"
        )
    key = attacked[0]
    arguments = entry.get("arguments", {})
    against = {
        "bad_rule": "rules",
        "tool": "dispatch" if isinstance(arguments, str) or "allowed_tools" in entry else "tool",
    }
    return AttackCase(
        name=str(entry["name"]),
        kind=path.stem,
        against=cast("Against", against.get(key, key)),
        text=str(entry[key]),
        arguments=arguments,
        modes=_texts(entry.get("modes")) or ("on-request",),
        rules=cast("Mapping[str, list[str]]", entry.get("rules", {})),
        allowed_tools=_texts(entry["allowed_tools"]) if "allowed_tools" in entry else None,
        files=cast("Mapping[str, str]", entry.get("files", {})),
        links=cast("Mapping[str, str]", entry.get("links", {})),
        setup=_texts(entry.get("setup")),
        expect=_texts(entry.get("expect")) or ("ask", "deny"),
        floor=bool(entry.get("floor", True)),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
