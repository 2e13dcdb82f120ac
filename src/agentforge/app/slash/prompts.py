"""/mcp__SERVER__PROMPT: the prompts of MCP servers as commands of their own."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import UsageError
from agentforge.tools.base import ToolError
from agentforge.tools.mcp.definitions import Prompt
from agentforge.tools.mcp.servers import Servers

COMMANDS: tuple[SlashCommand, ...] = ()
"""Which there are depends on the servers of a conversation."""

_BEGINS = "mcp__"


def prompt_commands(chat: Chat) -> dict[str, SlashCommand]:
    """The prompts of the servers of a conversation by the names of their commands, as far as they are known; none is started."""
    servers = _servers(chat)
    if servers is None:
        return {}
    return {
        command.name: command
        for one in servers.statuses()
        for command in _of_server(servers, one.name, servers.prompts(one.name))
    }


def prompt_command(chat: Chat, name: str) -> SlashCommand | None:
    """The command of a prompt; its server is asked where it is not known.

    Side effects: may start the server.
    """
    if not name.startswith(_BEGINS):
        return None
    known = prompt_commands(chat)
    servers = _servers(chat)
    if name in known or servers is None:
        return known.get(name)
    server = name.removeprefix(_BEGINS).partition("__")[0]
    if server in {one.name for one in servers.statuses()}:
        servers.connect([server])
    return prompt_commands(chat).get(name)


def _servers(chat: Chat) -> Servers | None:
    return None if chat.options.bare else chat.workshop.shed.servers


def _of_server(servers: Servers, server: str, prompts: tuple[Prompt, ...]) -> Iterator[SlashCommand]:
    for prompt in prompts:
        words = [one if one in prompt.required else f"[{one}]" for one in prompt.arguments]
        yield SlashCommand(
            name=f"{_BEGINS}{server}__{prompt.command}",
            usage=" ".join(words),
            summary=f"{prompt.description or prompt.name} ({server})",
            run=partial(_filled, servers, server, prompt),
        )


def _filled(servers: Servers, server: str, prompt: Prompt, _chat: Chat, rest: str) -> SlashReply:
    try:
        text = servers.prompt(server, prompt.name, _arguments(prompt, rest))
    except ToolError as error:
        return SlashReply(text=f"{error.observation.summary}\n{error.observation.text}".strip(), ok=False)
    return SlashReply(action="say", prompt=text)


def _arguments(prompt: Prompt, rest: str) -> dict[str, str]:
    """The words behind a command: `name=value`, or values in the order of the prompt's arguments.

    Raises:
        UsageError: a quote that does not end, one word too many, a required argument that is missing.
    """
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"{rest}: {error}", hint="quote words with blanks in them") from error
    given = dict(word.split("=", 1) for word in words if word.partition("=")[0] in prompt.arguments and "=" in word)
    left = [name for name in prompt.arguments if name not in given]
    plain = [word for word in words if word.partition("=")[0] not in given]
    if len(plain) > len(left):
        raise UsageError(f"{plain[len(left)]!r} is one word too many", hint="quote words with blanks in them")
    given |= dict(zip(left, plain, strict=False))
    missing = [name for name in prompt.required if name not in given]
    if missing:
        raise UsageError(f"the prompt needs {', '.join(missing)}", hint="give the values in this order, or name=value")
    return given
