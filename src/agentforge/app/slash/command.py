"""What a slash command is, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Literal

from agentforge.app.sessions.chat import Chat
from agentforge.frozen import dataclass

Action = Literal["", "exit", "open", "say", "edit", "choose"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of several things to choose from.

    Attributes:
        value: what is given to the command.
        label: what it is, on one line; `about`: what tells it from the others.
        current: it is the one that holds now.
    """

    value: str
    label: str
    about: str = ""
    current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashReply:
    """What a command answers.

    Attributes:
        text: Markdown for people; "" when there is nothing to say.
        ok: False: it was not done, and `text` says why.
        action: what the face does next: "exit" leaves, "open" opens the session `session` ("" = a new one), "say" gives
            `prompt` to the agent, "edit" lets the person edit `file` and carries out the line `then` when that is done (a face
            that cannot shows `text`), "choose" lets the person choose among `choices` and carries out the line `then` with what
            was chosen behind it (a face that cannot shows `text`).
        title: what is chosen; `free`: something else may be typed.
        data: the same for programs (`--json` of the command).
    """

    text: str = ""
    ok: bool = True
    action: Action = ""
    session: str = ""
    prompt: str = ""
    file: str = ""
    then: str = ""
    title: str = ""
    choices: tuple[Choice, ...] = ()
    free: bool = False
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """One command.

    Attributes:
        usage: what follows the name, such as "[name]".
        summary: one line for /help and for completion.
        run: (chat, rest of the line) -> reply; raises AgentForgeError for what the user can mend.
        complete: (chat, begun word) -> words that could follow.
        at_once: it only shows something, or touches what runs beside the turn: it is answered while a turn goes on, too, and
            then runs in a thread of its own.
    """

    name: str
    usage: str = ""
    summary: str
    run: Callable[[Chat, str], SlashReply]
    aliases: tuple[str, ...] = ()
    complete: Callable[[Chat, str], tuple[str, ...]] = lambda _chat, _word: ()
    at_once: bool = False


def is_command(line: str) -> bool:
    """Whether a line is `/name ...`; one that begins with a path, such as `/tmp/log.txt`, is a message."""
    word = line.split(maxsplit=1)[0] if line.strip() else ""
    return word.startswith("/") and "/" not in word[1:]
