"""/todos: what the agent has put on its list."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.app.sessions.chat import Chat
from agentforge.app.slash.command import SlashCommand, SlashReply
from agentforge.errors import UsageError
from agentforge.events.kinds import TodosChanged


def _todos(chat: Chat, rest: str) -> SlashReply:
    todos = chat.state.talk.todos
    if rest in ("--clear", "clear"):
        chat.log.append(TodosChanged(todos={}))
        return SlashReply(text=f"Cleared {len(todos)} todos.", data={"todos": {}})
    if rest:
        raise UsageError(f"/todos has no action {rest!r}", hint="/todos or /todos --clear")
    rows = [_row(name, item) for name, item in todos.items()]
    return SlashReply(text="\n".join(rows) or "There are no todos.", data={"todos": dict(todos)})


def _row(name: str, item: object) -> str:
    if not isinstance(item, Mapping):
        return f"- [ ] {name}: {item}"
    return f"- [{'x' if item.get('done') else ' '}] {name}: {item.get('text', '')}"


COMMANDS = (
    SlashCommand(
        name="todos",
        usage="[--clear]",
        summary="Show or clear the todos.",
        run=_todos,
        complete=lambda _chat, word: tuple(one for one in ("--clear",) if one.startswith(word)),
    ),
)
