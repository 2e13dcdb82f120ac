"""The user's repositories: putting them into the registry, looking at them, and how the tasks of all of them stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.config.repositories import Repository, add_entry, check_name, known_repositories, unknown_repository
from agentforge.errors import RepositoryError, UsageError
from agentforge.frozen import dataclass
from agentforge.store.tasks.folders import TaskRow, list_tasks
from agentforge.workspace.git.repository import Git

if TYPE_CHECKING:
    pass

_OVER = ("delivered", "analyzed", "failed", "aborted")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryRow:
    """A repository and its tasks.

    Attributes:
        problem: why it cannot carry tasks now, "" when it can.
        tasks: newest first.
    """

    entry: Repository
    problem: str = ""
    tasks: tuple[TaskRow, ...] = ()

    @property
    def foremost(self) -> TaskRow | None:
        """The task that tells how the repository stands: the newest that is under way, else the newest."""
        return next((row for row in self.tasks if row.outcome not in _OVER), self.tasks[0] if self.tasks else None)


def add_repository(
    path: Path, *, environ: Mapping[str, str], name: str = "", default_branch: str = "", contracts_path: str = ""
) -> Repository:
    """Put a repository into the registry.

    Args:
        path: any folder of it.
        name: "" = the name of its top folder.
        default_branch: "" = what its remote says, else the branch that is checked out.
        contracts_path: a folder of contracts inside it.
    Raises:
        RepositoryError: there is none, or it has no such branch.
        ConflictError: the name or the path is taken.
    """
    git = Git.open(path)
    entry = Repository(
        name=check_name(name or git.top.name),
        path=git.top,
        default_branch=default_branch or _default_branch(git),
        contracts_path=contracts_path,
    )
    git.resolve(f"refs/heads/{entry.default_branch}")
    _check_contracts(entry)
    add_entry(environ, entry)
    return entry


def named_repositories(names: Sequence[str], *, cwd: Path, environ: Mapping[str, str]) -> list[Repository]:
    """The repositories that names stand for, each once; a project around `cwd` overrides entries by name.

    Raises:
        UsageError: a name is not known.
        RepositoryError: one of them is not where the registry says.
    """
    known = known_repositories(environ, project=top_of(cwd))
    found = []
    for name in dict.fromkeys(names):
        if name not in known:
            raise unknown_repository(name, known)
        problem = problem_of(known[name])
        if problem:
            raise RepositoryError(
                f"repository {name}: {problem}", hint=f"where is it now? agentforge repo add PATH --name {name}"
            )
        found.append(known[name])
    return found


def repository_around(cwd: Path, environ: Mapping[str, str]) -> Repository:
    """The known repository that `cwd` lies in.

    Raises:
        UsageError: none of the known ones.
    """
    top = top_of(cwd)
    found = [
        entry
        for entry in known_repositories(environ, project=top).values()
        if top and entry.path.exists() and entry.path.samefile(top)
    ]
    if not found:
        raise UsageError(
            f"{cwd} is not in a repository that AgentForge knows by name",
            hint=f"agentforge repo add {top or 'PATH'}, or --repo NAME",
        )
    return found[0]


def all_repositories(cwd: Path, environ: Mapping[str, str]) -> list[RepositoryRow]:
    """Every known repository with its tasks, in the order of the registry; one that vanished is listed with that.

    The repository around `cwd` is the last of them where the registry does not name it.
    """
    top, rows = top_of(cwd), []
    known = [*known_repositories(environ, project=top).values()]
    if top is not None and not any(entry.path.exists() and entry.path.samefile(top) for entry in known):
        known.append(Repository(name=_free_name(top.name, {entry.name for entry in known}), path=top))
    for entry in known:
        problem = problem_of(entry)
        rows.append(RepositoryRow(entry=entry, problem=problem, tasks=() if problem else tuple(list_tasks(entry.path))))
    return rows


def _free_name(name: str, taken: set[str]) -> str:
    """A name for a repository that has none, unlike those that are taken."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(one for one in (name, *islice(numbered, len(taken) + 1)) if one not in taken)


def problem_of(entry: Repository) -> str:
    """Why a repository of the registry cannot carry tasks, "" when nothing is known against it; git is not asked."""
    if not entry.path.is_dir():
        return f"there is nothing at {entry.path} any more: moved or deleted"
    if not (entry.path / ".git").exists():
        return f"{entry.path} is no git repository any more"
    return ""


def top_of(cwd: Path) -> Path | None:
    """Top folder of the repository around a folder, None when there is none; git is not asked."""
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), None)


def _default_branch(git: Git) -> str:
    done = git.command.run("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    remote = done.output.decode("utf-8", "replace").strip().removeprefix("origin/") if done.exit_code == 0 else ""
    if remote and git.command.run("rev-parse", "--verify", "--quiet", f"refs/heads/{remote}").exit_code == 0:
        return remote
    if git.found_on is None:
        raise RepositoryError(
            f"{git.top} is not on a branch, and its remote names no default branch", hint="pass --default-branch NAME"
        )
    return git.found_on.removeprefix("refs/heads/")


def _check_contracts(entry: Repository) -> None:
    if not entry.contracts_path:
        return
    folder = (entry.path / entry.contracts_path).resolve()
    if not folder.is_relative_to(entry.path) or not folder.is_dir():
        raise UsageError(
            f"{entry.contracts_path} is not a folder of {entry.path}", hint="name a folder relative to the repository"
        )
