"""/jobs: the commands that run in the background, what they wrote, and how they are stopped."""

from __future__ import annotations

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import UsageError
from agentforge.safety.text.hygiene import clean
from agentforge.toolbox.processes.jobs import state_of
from agentforge.workspace.processes.background import BackgroundCommands, Glance

_USAGE = "/jobs [read ID | stop ID | stop all]"
_SHOWN = 8000
NO_COMMANDS = (
    "Nothing runs in the background. The agent starts such commands with the parameter `background` of `shell`, so ask it to; "
    "on the screen, Ctrl+B sends a command there that runs already."
)


def _jobs(chat: Chat, rest: str) -> SlashReply:
    action, _, name = rest.partition(" ")
    commands = chat.workshop.left_running.commands
    if not action or action == "list":
        return _list(chat, commands)
    if action not in ("read", "stop") or not name.strip():
        raise UsageError(f"/jobs {rest} is not understood", hint=_USAGE)
    return read_command(chat, name.strip()) if action == "read" else stop_command(chat, name.strip())


def _list(chat: Chat, commands: BackgroundCommands) -> SlashReply:
    rows = command_rows(chat)
    data = {"jobs": [{"name": one.name, "command": one.command, "outcome": one.outcome} for one in commands.glances()]}
    return SlashReply(text="\n".join(rows) or NO_COMMANDS, data=data)


def command_rows(chat: Chat) -> list[str]:
    """The commands in the background, each as one line of a list."""
    commands = chat.workshop.left_running.commands
    return [f"- {one.name}: `{chat.workshop.scrubbed(one.command)}` - {state_of(one)}" for one in commands.glances()]


def known_command(chat: Chat, name: str) -> bool:
    """Whether a command in the background has this name."""
    return any(one.name == name for one in chat.workshop.left_running.commands.glances())


def read_command(chat: Chat, name: str) -> SlashReply:
    """Show what a command in the background wrote.

    Raises:
        UsageError: there is no such command.
    """
    found = _found(chat.workshop.left_running.commands, name)
    return SlashReply(text=_shown(chat, found), data={"name": name, "outcome": found.outcome})


def _found(commands: BackgroundCommands, name: str) -> Glance:
    found = next((one for one in commands.glances() if one.name == name), None)
    if found is None:
        raise UsageError(f"there is no background command {name!r}", hint="/jobs lists them")
    return found


def _shown(chat: Chat, found: Glance) -> str:
    """Its last output, fit for people; what the agent reads of it stays unread."""
    output = chat.workshop.scrubbed(clean(found.output.decode("utf-8", "replace")))
    cut = "[the last part]\n" if len(output) > _SHOWN or found.missed else ""
    fence = "`" * 4
    return f"{found.name}: {state_of(found)}\n\n{fence}\n{cut}{output[-_SHOWN:].rstrip() or '(no output)'}\n{fence}"


def stop_command(chat: Chat, name: str) -> SlashReply:
    """Stop a command in the background, or "all".

    Raises:
        UsageError: there is no such command.
    """
    commands = chat.workshop.left_running.commands
    names = list(commands.running()) if name == "all" else [_found(commands, name).name]
    for one in names:
        commands.stop(one)
    return SlashReply(text=f"Stopped: {', '.join(names) or 'nothing ran'}.", data={"stopped": names})


def _words(chat: Chat, word: str) -> tuple[str, ...]:
    names = [one.name for one in chat.workshop.left_running.commands.glances()]
    return tuple(one for one in ("read", "stop", "all", *names) if one.startswith(word))


COMMANDS = (
    SlashCommand(
        name="jobs",
        at_once=True,
        usage="[read ID | stop ID | stop all]",
        summary="Show, read or stop the commands that run in the background.",
        run=_jobs,
        complete=_words,
        aliases=("bashes",),
    ),
)
