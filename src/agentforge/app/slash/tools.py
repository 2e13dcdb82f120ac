"""/tools and /mcp: what the agent can call, and the servers that offer it."""

from __future__ import annotations

import shlex

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import Choice, SlashCommand, SlashReply
from agentforge.errors import UsageError
from agentforge.tools.base import ToolError
from agentforge.tools.mcp.servers import Servers, Status

_SHOWN = 100
_DEEDS = {
    "accept": "agree to what it offers now",
    "resources": "show what it offers",
    "restart": "start it again",
    "login": "log in",
}
_NONE = (
    "There are no MCP servers. In a terminal: `agentforge mcp add NAME -- COMMAND`, or `agentforge mcp add NAME URL`."
)
_STATES = {"idle": "starts with its first call", "ready": "connected"}
_ACTIONS = ("list", "restart", "accept", "resources", "read", "prompt", "login")


def _tools(chat: Chat, _rest: str) -> SlashReply:
    workshop = chat.workshop
    found = workshop.tools()
    origins = workshop.shed.origins()
    rows = [
        {"name": name, "description": tool.description, "from": origins.get(name, "built in")}
        for name, tool in found.items()
    ]
    lines = [f"- `{row['name']}` {_short(row['description'])}" + _from(row["from"]) for row in rows]
    notes = [f"- not loaded: {name}: {why}" for name, why in workshop.shed.refused.items()]
    head = f"{len(rows)} tools ({workshop.work_mode} mode):"
    return SlashReply(
        text="\n".join([head, *lines, *notes]), data={"tools": rows, "refused": dict(workshop.shed.refused)}
    )


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3].rstrip()}..."


def _from(origin: str) -> str:
    return "" if origin == "built in" else f" (from {origin})"


def _mcp(chat: Chat, rest: str) -> SlashReply:
    shed = chat.workshop.shed
    action, _, name = rest.partition(" ")
    servers = shed.servers
    if servers is None:  # one may have been added since the settings were read
        chat.workshop.reload()
        shed = chat.workshop.shed
        servers = shed.servers
    if servers is None:
        return SlashReply(text=_NONE)
    if action in ("", "list"):
        return _listed(servers, shed.refused)
    if action not in _ACTIONS or not name.strip():
        raise UsageError(f"/mcp {rest}: what is that?", hint=f"/mcp [{'|'.join(_ACTIONS)}] NAME")
    try:
        return _done(servers, action, name.strip())
    except ValueError as error:
        raise UsageError(f"/mcp {rest}: {error}", hint="quote words with blanks in them") from error
    except ToolError as error:
        told, more = error.observation.summary, error.observation.text
        return SlashReply(text=told if more in told else f"{told}\n{more}", ok=False)


def _done(servers: Servers, action: str, rest: str) -> SlashReply:
    name, *words = shlex.split(rest)
    if name not in {one.name for one in servers.statuses()}:
        raise UsageError(f"there is no MCP server {name!r}", hint="/mcp lists them")
    if action == "resources":
        return _offer(servers, name)
    if action == "read":
        return SlashReply(text="\n".join(servers.read(name, one).text for one in words))
    if action == "prompt" and words:
        given = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        return SlashReply(action="say", prompt=servers.prompt(name, words[0], given))
    if action == "login":
        servers.login(name)
        return SlashReply(text=f"{name}: logged in")
    if action == "restart":
        servers.restart(name)
        return SlashReply(text=f"{name} was started again")
    if action == "accept":
        servers.accept(name)
        return SlashReply(text=f"what {name} offers now is agreed to")
    raise UsageError(f"/mcp {action} {rest}: which one?", hint=f"/mcp resources {name} lists them")


def _offer(servers: Servers, name: str) -> SlashReply:
    """What a server offers: its tools, prompts and resources, the last two as far as it can list them."""
    servers.connect([name])
    found: dict[str, list[str]] = {"tools": list(_status(servers, name).tools)}
    notes = []
    try:
        found |= servers.listing(name)
    except ToolError as error:
        if _status(servers, name).state != "ready":
            raise
        notes = [f"- {name} could not list its resources: {error.observation.summary.removeprefix(f'{name}: ')}"]
    lines = [f"- {kind[:-1]} `{one}`" for kind, items in found.items() for one in items]
    return SlashReply(text="\n".join([*lines, *notes]) or f"{name} offers nothing", data=found)


def _listed(servers: Servers, refused: dict[str, str]) -> SlashReply:
    known = servers.statuses()
    lines = [_line(one) for one in known] + [f"- {name}: not loaded: {why}" for name, why in refused.items()]
    data = {
        "servers": [
            {"name": one.name, "state": one.state, "reason": one.reason, "tools": list(one.tools)} for one in known
        ],
        "refused": dict(refused),
    }
    choices = tuple(choice for one in known for choice in _choices(one))
    return SlashReply(
        text="\n".join(lines) or "no MCP servers",
        data=data,
        action="choose" if choices else "",
        title="MCP servers",
        choices=choices,
        then="/mcp",
    )


def _choices(one: Status) -> list[Choice]:
    """What can be done with a server."""
    deeds = ["accept"] if one.changed else []
    logs_in = ["login"] if one.where.startswith(("http://", "https://")) else []
    return [
        Choice(value=f"{deed} {one.name}", label=f"{one.name}: {_DEEDS[deed]}", about=_standing(one))
        for deed in (*deeds, "resources", "restart", *logs_in)
    ]


def _standing(one: Status) -> str:
    """Where a server stands, in words."""
    if one.state == "idle" and not one.tools:
        return "not started yet"
    state = _STATES.get(one.state, one.state)
    return f"{state}{f': {one.reason}' if one.reason else ''}, {len(one.tools)} tool{'s' * (len(one.tools) != 1)}"


def _status(servers: Servers, name: str) -> Status:
    return next(one for one in servers.statuses() if one.name == name)


def _line(one: Status) -> str:
    changed = f"; changed, see /mcp accept {one.name}: {', '.join(one.changed)}" if one.changed else ""
    return f"- {one.name} ({one.where[:80]}): {_standing(one)}{changed}"


def _words(chat: Chat, word: str) -> tuple[str, ...]:
    servers = chat.workshop.shed.servers
    names = [one.name for one in servers.statuses()] if servers is not None else []
    return tuple(one for one in (*_ACTIONS, *names) if one.startswith(word))


COMMANDS = (
    SlashCommand(name="tools", summary="List the tools that can be called now.", run=_tools),
    SlashCommand(
        name="mcp",
        usage="[list | restart|accept|resources|login NAME | read NAME URI | prompt NAME PROMPT key=value ...]",
        summary="Show the MCP servers, or deal with one.",
        run=_mcp,
        complete=_words,
    ),
)
