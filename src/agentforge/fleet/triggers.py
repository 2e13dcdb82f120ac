"""Putting a request into the queue for whoever triggers it: a watched folder, a webhook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from agentforge.app.intake.sources import RequestSource, SourceClaim, read_source
from agentforge.app.tasks.runs import create
from agentforge.app.tasks.start_options import StartOptions
from agentforge.config.settings import load
from agentforge.errors import AgentForgeError, UsageError
from agentforge.fleet.database import database_url, open_database
from agentforge.fleet.ledger import Ledger

_SUFFIXES = (".md", ".txt", ".json")


def enqueue_source(source: RequestSource, repo: Path, *, environ: Mapping[str, str]) -> str | None:
    """Put a source into the queue as a task of a repository.

    Returns:
        The task's id; None when it was put there before.
    Raises:
        AgentForgeError: no task was created.
    """

    def begin() -> str:
        settings = load(repo, environ)
        options = StartOptions(request=source.request, cwd=repo)
        with closing(open_database(database_url(settings, environ))) as database:
            made = create(options, settings=settings, environ=environ, watch=lambda _event, _state: None)
            Ledger(database).add(Path(made.state.identity.repo), made.state.identity.run_id)
        return made.state.identity.run_id

    return SourceClaim(source.id, str(repo), environ).run(begin)


class WatchedFolder:
    """A folder whose files are requests. A file counts when it was the same at two looks: it is written to its end.

    Args:
        tell: is given a line about every file.
    """

    def __init__(self, folder: Path, repo: Path, *, environ: Mapping[str, str], tell: Callable[[str], None]) -> None:
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder", hint="make it first")
        self._folder = folder
        self._repo = repo
        self._environ = environ
        self._tell = tell
        self._seen: dict[Path, tuple[int, int]] = {}
        self._done: dict[Path, tuple[int, int]] = {}

    def look(self) -> int:
        """Start what is new.

        Returns:
            How many tasks were put into the queue.
        """
        started = 0
        for path in sorted(self._folder.iterdir()):
            if path.suffix not in _SUFFIXES or path.name.startswith(".") or not path.is_file():
                continue
            stat = path.stat()
            mark = (stat.st_mtime_ns, stat.st_size)
            if self._seen.get(path) == mark and self._done.get(path) != mark:
                self._done[path] = mark
                started += self._start(path)
            self._seen[path] = mark
        return started

    def _start(self, path: Path) -> int:
        try:
            task = enqueue_source(read_source(str(path), environ=self._environ), self._repo, environ=self._environ)
        except AgentForgeError as exc:
            self._tell(f"{path.name}: error[{exc.slug}]: {exc}")
            return 0
        self._tell(f"{path.name}: {task} is queued" if task else f"{path.name}: was started before")
        return 1 if task else 0
