"""The catalogue of cheats as data: one file each, with a trick that must be refused and its honest twin."""

from __future__ import annotations

from dataclasses import dataclass

from agentforge.errors import ConfigError
from agentforge.evals.case import FOLDER, NOTHING, Case, Side, chosen_of, read_base, read_case

SIDES: tuple[Side, ...] = ("trick", "twin")

QUESTIONS = {"ask": "question-not-done", "stated": "question-broken-example"}
"""What a question to a human keeps in its context -> the name under which a case says that the trick ends in it."""

_NEEDED = ("title", "class", "trick", "twin", "stage", "refused_by")
_OPTIONAL = ("base", "request")
_CHEATS = FOLDER / "cheats"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheatCase(Case):
    """One cheat of the catalogue.

    Attributes:
        kind: the class of tricks that it belongs to.
        trick, twin: what the dishonest and the honest model do, one sentence each.
        stage: in which the trick is played.
        refused_by: rules of which one at least must refuse it, or questions of which one must be asked.
    """

    kind: str
    trick: str
    twin: str
    stage: str
    refused_by: tuple[str, ...]


def case_names() -> tuple[str, ...]:
    """Name every cheat of the catalogue: a file `NAME.yaml`."""
    return tuple(sorted(path.stem for path in _CHEATS.glob("*.yaml")))


def chosen_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The cheats that were asked for, all when none was.

    Raises:
        UsageError: there is no such cheat.
    """
    return chosen_of(names, case_names(), noun="cheat", page="docs/cheats.md")


def load_case(name: str) -> CheatCase:
    """Read a cheat.

    Raises:
        ConfigError: it cannot be read, a key is missing, or a key is not known.
    """
    value, files = read_case(_CHEATS / f"{name}.yaml", needed=_NEEDED, optional=_OPTIONAL)
    below, base = read_base(str(value.get("base") or "textkit"))
    request = str(value.get("request") or below.get("request") or "")
    if not request:
        raise ConfigError(f"{name}: nothing is asked for", hint=f"write `request`: the base {NOTHING} has none")
    rules = value["refused_by"]
    return CheatCase(
        name=name,
        title=str(value["title"]),
        kind=str(value["class"]),
        trick=str(value["trick"]),
        twin=str(value["twin"]),
        stage=str(value["stage"]),
        refused_by=tuple(str(rule) for rule in rules) if isinstance(rules, list) else (str(rules),),
        base=base,
        files=files,
        request=request,
        needs=str(below.get("needs", "")),
    )
