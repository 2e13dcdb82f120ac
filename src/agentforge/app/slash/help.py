"""/help, /exit, /version."""

from __future__ import annotations

from agentforge import __version__
from agentforge.app.sessions.chat import Chat
from agentforge.app.slash import known_commands
from agentforge.app.slash.command import SlashCommand, SlashReply


def _help(chat: Chat, _rest: str) -> SlashReply:
    unique = {command.name: command for command in known_commands(chat).values()}
    rows = [f"- `/{f'{one.name} {one.usage}'.strip()}` {one.summary}" for one in unique.values()]
    return SlashReply(text="\n".join(rows))


def _exit(_chat: Chat, _rest: str) -> SlashReply:
    return SlashReply(action="exit")


def _version(_chat: Chat, _rest: str) -> SlashReply:
    return SlashReply(text=f"agentforge {__version__}", data={"version": __version__})


COMMANDS = (
    SlashCommand(name="help", at_once=True, summary="Show the commands.", run=_help, aliases=("?",)),
    SlashCommand(name="exit", summary="Leave; the session is kept.", run=_exit, aliases=("quit",)),
    SlashCommand(name="version", at_once=True, summary="Show the version.", run=_version),
)
