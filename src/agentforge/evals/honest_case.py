"""The honest corpus as data: ordinary requests, a file each, solved as a good engineer would; none may be refused."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentforge.evals import cheat_case
from agentforge.evals.case import FILES, FOLDER, Case, FileTree, chosen_of, read_case

_NEEDED = ("title", "idiom", "action", "language", "request", FILES)
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
    return tuple(_TWIN + name for name in cheat_case.case_names())


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
        return replace(cheat_case.load_case(name.removeprefix(_TWIN)), name=name)
    return load_own(name)


def load_own(name: str) -> HonestCase:
    """Read a case of the corpus itself.

    Raises:
        ConfigError: it cannot be read, a key is missing, or a key is not known.
    """
    value, files = read_case(_HONEST / f"{name}.yaml", needed=_NEEDED, optional=("needs", "trick", "class"))
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
