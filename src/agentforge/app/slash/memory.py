"""/memory: what is remembered across sessions, of you and of this project."""

from __future__ import annotations

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import UsageError

_USAGE = "/memory [set KEY VALUE | delete KEY | clear | edit] [--project]"


def _memory(chat: Chat, rest: str) -> SlashReply:
    words = rest.split()
    scope = "project" if "--project" in words else "user"
    words = [word for word in words if word not in ("--project", "--user")]
    action = words.pop(0) if words else "show"
    acts = {
        "show": _show, "list": _show, "set": _set, "delete": _delete, "clear": _clear, "edit": _edit, "edited": _edited,
    }  # fmt: skip
    if action not in acts:
        raise UsageError(f"/memory has no action {action!r}", hint=_USAGE)
    reply = acts[action](chat, words, scope)
    if action in ("set", "delete", "clear", "edited"):
        chat.workshop.__dict__.pop("instructions", None)  # the next request holds them as they are now
    return reply


def _show(chat: Chat, _words: list[str], _scope: str) -> SlashReply:
    memory = chat.workshop.around.memory
    data = {scope: memory.entries(scope) for scope in ("user", "project")}
    rows = [f"- ({scope}) **{key}**: {value}" for scope, rows in data.items() for key, value in reversed(rows.items())]
    return SlashReply(text="\n".join(rows) or f"Nothing is remembered. {_USAGE}", data=data)


def _set(chat: Chat, words: list[str], scope: str) -> SlashReply:
    if len(words) < 2:
        raise UsageError("a key and a value are needed", hint=_USAGE)
    value = chat.workshop.scrubbed(" ".join(words[1:]))
    chat.workshop.around.memory.put(words[0], value, scope=scope)
    return SlashReply(text=f"Remembered ({scope}): {words[0]}.")


def _delete(chat: Chat, words: list[str], scope: str) -> SlashReply:
    memory, key = chat.workshop.around.memory, " ".join(words)
    if key not in memory.entries(scope):
        raise UsageError(f"nothing is remembered under {key!r} ({scope})", hint="/memory lists what is")
    memory.put(key, None, scope=scope)
    return SlashReply(text=f"Forgotten ({scope}): {key}.")


def _clear(chat: Chat, _words: list[str], scope: str) -> SlashReply:
    memory = chat.workshop.around.memory
    count = len(memory.entries(scope))
    memory.replace({}, scope=scope)
    return SlashReply(text=f"Forgotten: {count} entries ({scope}).")


def _edit(chat: Chat, _words: list[str], scope: str) -> SlashReply:
    memory = chat.workshop.around.memory
    return SlashReply(
        text=f"Edit {memory.file(scope)}: a table `entries` of texts. It is read anew with every session.",
        action="edit",
        file=str(memory.draft(scope)),
        then=f"/memory edited --{scope}",
    )


def _edited(chat: Chat, _words: list[str], scope: str) -> SlashReply:
    """Take over what the person made of the draft; a draft that cannot be read is kept, and the memory, too."""
    memory = chat.workshop.around.memory
    count = memory.take_draft(scope, scrub=chat.workshop.scrubbed)
    return SlashReply(text=f"Remembered now: {count} entries ({scope}).")


def _actions(_chat: Chat, word: str) -> tuple[str, ...]:
    return tuple(one for one in ("set", "delete", "clear", "edit", "--project") if one.startswith(word))


COMMANDS = (
    SlashCommand(
        name="memory",
        usage="[set KEY VALUE | delete KEY | clear | edit] [--project]",
        summary="Show or change what is remembered across sessions.",
        run=_memory,
        complete=_actions,
    ),
)
