"""`agentforge mcp`: the servers whose tools the agent uses, and the server that AgentForge itself is for other agents."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import click

from agentforge.app.tools import server_settings
from agentforge.app.tools.server_check import Checked, check_servers, log_in
from agentforge.app.tools.server_settings import Scope
from agentforge.cli.output.terminal import printable, shown_table
from agentforge.cli.runs.follow import user_name
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.errors import UsageError
from agentforge.mcp_server import Ground, HttpOptions, serve_http, serve_stdio

_SCOPES = ("user", "project")


@click.group(
    cls=UsualGroup,
    usual="serve",
    epilog="""\b
Examples:
  agentforge mcp add files --network -- npx -y @modelcontextprotocol/server-filesystem .
  agentforge mcp add tracker https://tracker.example.org/mcp --header "Authorization: Bearer ${TRACKER_TOKEN}"
  agentforge mcp list
  agentforge mcp                                        (serves this repository to another agent)
  claude mcp add agentforge -- agentforge mcp --cwd ~/project
""",
)
def mcp() -> None:
    """Name the MCP servers whose tools the agent uses, or serve the tasks of this repository to other agents."""


@mcp.command(
    epilog="""\b
Examples:
  agentforge mcp serve                                  (an agent starts it, over standard input and output)
  agentforge mcp serve --http --port 8766
  agentforge mcp serve --http --port 8766 --token-file ~/.agentforge/mcp.token --read-only

\b
Tools: start, status, escalations, resolve, inspect, audit, verify, compare.
Resources: agentforge://TASK/state, /trail, /audit, /diff, /artifacts/STAGE.
"""
)
@click.option("--http", "over_http", is_flag=True, help="Listen on this machine (streamable HTTP) instead.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: a loopback address.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default="any free one", help="With --http: listen here."
)
@click.option(
    "--token-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="With --http: keep the token in this file instead of making a new one at each start.",
)  # fmt: skip
@click.option("--read-only", is_flag=True, help="Offer only what changes nothing.")
@cwd_option
def serve(over_http: bool, host: str, port: int, token_file: Path | None, read_only: bool, cwd: str | None) -> int:
    """Serve the tasks of this repository to other agents (Model Context Protocol)."""
    place = open_place(cwd)
    ground = Ground(cwd=place.cwd, environ=place.environ, user=user_name(place), read_only=read_only)
    if not over_http:
        if port or token_file is not None:
            raise UsageError("--port and --token-file belong to --http", hint="add --http")
        if sys.stdin.isatty():
            click.echo(
                "agentforge mcp speaks to an agent: let the agent start it (docs/mcp-server.md); Ctrl-D ends it."
                " `agentforge mcp --help` shows how servers are added.",
                err=True,
            )
        serve_stdio(ground)
        return 0

    def ready(address: str, token: str) -> None:
        click.echo(f"mcp: {address}\nheader: Authorization: Bearer {token}")

    serve_http(ground, HttpOptions(host=host, port=port, token_file=token_file), ready=ready)
    return 0


class _WithCommand(click.Command):
    """A command whose arguments are a command of somebody else, with options that are not ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say where the two dashes belong."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as exc:
            raise UsageError(
                f"there is no option {exc.option_name}",
                hint="where it belongs to the server's command, write -- before that: agentforge mcp add NAME -- npx -y X",
            ) from exc


@mcp.command(
    cls=_WithCommand,
    epilog="""\b
Examples:
  agentforge mcp add files --network -- npx -y @modelcontextprotocol/server-filesystem .
  agentforge mcp add db --env "DATABASE_URL=${DATABASE_URL}" --network -- uvx some-database-server
  agentforge mcp add tracker https://tracker.example.org/mcp --header "Authorization: Bearer ${TRACKER_TOKEN}"
  agentforge mcp add notes --scope project -- python tools/notes_server.py

\b
Scopes: user writes your own config.toml; project writes .mcp.json, which other agents read, too, and which everybody who
uses the project is asked about. ${NAME} stays as it is in the file: its value comes from the environment.
A server runs in the sandbox: it sees the workspace, no home and no network, unless you allow more.
""",
)
@click.argument("name")
@click.argument("target", nargs=-1, required=True, metavar="URL | COMMAND [ARGS]...")
@click.option(
    "--scope", "-s", type=click.Choice(_SCOPES), default="user", show_default=True, help="Whose server it is."
)
@click.option(
    "--transport",
    "-t",
    type=click.Choice(("stdio", "http")),
    help="Insist on this transport; AgentForge usually knows it.",
)
@click.option("--env", "-e", multiple=True, metavar="NAME=VALUE", help="A variable of a command; repeatable.")
@click.option("--header", "-H", multiple=True, metavar="'NAME: VALUE'", help="A header of a URL; repeatable.")
@click.option(
    "--startup-timeout",
    type=click.FloatRange(0, 3600, min_open=True),
    help="Wait so many seconds for its first answer; the default is 10.",
)
@click.option("--network", is_flag=True, help="The command may use the network (it downloads, it calls a service).")
@click.option("--no-sandbox", is_flag=True, help="The command runs as you do, outside of the sandbox.")
@click.option("--read", multiple=True, metavar="PATH", help="The command may read this, too; repeatable.")
@click.option("--write", multiple=True, metavar="PATH", help="The command may change this, too; repeatable.")
@json_option
@cwd_option
def add(name: str, target: tuple[str, ...], scope: str, as_json: bool, cwd: str | None, **given: Any) -> int:
    """Add the server NAME: an address, or behind `--` the command that starts it."""
    return _added(name, _table(name, target, scope=scope, given=given), scope=scope, as_json=as_json, cwd=cwd)


