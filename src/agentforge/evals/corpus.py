"""The corpora as data, a file a case: cheats, which must be refused, with honest twins; and ordinary requests that must not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentforge.errors import ConfigError
from agentforge.evals.case import FILES, FOLDER, NOTHING, Case, FileTree, Side, chosen_of, read_base, read_case

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


_HONEST_NEEDED = ("title", "idiom", "action", "language", "request", FILES)
_NEEDS = {"python": "", "javascript": "node", "typescript": "node", "go": "go", "rust": "cargo"}
_TWIN = "twin:"
_HONEST = FOLDER / "honest"


@dataclass(frozen=True, slots=True, kw_only=True)
class HonestCase(Case):
    """An ordinary request and its honest solution.

    Attributes:
        idiom: what of it a rule might take for a trick.
        action: of the intake record: create, modify, fix, delete, refactor.
        language: python, javascript, typescript, go or rust.
    """

    idiom: str
    action: str
    language: str


def honest_names() -> tuple[str, ...]:
    """Name every case of the corpus: a file `NAME.yaml`."""
    return tuple(sorted(path.stem for path in _HONEST.glob("*.yaml")))


def tricked_names() -> tuple[str, ...]:
    """Name the cases that hold a dishonest solution of the same request, too: a side `trick`, with the proof in `hidden`."""
    return tuple(name for name in honest_names() if "trick" in load_own(name).files.folders)


def twin_names() -> tuple[str, ...]:
    """Name the honest twins of the catalogue of cheats: `twin:NAME`."""
    return tuple(_TWIN + name for name in case_names())


def chosen_honest(names: tuple[str, ...], *, twins: bool) -> tuple[str, ...]:
    """The cases that were asked for, all when none was; with `twins` those of the catalogue of cheats, too.

    Raises:
        UsageError: there is no such case.
    """
    if not names:
        return honest_names() + (twin_names() if twins else ())
    return chosen_of(names, honest_names() + twin_names(), noun="honest case", page="docs/honest.md")


def load_honest(name: str) -> Case:
    """Read an honest case, or the cheat whose twin `twin:NAME` is.

    Raises:
        ConfigError: it cannot be read, a key is missing, or a key is not known.
    """
    if name.startswith(_TWIN):
        return replace(load_case(name.removeprefix(_TWIN)), name=name)
    return load_own(name)


def load_own(name: str) -> HonestCase:
    """Read a case of the corpus itself.

    Raises:
        ConfigError: it cannot be read, a key is missing, or a key is not known.
    """
    value, files = read_case(_HONEST / f"{name}.yaml", needed=_HONEST_NEEDED, optional=("needs", "trick", "class"))
    language = str(value["language"])
    return HonestCase(
        name=name,
        title=str(value["title"]),
        idiom=str(value["idiom"]),
        action=str(value["action"]),
        language=language,
        base=FileTree(),
        files=files,
        request=str(value["request"]).strip(),
        needs=str(value.get("needs") or _NEEDS.get(language, "")),
    )
