"""Which MCP servers a session has: the user's, the project's after trust; and how each is started."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.sessions.person import ONE_QUESTION, Question
from agentforge.app.tools.server_settings import OF_PROJECT, UNTRUSTED, may_use_project, named_servers
from agentforge.config.paths import data_dir
from agentforge.errors import ConfigError
from agentforge.tools.mcp.connection import Opened
from agentforge.tools.mcp.definitions import Pins
from agentforge.tools.mcp.oauth import Login, Tokens
from agentforge.tools.mcp.servers import Servers
from agentforge.tools.mcp.spec import ServerSpec, read_spec
from agentforge.tools.mcp.transport import Answers, Pipe, http_streams, stdio_pipe
from agentforge.workspace.files.file_access import resolve_inside
from agentforge.workspace.processes.longlived import Start, Walls, shut_in, unconfined
from agentforge.workspace.sandbox.box import Box

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop


def has_servers(workshop: Workshop) -> bool:
    """Whether any server is named at all; the cheap question before everything else is loaded."""
    if workshop.settings.table("mcp_servers"):
        return True
    return any((top / name).is_file() for top in workshop.around.project.tops for name in OF_PROJECT)


def servers_of(workshop: Workshop) -> tuple[Servers, dict[str, str]]:
    """The servers of a session.

    Returns:
        Them, and why others were left out, by name.
    """
    specs, refused = _specs(workshop)
    made = Servers(
        specs,
        open_transport=lambda spec: _opened(spec, workshop),
        open_login=lambda spec: _opened(spec, workshop, show=lambda url: _show(workshop, url)),
        pins=Pins(data_dir(workshop.environ) / "mcp"),
        agree=lambda server, change: _agreed(workshop.desk.asks, server, change),
    )
    return made, refused


def _specs(workshop: Workshop) -> tuple[list[ServerSpec], dict[str, str]]:
    """The servers that may be started, and why the others may not."""
    tables, refused = named_servers(workshop.root, settings=workshop.settings, environ=workshop.environ)
    found: dict[str, ServerSpec] = {}
    agreed = all(one.scope == "user" for one in tables.values()) or may_use_project(workshop.root, workshop.environ)
    for name, one in tables.items():
        project = one.scope == "project"
        if project and not agreed:
            refused[name] = f"{one.origin} {UNTRUSTED}"
        elif one.table.get("enabled") is False:
            refused[name] = "switched off (enabled = false)"
        else:
            try:
                found[name] = read_spec(name, one.table, environ=workshop.environ, origin=one.origin, project=project)
            except ConfigError as error:
                refused[name] = str(error)
    return list(found.values()), refused


def _opened(spec: ServerSpec, workshop: Workshop, *, show: Callable[[str], None] | None = None) -> Opened:
    if spec.url:
        place = data_dir(workshop.environ) / "mcp" / "tokens" / f"{spec.digest.rpartition(':')[2]}.json"
        answers = Answers(spec)
        return http_streams(spec, login=Login(spec, Tokens(place), show=show), answers=answers), answers

    walls, env, cwd = _launch(spec, workshop)
    pipe = Pipe(program=spec.command[0])
    return stdio_pipe(walls, env=env, cwd=cwd, pipe=pipe), pipe


def _launch(spec: ServerSpec, workshop: Workshop) -> tuple[Walls, dict[str, str], Path]:
    root = workshop.root
    folder = resolve_inside(root, spec.cwd or ".").relative_to(root.resolve()).as_posix()
    box = Box(
        workspace=root,
        mount_at=root,
        cwd=folder,
        network=bool(spec.network),
        env=spec.env,
        read_only=tuple(Path(path).expanduser() for path in spec.read),
        writable_paths=tuple(Path(path).expanduser() for path in spec.write),
    )
    if not spec.sandbox or workshop.sandbox.kind == "none":
        cwd, env = unconfined(workshop.sandbox, box)
        return lambda: nullcontext(Start(argv=spec.command)), env, cwd
    walls, env = shut_in(workshop.sandbox, spec.command, box=box)
    return walls, env, Path("/")


def _show(workshop: Workshop, url: str) -> None:
    """Lead the person to a login page: tell the address, and open it where there is a screen."""
    workshop.desk.person.delta(f"\nOpen this address to log in: {url}\n")
    if workshop.environ.get("DISPLAY") or workshop.environ.get("WAYLAND_DISPLAY"):
        import webbrowser

        webbrowser.open(url)


def _agreed(ask: Callable[[Question], bool], server: str, change: str) -> bool:
    question = Question(tool=server, text=change, reason="an MCP server changed what it offers")
    with ONE_QUESTION:  # a subagent may have met it while another one asks
        return ask(question)
