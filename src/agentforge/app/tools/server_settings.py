"""Where MCP servers are written down: in the user's settings and in what the project brings. They are read, added and removed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, cast

from agentforge.config.edits import set_value, write_text
from agentforge.config.paths import config_dir, project_files, project_tops
from agentforge.config.settings import Settings
from agentforge.config.sources import read_toml
from agentforge.config.trust import trusted
from agentforge.errors import ConfigError, UsageError
from agentforge.frozen import dataclass
from agentforge.tools.mcp.spec import read_mcp_json, read_spec

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
