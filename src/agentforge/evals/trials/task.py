"""A task of a set as data: files, request, hidden tests, what must come of it, and answers for the scripted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from agentforge.errors import ConfigError
from agentforge.evals.case import FILES, read_mapping, read_tree
from agentforge.workspace.git.repository import Git

Expected = Literal["right", "must-ask", "must-escalate", "analyzed"]
Action = Literal["create", "modify", "delete", "refactor", "fix", "analyze"]

FILE = "task.yaml"
HONEST = "honest"
_KEYS = frozenset(
    {
        "request", "expected", "action", "base", "source", "files", "hidden", "given", "answers", "about", "mentions", "shows",
        "settings", "examples", "tags", "uncounted",
    }
)  # fmt: skip
_NOT_DATA = ("__pycache__", ".git", ".pytest_cache")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalTask:
    """One request, what it is made in, and how it is judged.

    Attributes:
        expected: "right" is a delivery that passes the hidden tests; "must-ask" and "must-escalate" are questions to a human
            instead of a delivery; "analyzed" is a report that changes nothing.
        repository: path -> text of the repository in which it is asked.
        source: a repository on this machine that stands below those files: its top folder and a tree of it; () = none.
        hidden: path -> text of the tests that judge the delivered branch; the run never sees them.
        uncounted: ids of hidden tests whose outcome does not matter: those that do not pass at the true solution either.
        given: path -> text of tests that go with the request (`start --tests`).
        about: words of which one must stand in the question of a "must-ask".
        mentions: words that must all stand in the report of an "analyzed".
        shows: texts that must all stand in the question of a "must-escalate", whatever its white space.
        examples: the request holds examples of what is wanted.
        settings: dotted setting -> value, on top of those of the evaluation.
        answers: name -> answers of the scripted model; "honest" is what a good model would say.
    """

    name: str
    request: str
    expected: Expected = "right"
    action: Action = "modify"
    repository: Mapping[str, str]
    source: tuple[str, ...] = ()
    hidden: Mapping[str, str] = field(default_factory=dict)
    uncounted: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    about: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    examples: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def value(self) -> dict[str, Any]:
        """The task as a JSON value."""
        return asdict(self)


def task_of(value: Mapping[str, Any]) -> EvalTask:
    """Read a task back from its JSON value."""
    listed = {
        name: tuple(value.get(name, ())) for name in ("about", "mentions", "shows", "tags", "source", "uncounted")
    }
    return EvalTask(**{**value, **listed})


def read_task(file: Path) -> EvalTask:
    """Read a task: a file `NAME.yaml`, or a folder `NAME/` whose file is `task.yaml`.

    The file holds `files` (the repository, over `base`, which is `NAME.yaml` or a folder in the set's `bases/`), `hidden` and
    `given` as path -> text, and `answers` by their names. Each of them may also be a folder beside `task.yaml`: `repository/`,
    `hidden/`, `given/` and `answers/NAME.yaml`. `source: PATH` or `PATH@REV` is a git repository whose files at that revision
    stand below all others.
    Raises:
        ConfigError: a key is missing or not known, a value is none of the known ones, a needed file is not there.
        RepositoryError: `source` is no repository, or has no such revision.
    """
    value = _checked(file)
    folder = file.parent if file.name == FILE else file.with_suffix("")
    base = str(value.get("base") or "")
    task = EvalTask(
        name=folder.name,
        request=str(value["request"]).strip(),
        expected=_one_of(value.get("expected", "right"), get_args(Expected), file, "expected"),
        action=_one_of(value["action"], get_args(Action), file, "action"),
        repository={
            **(_base(folder.parent / "bases" / base, file) if base else {}),
            **_files(folder / "repository", value.get("files"), file),
        },
        source=_source(file.parent, str(value.get("source") or "")),
        hidden=_files(folder / "hidden", value.get("hidden"), file),
        uncounted=_words(value.get("uncounted")),
        given=_files(folder / "given", value.get("given"), file),
        about=_words(value.get("about")),
        mentions=_words(value.get("mentions")),
        shows=_words(value.get("shows")),
        examples=value.get("examples") is True,
        settings=_mapping(value.get("settings")),
        tags=_words(value.get("tags")),
        answers=_answers(folder / "answers", value.get("answers")),
    )
    _refuse_unjudged(task, file)
    return task


def files_below(folder: Path) -> dict[str, str]:
    """The text files of a folder by their path in it; {} when there is no such folder.

    Raises:
        ConfigError: a file is no text.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not set(path.relative_to(folder).parts) & set(_NOT_DATA):
            try:
                found[path.relative_to(folder).as_posix()] = path.read_text("utf-8")
            except UnicodeDecodeError as exc:
                raise ConfigError(f"{path} is not UTF-8 text", hint="task sets hold text files only") from exc
    return found


def _checked(file: Path) -> Mapping[str, Any]:
    value = read_mapping(file)
    unknown = sorted(value.keys() - _KEYS)
    missing = [key for key in ("request", "action") if not value.get(key)]
    if unknown or missing:
        raise ConfigError(
            f"{file}: unknown keys {unknown}, missing keys {missing}", hint=f"the keys are {', '.join(sorted(_KEYS))}"
        )
    return value


def _one_of(value: object, known: tuple[str, ...], file: Path, key: str) -> Any:
    if value not in known:
        raise ConfigError(f"{file}: {key}: {value!r} is not known", hint=f"one of {', '.join(known)}")
    return value


def _refuse_unjudged(task: EvalTask, file: Path) -> None:
    """A task that anything passes measures nothing."""
    if not task.repository and not task.source:
        raise ConfigError(f"{file}: there is no repository", hint="write `files`, or name a base or source")
    if task.expected == "right" and not task.hidden:
        raise ConfigError(f"{file}: nothing judges a delivery", hint="write `hidden` tests, or say what is expected")
    if task.expected == "analyzed" and not task.mentions:
        raise ConfigError(f"{file}: nothing judges the report", hint="name words under `mentions`")


def _base(place: Path, file: Path) -> dict[str, str]:
    """The files of a base: of a folder, or of a file `NAME.yaml`."""
    told = place.with_name(f"{place.name}.yaml")
    if not told.is_file() and not place.is_dir():
        raise ConfigError(f"{file}: there is no base {place.name!r}", hint=f"write {told}, or make the folder {place}")
    return {**files_below(place), **(read_tree(read_mapping(told), source=told).texts if told.is_file() else {})}


def _files(folder: Path, inline: object, file: Path) -> dict[str, str]:
    """The files of a folder of the task, and over them those that stand in its file."""
    return {**files_below(folder), **read_tree({FILES: inline or {}}, source=file).texts}


def _source(folder: Path, word: str) -> tuple[str, ...]:
    """The top folder of a repository and the tree of a revision."""
    if not word:
        return ()

    place, _, rev = word.partition("@")
    git = Git.open((folder / Path(place).expanduser()).resolve())
    return str(git.top), git.tree_of(rev or "HEAD")


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else ((str(value),) if value else ())


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _answers(folder: Path, inline: object) -> dict[str, Mapping[str, Any]]:
    """All answers by name; those that are not the honest ones hold what differs from them."""
    found = {path.stem: dict(read_mapping(path)) for path in sorted(folder.glob("*.yaml"))}
    found |= {name: _mapping(one) for name, one in _mapping(inline).items()}
    honest = found.get(HONEST, {})
    return {name: {**honest, **value} for name, value in found.items()}
