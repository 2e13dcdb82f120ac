"""The catalogue of cheats as data: one folder each, with a trick that must be refused and its honest twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from agentforge.errors import ConfigError, UsageError

Side = Literal["trick", "twin"]
SIDES: tuple[Side, ...] = ("trick", "twin")

_FOLDER = Path(__file__).parent
_KEYS = frozenset({"title", "class", "trick", "twin", "stage", "refused_by", "base", "request"})
_NEEDED = ("title", "class", "trick", "twin", "stage", "refused_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheatCase:
    """One cheat of the catalogue.

    Attributes:
        title: what the trick is, for listings.
        kind: the class of tricks that it belongs to.
        trick, twin: what the dishonest and the honest model do, one sentence each.
        stage: in which the trick is played.
        refused_by: rules of which one at least must refuse it.
        base: folder with the repository and the answers that this one builds on.
        request: what is asked for.
        needs: a program that must be on PATH to play it, "" when ours will do.
    """

    name: str
    title: str
    kind: str
    trick: str
    twin: str
    stage: str
    refused_by: tuple[str, ...]
    base: Path
    folder: Path
    request: str
    needs: str = ""

    @property
    def missing(self) -> str:
        """What this machine lacks to play it, in words; "" when nothing."""
        import shutil

        return f"{self.needs} is not on PATH" if self.needs and shutil.which(self.needs) is None else ""

    @property
    def repositories(self) -> tuple[Path, ...]:
        """Folders whose files make the repository, the later over the earlier."""
        return self.base / "repository", self.folder / "repository"

    def answers(self, side: Side) -> tuple[Path, ...]:
        """Folders of answers, the later over the earlier."""
        return self.base / "answers", self.base / side, self.folder / "answers", self.folder / side


def case_names() -> tuple[str, ...]:
    """Name every cheat of the catalogue: a folder that holds a `case.yaml`."""
    return tuple(sorted(path.parent.name for path in (_FOLDER / "cheats").glob("*/case.yaml")))


def chosen_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The cheats that were asked for, all when none was.

    Raises:
        UsageError: there is no such cheat.
    """
    known = case_names()
    for name in names:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/cheats.md lists them"
            raise UsageError(f"there is no cheat {name!r}", hint=hint)
    return tuple(dict.fromkeys(names)) or known


def playable(names: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Part cheats into those that this machine can play, and name -> what it lacks for the others.

    Raises:
        UsageError: none of them can be played.
    """
    missing = {name: reason for name in names if (reason := load_case(name).missing)}
    if len(missing) == len(names):
        told = "; ".join(f"{name}: {reason}" for name, reason in missing.items())
        raise UsageError(f"none of these cheats can be played here: {told}", hint="install what is missing")
    return tuple(name for name in names if name not in missing), missing


def load_case(name: str) -> CheatCase:
    """Read a cheat's `case.yaml`.

    Raises:
        ConfigError: it cannot be read, a key is missing, or a key is not known.
    """
    folder = _FOLDER / "cheats" / name
    value = read_mapping(folder / "case.yaml")
    unknown = sorted(value.keys() - _KEYS)
    missing = [key for key in _NEEDED if not value.get(key)]
    if unknown or missing:
        raise ConfigError(
            f"{folder / 'case.yaml'}: unknown keys {unknown}, missing keys {missing}",
            hint=f"the keys are {', '.join(sorted(_KEYS))}",
        )
    rules = value["refused_by"]
    base = _FOLDER / "bases" / str(value.get("base") or "textkit")
    return CheatCase(
        name=name,
        title=str(value["title"]),
        kind=str(value["class"]),
        trick=str(value["trick"]),
        twin=str(value["twin"]),
        stage=str(value["stage"]),
        refused_by=tuple(str(rule) for rule in rules) if isinstance(rules, list) else (str(rules),),
        base=base,
        folder=folder,
        request=str(value.get("request") or read_mapping(base / "base.yaml").get("request", "")),
        needs=str(read_mapping(base / "base.yaml").get("needs", "")),
    )


@cache
def read_mapping(path: Path) -> Mapping[str, object]:
    """Read a YAML mapping; {} when the file does not exist.

    Raises:
        ConfigError: it is no YAML, or no mapping.
    """
    if not path.is_file():
        return {}
    from agentforge.contracts.strict_yaml import load_strict

    value = load_strict(path.read_text("utf-8"), source=str(path))
    if not isinstance(value, Mapping):
        raise ConfigError(f"{path} is no mapping", hint="write `key: value` lines")
    return value
