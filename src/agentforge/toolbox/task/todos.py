"""The tool todos: the session's list of what is to be done; it outlives compaction."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.toolbox._arguments import text
from agentforge.tools.base import TEXT, Observation, Tool, ToolContext, ToolError, failed, takes


def _run(arguments: Mapping[str, object], context: ToolContext) -> Observation:
    todos = {str(name): _item(value) for name, value in context.todos.items()}
    action = text(arguments, "action")
    if action == "add":
        name, content = text(arguments, "id").strip() or _free(todos), text(arguments, "content").strip()
        if not content:
            raise ToolError(failed("add needs content", error_type="bad-arguments"))
        todos[name] = {"text": content, "done": False}
    elif action == "complete":
        name = text(arguments, "id").strip()
        if name not in todos:
            known = ", ".join(todos) or "none"
            raise ToolError(failed(f"there is no todo {name!r}; ids: {known}", error_type="not-found"))
        todos[name] = {**todos[name], "done": True}
    elif action == "clear":
        todos = {}
    changed = {"todos": todos} if action != "list" else None
    return Observation(status="success", summary=_summary(todos), text=_shown(todos), payload=changed)


def _item(value: object) -> dict[str, object]:
    if isinstance(value, Mapping):
        return {"text": str(value.get("text", "")), "done": bool(value.get("done"))}
    return {"text": str(value), "done": False}


def _free(todos: Mapping[str, object]) -> str:
    number = len(todos) + 1
    while str(number) in todos:
        number += 1
    return str(number)


def _summary(todos: Mapping[str, Mapping[str, object]]) -> str:
    done = sum(bool(item["done"]) for item in todos.values())
    return f"{len(todos)} todo{'s' * (len(todos) != 1)}, {done} done" if todos else "no todos"


def _shown(todos: Mapping[str, Mapping[str, object]]) -> str:
    return "\n".join(f"{name} [{'x' if item['done'] else ' '}] {item['text']}" for name, item in todos.items())


TOOL = Tool(
    name="todos",
    description="Your list of steps.",
    parameters=takes("action", action={"enum": ["add", "complete", "list", "clear"]}, id=TEXT, content=TEXT),
    effect="read",
    run=_run,
)
