"""Which MCP servers a session has: the user's, the project's after trust; and how each is started.

Where MCP servers are written down: in the user's settings and in what the project brings. They are read, added and removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from agentforge.app.sessions.person import Question
from agentforge.config.edits import set_value, write_text
from agentforge.config.paths import config_dir, data_dir, project_files, project_tops
from agentforge.config.sources import read_toml
from agentforge.config.trust import trusted
from agentforge.errors import ConfigError, UsageError
from agentforge.frozen import dataclass
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
    from agentforge.config.settings import Settings
    from agentforge.tools.mcp.connection import Opened
    from agentforge.tools.mcp.spec import ServerSpec
    from agentforge.workspace.processes.longlived import Walls


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
        agree=lambda server, change: _agreed(workshop, server, change),
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


def _agreed(workshop: Workshop, server: str, change: str) -> bool:
    from agentforge.app.subagents.child_run import ONE_QUESTION

    question = Question(tool=server, text=change, reason="an MCP server changed what it offers")
    with ONE_QUESTION:  # a subagent may have met it while another one asks
        return workshop.desk.asks(question)


Scope = Literal["user", "project"]
Table = Mapping[str, object]

OF_PROJECT = (".mcp.json", ".agentforge/mcp.json")
"""Files of a project that name servers as other agents write them; `add_server` writes the first."""


UNTRUSTED = "is not trusted; look at it, then run `agentforge trust`"
"""Why servers of a project are left out, behind the name of their file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A server as it is written down.

    Attributes:
        table: what is set, as it stands there: variables are not put in.
        origin: the file, for people.
        scope: whose it is.
    """

    table: Table
    origin: str
    scope: Scope


def named_servers(
    root: Path, *, settings: Settings, environ: Mapping[str, str]
) -> tuple[dict[str, Named], dict[str, str]]:
    """Find the servers that a session in a folder would have, by name; the user's settings win over files of the project.

    Returns:
        Them, and why files were left out, by the name of the file.
    """
    found: dict[str, Named] = {}
    refused: dict[str, str] = {}
    for top in project_tops(root, environ):
        for name in OF_PROJECT:
            try:
                tables = read_mcp_json(top / name)
            except ConfigError as error:
                refused[name] = str(error)
                continue
            found |= {one: Named(table=table, origin=name, scope="project") for one, table in tables.items()}
    for one, table in settings.table("mcp_servers").items():
        scope: Scope = "project" if _is_of_project(settings, one) else "user"
        origin = settings.origin(f'mcp_servers."{one}"')
        found[one] = Named(table=cast("Table", table), origin=origin, scope=scope)
    return found, refused


def may_use_project(root: Path, environ: Mapping[str, str]) -> bool:
    """Whether a person agreed to the servers that the project names, as they are now."""
    return all(trusted(top, environ, kinds={"mcp"}).holds({"mcp"}) for top in project_tops(root, environ))


def add_server(name: str, table: Table, *, scope: Scope, cwd: Path, environ: Mapping[str, str]) -> tuple[Path, str]:
    """Write a server down.

    Args:
        table: command, args, env or url, headers, as in the settings.
        cwd: where the project is looked for.
    Returns:
        The file that holds it now: the user's config.toml, or the project's `.mcp.json`, which other agents read, too; and
        what will hinder the server from starting, "" when nothing is known.
    Raises:
        ConfigError: the server makes no sense, or the file cannot be changed; nothing was written.
        UsageError: a server of this name stands there.
    """
    file = config_dir(environ) / "config.toml" if scope == "user" else project_tops(cwd, environ)[0] / OF_PROJECT[0]
    spec = read_spec(name, table, environ=environ, origin=str(file), project=scope == "project")
    if name in _written(file):
        raise UsageError(
            f"{file} has a server {name!r} already", hint=f"agentforge mcp remove {name} --scope {scope}, then add it"
        )
    if scope == "user":
        set_value(file, f"mcp_servers.{name}", table, project=False)
    else:
        kind = "http" if "url" in table else "stdio"
        _put_json(file, name, {"type": kind, **table})
    return file, spec.advice


def remove_server(name: str, *, scope: Scope | None, cwd: Path, environ: Mapping[str, str]) -> Path:
    """Take a server out of the file that names it.

    Args:
        scope: None = where it is; a name that stands in both scopes has to be told apart.
    Returns:
        The file.
    Raises:
        UsageError: no file, or more than one, names it.
        ConfigError: the file cannot be changed.
    """
    places = [
        (whose, file) for whose, file in _files(cwd, environ) if scope in (None, whose) and name in _written(file)
    ]
    if not places:
        known = sorted(
            {one for whose, file in _files(cwd, environ) if scope in (None, whose) for one in _written(file)}
        )
        raise UsageError(f"there is no MCP server {name!r} to remove", hint=f"there are: {', '.join(known) or 'none'}")
    if scope is None and len({whose for whose, _ in places}) > 1:
        raise UsageError(
            f"{name!r} is a server of yours and of the project", hint="add --scope user or --scope project"
        )
    file = places[0][1]
    if file.suffix == ".toml":
        set_value(file, f"mcp_servers.{name}", None, project=places[0][0] == "project")
    else:
        _put_json(file, name, None)
    return file


def _is_of_project(settings: Settings, server: str) -> bool:
    layers = [layer for layer in settings.layers if layer.project]
    return any(server in cast("Table", layer.values.get("mcp_servers", {})) for layer in layers)


def _files(cwd: Path, environ: Mapping[str, str]) -> Iterator[tuple[Scope, Path]]:
    """Every file that can be written and may name servers."""
    yield "user", config_dir(environ) / "config.toml"
    for top in project_tops(cwd, environ):
        yield from (("project", top / name) for name in OF_PROJECT)
        yield "project", project_files(top)[0]


def _written(file: Path) -> Table:
    """The servers that a file names."""
    if file.suffix == ".json":
        return read_mcp_json(file)
    layer = read_toml(file, project=False)
    return cast("Table", layer.values.get("mcp_servers", {})) if layer is not None else {}


def _put_json(file: Path, name: str, table: Table | None) -> None:
    """Set a server of a `.mcp.json`, or take it out; everything else in the file stays.

    Raises:
        ConfigError: the file is wrong already.
    """
    servers = dict(read_mcp_json(file))
    value = json.loads(file.read_bytes()) if file.exists() else {}
    if table is None:
        servers.pop(name)
    else:
        servers[name] = table
    value["mcpServers"] = servers
    write_text(file, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
