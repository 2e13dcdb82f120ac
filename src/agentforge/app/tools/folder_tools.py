"""The tools of a folder without a session: what `agentforge tools list` shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from agentforge.app.sessions.chat import Chat, ChatOptions
from agentforge.app.sessions.person import Nobody, Person
from agentforge.app.sessions.services import Workshop
from agentforge.config.settings import load
from agentforge.events.kinds import RunStarted
from agentforge.frozen import dataclass
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.store.sessions.views import SessionViews


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One tool.

    Attributes:
        origin: "built in", a file, or a server.
    """

    name: str
    description: str
    origin: str

    def value(self) -> dict[str, str]:
        """The tool as plain data."""
        return {"name": self.name, "description": self.description, "from": self.origin}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolList:
    """All of them, and what was not loaded, with the reason."""

    tools: tuple[Listed, ...]
    refused: Mapping[str, str]


def tool_list(folder: Path, environ: Mapping[str, str], *, work_mode: str) -> ToolList:
    """List what a session in a folder could call.

    Side effects: servers that were never seen are started, asked and ended.
    """
    options = ChatOptions(cwd=folder.resolve(), work_mode=work_mode)
    with looked_into(options, environ, person=Nobody()) as workshop:
        found, origins = workshop.tools(), workshop.shed.origins()
        refused = workshop.shed.missing()
    tools = tuple(
        Listed(name=name, description=tool.description, origin=origins.get(name, "built in"))
        for name, tool in found.items()
    )
    return ToolList(tools=tools, refused=refused)


@contextmanager
def looked_into(options: ChatOptions, environ: Mapping[str, str], *, person: Person) -> Iterator[Workshop]:
    """Give the parts of a conversation in which nothing is said; nothing of it is kept."""
    settings = load(options.cwd, environ)
    with TemporaryDirectory() as scratch, _log(Path(scratch) / "runs" / "list", options.cwd) as log:
        workshop = Chat(log, person, options, settings=settings, environ=environ).workshop
        try:
            yield workshop
        finally:
            workshop.close()


def _log(place: Path, folder: Path) -> RunLog:
    root = str(folder.resolve())
    first = RunStarted(
        kind="session", run_id="list", request="", repo=root, base_commit="", worktree=root, model="", limits={}
    )
    return RunLog.create(place, first, clock=utc_now, views=SessionViews)