@mcp.command(
    name="add-json",
    epilog="""\b
Examples:
  agentforge mcp add-json tracker '{"type": "http", "url": "https://tracker.example.org/mcp"}'
  agentforge mcp add-json files '{"command": "npx", "args": ["-y", "some-server", "."], "network": true}'

\b
The object is one entry of `mcpServers`, as the pages of servers show it: command, args and env, or url and headers.
""",
)
@click.argument("name")
@click.argument("text", metavar="JSON")
@click.option(
    "--scope", "-s", type=click.Choice(_SCOPES), default="user", show_default=True, help="Whose server it is."
)
@json_option
@cwd_option
def add_json(name: str, text: str, scope: str, as_json: bool, cwd: str | None) -> int:
    """Add the server NAME from a JSON object, as other agents write it in .mcp.json."""
    return _added(name, _parsed(name, text), scope=scope, as_json=as_json, cwd=cwd)


def _parsed(name: str, text: str) -> dict[str, object]:
    """One entry of `mcpServers`, without the type that its keys say anyway.

    Raises:
        UsageError: it is no such object.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise UsageError(f"this is no JSON: {exc}", hint="put the object into single quotes") from exc
    servers = value.get("mcpServers") if isinstance(value, dict) else None
    value = servers.get(name) if isinstance(servers, dict) else value
    if not isinstance(value, dict):
        raise UsageError(f"there is no server {name!r} in it", hint='{"command": ..., "args": [...]} or {"url": ...}')
    kind = value.pop("type", None)
    if kind not in (None, "http" if "url" in value else "stdio"):
        raise UsageError(f"a server of the type {kind!r} is not spoken to", hint='the types are "stdio" and "http"')
    return value


def _added(name: str, server: Mapping[str, object], *, scope: str, as_json: bool, cwd: str | None) -> int:
    """Write a server down and say where."""
    place = open_place(cwd)
    file, advice = server_settings.add_server(
        name, server, scope=cast("Scope", scope), cwd=place.cwd, environ=place.environ
    )
    if advice:
        click.echo(f"note: {printable(advice)}", err=True)
    if as_json:
        write_json({"name": name, "scope": scope, "file": str(file), "settings": server})
        return 0
    click.echo(
        f"Added {name} to {printable(str(file))}. `agentforge mcp get {name}` starts it and shows what it offers;"
        " a conversation that is open takes it with /reload."
    )
    if scope == "project":
        click.echo("It is used once you agreed to it: the next conversation asks, or run `agentforge trust`.")
        _warn_of_secrets(server)
    return 0


@mcp.command(name="list", epilog="\b\nExamples:\n  agentforge mcp list\n  agentforge mcp list --no-start --json")
@click.option("--no-start", is_flag=True, help="Only show what is written down.")
@json_option
@cwd_option
def list_servers(no_start: bool, as_json: bool, cwd: str | None) -> int:
    """List the servers that a conversation here would have; each is started and asked."""
    place = open_place(cwd)
    found, broken = check_servers(place.cwd, place.environ, starts=not no_start)
    if as_json:
        write_json({"servers": [one.value() for one in found], "refused": broken})
        return 0
    for name, why in broken.items():
        click.echo(f"not read: {printable(name)}: {printable(why)}", err=True)
    if not found:
        click.echo("There are no MCP servers. `agentforge mcp add --help` shows how one is added.")
        return 0
    cells = [tuple(map(printable, (one.name, one.scope, one.where[:60], _standing(one)))) for one in found]
    click.echo(shown_table(cells, head=("SERVER", "SCOPE", "WHERE", "STATE")))
    return 0


@mcp.command(epilog="\b\nExamples:\n  agentforge mcp get files\n  agentforge mcp get files --json")
@click.argument("name")
@json_option
@cwd_option
def get(name: str, as_json: bool, cwd: str | None) -> int:
    """Show the server NAME: where it is written down, whether it starts, what it offers."""
    place = open_place(cwd)
    one = check_servers(place.cwd, place.environ, only=name)[0][0]
    if as_json:
        write_json(one.value())
        return 0
    lines = [("server", one.name), ("scope", one.scope), ("set in", one.origin), ("state", _standing(one))]
    lines += [(key, _shown(value)) for key, value in one.table.items()]
    lines += [(kind, ", ".join(names)) for kind, names in _offers(one).items() if names]
    click.echo("\n".join(f"{key + ':':<12} {printable(value)}" for key, value in lines))
    return 0 if one.state == "ready" else 1


@mcp.command(epilog="\b\nExamples:\n  agentforge mcp remove files\n  agentforge mcp remove notes --scope project")
@click.argument("name")
@click.option(
    "--scope", "-s", type=click.Choice(_SCOPES), help="Needed only if both scopes have a server of this name."
)
@json_option
@cwd_option
def remove(name: str, scope: str | None, as_json: bool, cwd: str | None) -> int:
    """Remove the server NAME from the file that names it."""
    place = open_place(cwd)
    whose = cast("Scope | None", scope)
    file = server_settings.remove_server(name, scope=whose, cwd=place.cwd, environ=place.environ)
    if as_json:
        write_json({"name": name, "file": str(file)})
    else:
        click.echo(f"Removed {name} from {printable(str(file))}.")
    return 0


@mcp.command(epilog="\b\nExamples:\n  agentforge mcp login tracker\n  agentforge mcp login tracker --cwd ~/project")
@click.argument("name")
@cwd_option
def login(name: str, cwd: str | None) -> int:
    """Log in to the server NAME by its own page (OAuth)."""
    place = open_place(cwd)
    log_in(name, place.cwd, place.environ, show=lambda words: click.echo(words.strip()))
    click.echo(f"{name}: logged in.")
    return 0


def _table(name: str, target: tuple[str, ...], *, scope: str, given: Mapping[str, Any]) -> dict[str, object]:
    """The server as it is written down; what was not given is left out.

    Raises:
        UsageError: options that do not go with it.
    """
    first, *rest = target
    over_http = first.startswith(("http://", "https://"))
    transport = "http" if over_http else "stdio"
    if given["transport"] not in (None, transport):
        raise UsageError(
            f"{first!r} is not a {given['transport']} server", hint="an address begins with http:// or https://"
        )
    more = [f"--{key.replace('_', '-')}" for key in ("network", "no_sandbox", "read", "write") if given[key]]
    wrong = [*(["--env"] if given["env"] else []), *more] if over_http else ["--header"] if given["header"] else []
    if wrong or (over_http and rest):
        raise UsageError(f"{(wrong or rest)[0]} does not go with {first}", hint=f"agentforge mcp add {name} --help")
    if more and scope == "project":
        raise UsageError(
            f"{more[0]} is for your own servers only", hint="a project cannot allow itself more; --scope user"
        )
    patience = given["startup_timeout"]
    if over_http:
        headers = _pairs(given["header"], ":", option="--header")
        return {"url": first, **_filled(headers=headers, startup_timeout_sec=patience)}
    env = _pairs(given["env"], "=", option="--env")
    walls = {"sandbox": False} if given["no_sandbox"] else {}
    return {
        "command": first,
        **_filled(args=rest, env=env, network=given["network"], read=list(given["read"]), write=list(given["write"])),
        **_filled(startup_timeout_sec=patience),
        **walls,
    }


def _filled(**values: object) -> dict[str, object]:
    return {key: value for key, value in values.items() if value}


def _pairs(texts: tuple[str, ...], sign: str, *, option: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        key, found, value = text.partition(sign)
        if not found or not key.strip():
            raise UsageError(f"{option} {text!r} is not a NAME{sign}VALUE", hint="correct it")
        pairs[key.strip()] = value.strip()
    return pairs


def _warn_of_secrets(server: Mapping[str, object]) -> None:
    """Tell of values that everybody who gets the project would read."""
    for kind in ("env", "headers"):
        for key, value in cast("Mapping[str, str]", server.get(kind, {})).items():
            if "${" not in value:
                click.echo(
                    f"note: the value of {key} stands in .mcp.json as it is; for a secret write ${{{key}}}", err=True
                )


def _standing(one: Checked) -> str:
    if one.state == "ready":
        changed = "; changed since you agreed: " + ", ".join(one.changed) if one.changed else ""
        return f"connected, {len(one.tools)} tool{'s' * (len(one.tools) != 1)}{changed}"
    return f"{one.state}: {one.reason}" if one.reason else one.state


def _offers(one: Checked) -> dict[str, tuple[str, ...]]:
    return {"tools": one.tools, "resources": one.resources, "prompts": one.prompts}


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
