"""Which MCP servers a session has: the user's, the project's after trust; and how each is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.app.sessions.person import Question
from agentforge.config.paths import data_dir
from agentforge.config.trust import trusted
from agentforge.errors import ConfigError
from agentforge.tools.mcp.definitions import Pins
from agentforge.tools.mcp.http import Answers, http_streams
from agentforge.tools.mcp.oauth import Login, Tokens
from agentforge.tools.mcp.servers import Servers
from agentforge.tools.mcp.spec import read_mcp_json, read_spec
from agentforge.tools.mcp.stdio import Pipe, stdio_pipe
from agentforge.workspace.files.file_access import resolve_inside
from agentforge.workspace.processes.longlived import Start, shut_in, unconfined
from agentforge.workspace.sandbox.box import Box

if TYPE_CHECKING:
    from agentforge.app.sessions.services import Workshop
    from agentforge.tools.mcp.connection import Opened

    pass
    from agentforge.tools.mcp.spec import ServerSpec
    from agentforge.workspace.processes.longlived import Walls

_OF_PROJECT = (".mcp.json", ".agentforge/mcp.json")


def has_servers(workshop: Workshop) -> bool:
    """Whether any server is named at all; the cheap question before everything else is loaded."""
    if workshop.settings.table("mcp_servers"):
        return True
    return any((workshop.root / name).is_file() for name in _OF_PROJECT)


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
        agree=lambda server, change: _agreed(workshop, server, change),
    )
    return made, refused


def _specs(workshop: Workshop) -> tuple[list[ServerSpec], dict[str, str]]:

    found: dict[str, ServerSpec] = {}
    refused: dict[str, str] = {}
    tables = _tables(workshop, refused)
    for name, (table, origin, project) in tables.items():
        if table.get("enabled") is False:
            refused[name] = "switched off (enabled = false)"
            continue
        try:
            found[name] = read_spec(name, table, environ=workshop.environ, origin=origin, project=project)
        except ConfigError as error:
            refused[name] = str(error)
    return list(found.values()), refused


def _tables(workshop: Workshop, refused: dict[str, str]) -> dict[str, tuple[Mapping[str, object], str, bool]]:
    """Name -> what is set, where, and whether the project set it; what needs trust and has none is left out."""

    found: dict[str, tuple[Mapping[str, object], str, bool]] = {}
    for name in _OF_PROJECT:
        try:
            found |= {server: (table, name, True) for server, table in read_mcp_json(workshop.root / name).items()}
        except ConfigError as error:
            refused[name] = str(error)
    for server, table in workshop.settings.table("mcp_servers").items():
        origin = workshop.settings.origin(f'mcp_servers."{server}"')
        found[server] = (cast("Mapping[str, object]", table), origin, _set_by_project(workshop, server))
    if any(project for _, _, project in found.values()) and not _is_trusted(workshop):
        for server in [server for server, (_, _, project) in found.items() if project]:
            refused[server] = f"{found.pop(server)[1]} is not trusted; look at it, then run `agentforge trust`"
    return found


def _set_by_project(workshop: Workshop, server: str) -> bool:
    layers = [layer for layer in workshop.settings.layers if layer.project]
    return any(server in cast("Mapping[str, object]", layer.values.get("mcp_servers", {})) for layer in layers)


def _is_trusted(workshop: Workshop) -> bool:

    return trusted(workshop.root, workshop.environ).holds({"mcp"})


def _opened(spec: ServerSpec, workshop: Workshop, *, show: Callable[[str], None] | None = None) -> Opened:
    if spec.url:
        place = data_dir(workshop.environ) / "mcp" / "tokens" / f"{spec.digest.rpartition(':')[2]}.json"
        answers = Answers(spec)
        return http_streams(spec, login=Login(spec, Tokens(place), show=show), answers=answers), answers

    walls, env, cwd = _launch(spec, workshop)
    pipe = Pipe()
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


def _agreed(workshop: Workshop, server: str, change: str) -> bool:
    from agentforge.app.subagents.child_run import ONE_QUESTION

    question = Question(tool=server, text=change, reason="an MCP server changed what it offers")
    with ONE_QUESTION:  # a subagent may have met it while another one asks
        return workshop.desk.asks(question)
