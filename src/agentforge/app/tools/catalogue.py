"""The tools of a session that are not built in, and what its tools hold open: browser, servers.

Where custom tools lie: the user's own, and the project's when a person agreed to exactly these files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge import toolbox
from agentforge.app.sessions.commands import Overheard
from agentforge.app.tools.server_settings import UNTRUSTED
from agentforge.app.tools.servers import has_servers, servers_of
from agentforge.config.paths import config_dir, data_dir, project_tops
from agentforge.config.trust import trusted
from agentforge.errors import RepositoryError
from agentforge.session import BARE_TOOLS, BUILD_TOOLS, PLAN_TOOLS, SELDOM_CALLED
from agentforge.toolbox.processes.shell import PLAIN_TOOL, SESSION_TOOL
from agentforge.tools.base import Loaded, Tool
from agentforge.tools.custom.definition import load_tools
from agentforge.tools.dispatch.deferral import deferred
from agentforge.tools.mcp.servers import Servers
from agentforge.tools.web.browser import Browser, chromium
from agentforge.workspace.git.repository import Git

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop


if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop

    pass

    pass

_FEW = 12
"""Up to so many tools are described whatever they are: somebody chose them."""


class ToolShed:
    """What a session's tools come from beside the toolbox; each part is made when it is first needed.

    Attributes:
        refused: servers and files that were not loaded, and why.
    """

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self.refused: dict[str, str] = {}

    def with_others(self, built_in: Mapping[str, Tool]) -> dict[str, Tool]:
        """All tools that may be offered now: the built-in ones and those of the user, the project and servers."""
        options = self._workshop.options
        if options.bare:
            return dict(built_in)
        allowed = options.allowed_tools or self._workshop.settings.get("allowed_tools")
        wanted = cast("Collection[str] | None", allowed)
        others = {**self._of_servers(), **self.custom.tools}
        return {**built_in, **{name: tool for name, tool in others.items() if is_allowed(name, wanted)}}

    def origins(self) -> dict[str, str]:
        """Where the tools that are not built in come from, by name."""
        found = dict(self.custom.origins)
        if self.servers is not None:
            found |= {tool: f"MCP server {one.name}" for one in self.servers.statuses() for tool in one.tools}
        return found

    def failed(self) -> dict[str, str]:
        """The servers that were tried and are not there, and why."""
        known = self.servers.statuses() if self.servers is not None else ()
        return {one.name: one.reason for one in known if one.reason}

    def missing(self) -> dict[str, str]:
        """The servers and files of tools that this session goes without, and why."""
        return {} if self._workshop.options.bare else {**self.refused, **self.failed()}

    @cached_property
    def custom(self) -> Loaded:
        """The tools that the user wrote, and the project's after trust."""
        loaded = custom_tools(self._workshop)
        self.refused |= loaded.refused
        return loaded

    @cached_property
    def servers(self) -> Servers | None:
        """The MCP servers of the session, None when there are none."""
        if not has_servers(self._workshop):
            return None
        made, refused = servers_of(self._workshop)
        self.refused |= refused
        return made

    def warm(self) -> None:
        """Start in the background the servers that were never seen before: a face calls this while the person still types."""
        if not self._workshop.options.bare and self.servers is not None:
            self.servers.warm()

    def _of_servers(self) -> dict[str, Tool]:
        if self.servers is None:
            return {}

        return deferred(self.servers.tools())

    @cached_property
    def repository(self) -> Git | None:
        """The user's own repository, None when the folder lies in none: a private one for snapshots is no place to commit to."""
        git = self._workshop.git
        if git is not None and not git.common_dir.is_relative_to(data_dir(self._workshop.environ).resolve()):
            return git
        if not in_repository(self._workshop.root):
            return None
        try:
            return Git.open(self._workshop.root)
        except RepositoryError:  # it has no commit yet
            return None

    @property
    def output(self) -> Callable[[bytes], None] | None:
        """Hears what commands write, for a face that has `output(text)`; None for the others."""
        show = getattr(self._workshop.desk.person, "output", None)
        if show is None:
            return None

        return Overheard(show, secrets=self._workshop.secrets).hear

    @cached_property
    def browser(self) -> Browser:
        """The browser of the session."""
        settings = self._workshop.settings
        hosts = cast("list[str]", settings.get("browser.hosts", []))
        return Browser(
            environ=self._workshop.environ,
            hosts=tuple(hosts),
            program=settings.text("browser.program"),
            private=lambda: self._workshop.left_running.loopback,
        )

    def close(self) -> None:
        """End what was started."""
        if "browser" in self.__dict__:
            self.browser.close()
        if self.__dict__.get("servers") is not None and self.servers is not None:
            self.servers.close()


