"""Slash commands: one file is one command (or one family), its name is the command's name, `COMMANDS` holds what it offers.

Every face offers the same commands: the screen, line by line, editors. A command works on a `Chat` and answers with text.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.app.slash.prompts import prompt_command, prompt_commands
from agentforge.errors import AgentForgeError


@cache
def commands() -> dict[str, SlashCommand]:
    """All commands by name, aliases included, in the order of their files.

    Raises:
        ValueError: two files claim one name (a defect of the program).
    """
    found: dict[str, SlashCommand] = {}
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.stem in ("__init__", "command"):
            continue
        for command in import_module(f"{__name__}.{file.stem}").COMMANDS:
            for name in (command.name, *command.aliases):
                if name in found:
                    raise ValueError(f"/{name} is claimed twice: {file.name} and another file")
                found[name] = command
    return found


def known_commands(chat: Chat) -> dict[str, SlashCommand]:
    """All commands of a conversation by name: those of every one, and the prompts of its MCP servers."""
    return {**commands(), **prompt_commands(chat)}


def answers_at_once(line: str) -> bool:
    """Whether a line that begins with "/" is answered while a turn goes on."""
    command = commands().get(line.strip().removeprefix("/").partition(" ")[0].lower())
    return command is not None and command.at_once


def run_slash(chat: Chat, line: str) -> SlashReply:
    """Carry out a line that begins with "/"; what is wrong with it is said in the reply.

    Args:
        line: such as "/model openai/gpt-5.5".
    """
    name, _, rest = line.strip().removeprefix("/").partition(" ")
    command = commands().get(name.lower()) or prompt_command(chat, name)
    if command is None:
        near = get_close_matches(name.lower(), known_commands(chat), n=1)
        hint = f" - did you mean /{near[0]}?" if near else " - /help lists them"
        return SlashReply(text=f"unknown command /{name}{hint}", ok=False)
    try:
        return command.run(chat, rest.strip())
    except AgentForgeError as error:
        return SlashReply(text=str(error), ok=False)