def is_allowed(name: str, allowed: Collection[str] | None) -> bool:
    """Whether the user's list of tools, names or patterns, holds this one; no list holds all."""
    return allowed is None or any(fnmatchcase(name, pattern) for pattern in allowed)


def built_in(workshop: Workshop, allowed: Collection[str] | None) -> dict[str, Tool]:
    """The tools of the toolbox that a session offers, whatever its mode.

    Args:
        allowed: names or patterns, None = all.
    """
    options, known, without = workshop.options, set(toolbox.names()), left_out(workshop)
    offered = BARE_TOOLS if options.bare and not options.allowed_tools else (*BUILD_TOOLS, *PLAN_TOOLS)
    wanted = [name for name in offered if name in known and name not in without and is_allowed(name, allowed)]
    tools = toolbox.find(wanted)
    if "shell" in tools:
        tools["shell"] = SESSION_TOOL if "jobs" in tools else PLAIN_TOOL
    return tools


def seldom_described(tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """The tools of a session, those that are seldom called to be searched for; a short list is described as it is."""
    if len(tools) <= _FEW:
        return dict(tools)
    return {name: replace(tool, deferred=True) if name in SELDOM_CALLED else tool for name, tool in tools.items()}


def left_out(workshop: Workshop) -> frozenset[str]:
    """The built-in tools that cannot work here, so that a model is not told of them."""
    missing = set()
    if workshop.sandbox.kind == "none":
        missing.add("shell")
    if workshop.sandbox.kind != "bubblewrap":
        missing.add("jobs")
    if not workshop.desk.present:
        missing |= {"ask_human", *PLAN_TOOLS}
    if not in_repository(workshop.root):
        missing |= {"git_status", "git_log", "git_show", "git_blame", "git_commit", "git_branch"}
    if not _is_installed("playwright") or not _has_browser(workshop):
        missing.add("browser")
    if not _is_installed("ddgs"):
        missing.add("web_search")
    return frozenset(missing)


def in_repository(folder: Path) -> bool:
    """Whether a folder lies in a repository, as far as can be told without git."""
    return any((above / ".git").exists() for above in (folder, *folder.parents))


def _has_browser(workshop: Workshop) -> bool:
    if workshop.settings.text("browser.program"):
        return True

    return bool(chromium(workshop.environ))


def _is_installed(module: str) -> bool:
    return find_spec(module) is not None


def custom_tools(workshop: Workshop) -> Loaded:
    """Load the custom tools of a session; nothing is imported where there are no files."""
    folders, refused = tool_folders(workshop.root, workshop.environ)
    if not folders:
        return Loaded(tools={}, origins={}, refused=refused)

    loaded = load_tools(folders, root=workshop.root, taken=toolbox.names())
    return Loaded(tools=loaded.tools, origins=loaded.origins, refused={**refused, **loaded.refused})


def tool_folders(root: Path, environ: Mapping[str, str]) -> tuple[list[Path], dict[str, str]]:
    """The folders that may be loaded, and why another one may not."""
    own = config_dir(environ)
    folders = [folder for folder in (own / "tools", own / ".agentforge" / "tools") if any(folder.glob("*.py"))]
    refused: dict[str, str] = {}
    for top in reversed(project_tops(root, environ)):
        brought = top / ".agentforge" / "tools"
        if not any(brought.glob("*.py")):
            continue
        if trusted(top, environ, kinds={"tool"}).holds({"tool"}):
            folders.insert(0, brought)
        else:
            refused[str(brought)] = UNTRUSTED
    return folders, refused
