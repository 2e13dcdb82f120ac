"""From what happens in a conversation to the updates that an editor shows: text, thoughts, tool calls with diffs, plans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from acp.helpers import (
    plan_entry,
    text_block,
    tool_content,
    tool_diff_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
    update_user_message_text,
)
from acp.schema import AgentPlanUpdate, Cost, SessionInfoUpdate, ToolCallLocation, ToolCallStart, UsageUpdate

from agentforge.app.sessions.display import output_of, telling, window_words
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Talk
from agentforge.safety.text.hygiene import clean

Update = Any
"""One of the update classes of the SDK."""

_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("read_file", "list_dir", "git_show", "git_blame", "git_status", "git_log", "git_diff"), "read"),
    **dict.fromkeys(("grep", "glob", "find_symbol", "outline", "web_search"), "search"),
    "move_file": "move",
    **dict.fromkeys(("write_file", "append_file", "edit", "apply_patch", "refactor"), "edit"),
    **dict.fromkeys(("shell", "run_tests", "run_checks", "git_commit", "git_branch", "agent", "jobs"), "execute"),
    **dict.fromkeys(("web_fetch", "browser"), "fetch"),
    **dict.fromkeys(("todos", "memory", "ask_human"), "think"),
}
_SHOWN_BYTES = 400_000
_SHOWN_TEXT = 20_000


class Teller:
    """Turns the events of one log into updates; remembers what was streamed already.

    Args:
        root: the folder that the paths of tools are relative to.
        read: gives a blob of the log.
        prefix: goes before the ids of calls, so that those of two logs differ.
    """

    def __init__(self, root: Path, read: Any, *, prefix: str = "") -> None:
        self.root = root
        self._read = read
        self._prefix = prefix
        self._streamed = False
        self._touches: dict[str, Mapping[str, object]] = {}

    def delta(self, text: str) -> Update:
        """A piece of text as it streams in."""
        self._streamed = True
        return update_agent_message_text(clean(text))

    def told(self, event: kinds.Event, state: RunState) -> Iterator[Update]:
        """The updates of one event."""
        if isinstance(event, kinds.ModelReplied):
            yield from self._replied(event)
        elif isinstance(event, kinds.ToolStarted):
            call = self.call_id(event.step, event.index)
            self._touches[call] = event.touches
            title, places = title_of(event.name, event.arguments), locations(event.arguments, self.root)
            yield update_tool_call(call, title=title, status="in_progress", locations=places)
        elif isinstance(event, kinds.ToolFinished):
            yield self._finished(event)
        elif isinstance(event, kinds.TodosChanged):
            yield plan_of(event.todos)
        elif isinstance(event, kinds.SessionChanged) and event.changes.get("name"):
            yield SessionInfoUpdate(session_update="session_info_update", title=str(event.changes["name"]))
        elif isinstance(event, kinds.WindowFilling | kinds.HistoryCompacted):
            yield update_agent_thought_text(f"({window_words(event)})\n")

    def call_id(self, step: int, index: int) -> str:
        """The id under which an editor knows a call: unique in the session, whatever ids the model gives."""
        return f"{self._prefix}{step}.{index}"

    def _replied(self, event: kinds.ModelReplied) -> Iterator[Update]:
        if event.thinking:
            yield update_agent_thought_text(clean(event.thinking))
        if event.text and not self._streamed:
            yield update_agent_message_text(clean(event.text))
        self._streamed = False
        for index, call in enumerate(event.tool_calls):
            yield started(self.call_id(event.step, index), str(call["name"]), str(call["arguments"]), root=self.root)

    def _finished(self, event: kinds.ToolFinished) -> Update:
        call = self.call_id(event.step, event.index)
        content = [*self._diffs(event, self._touches.pop(call, {}))]
        text = output_of(event.text)[:_SHOWN_TEXT] or event.summary
        if not content and text:
            content = [tool_content(text_block(clean(text)))]
        return update_tool_call(
            call,
            status="completed" if event.status == "success" else "failed",
            content=content or None,
            locations=[ToolCallLocation(path=str(self.root / path)) for path in event.paths] or None,
            raw_output={"status": event.status, "summary": event.summary},
        )

    def _diffs(self, event: kinds.ToolFinished, touches: Mapping[str, object]) -> Iterator[Any]:
        """What was written, file by file: before from the log, after from the disk."""
        for path in event.changed:
            file = self.root / path
            after = _text(file.read_bytes()) if file.is_file() and file.stat().st_size <= _SHOWN_BYTES else None
            digest = str(touches.get(path) or "")
            withheld = digest.startswith("withheld:")
            if path not in touches or withheld or (after is None and file.exists()):
                continue
            before = _text(self._read(digest)) if digest else None
            yield tool_diff_content(str(file), after or "", before)


def started(call: str, name: str, arguments: str, *, root: Path) -> ToolCallStart:
    """A call that a reply asks for."""
    try:
        given = json.loads(arguments)
    except ValueError:
        given = {}
    given = given if isinstance(given, dict) else {}
    return ToolCallStart(
        session_update="tool_call",
        tool_call_id=call,
        title=title_of(name, given),
        kind=kind_of(name),  # type: ignore[arg-type] # one of the protocol's kinds
        status="pending",
        locations=locations(given, root) or None,
        raw_input=given or arguments,
    )


def kind_of(name: str) -> str:
    """What a tool does, in the protocol's words."""
    return "think" if name.startswith("subagent_") else _KINDS.get(name, "other")


def title_of(name: str, arguments: Mapping[str, object]) -> str:
    """A call on one line."""
    return clean(f"{name} {telling(arguments)}".strip())[:200]


def locations(arguments: Mapping[str, object], root: Path) -> list[ToolCallLocation]:
    """The files that a call names."""
    named = [arguments.get("path"), *(_listed(arguments.get("paths")))]
    line = arguments.get("offset")
    first = line if isinstance(line, int) and line >= 0 else None
    return [ToolCallLocation(path=str(root / path), line=first) for path in named if isinstance(path, str) and path]


def plan_of(todos: Mapping[str, object]) -> AgentPlanUpdate:
    """The todos of the session as a plan."""
    rows = [item if isinstance(item, Mapping) else {"text": str(item)} for item in todos.values()]
    entries = [
        plan_entry(str(row.get("text", "")), status="completed" if row.get("done") else "pending") for row in rows
    ]
    begun = next((entry for entry in entries if entry.status == "pending"), None)
    if begun is not None:
        begun.status = "in_progress"
    return update_plan(entries)


def usage_of(state: RunState, *, window: int) -> UsageUpdate:
    """How full the context is, and what the session cost so far.

    Args:
        window: tokens that a request may hold.
    """
    latest = state.talk.latest_usage
    totals = state.usage.totals
    cost = Cost(amount=round(totals.cost_usd, 6), currency="USD") if totals.cost_known else None
    used = int(latest.get("prompt_tokens", 0)) + int(latest.get("completion_tokens", 0))
    return UsageUpdate(session_update="usage_update", used=used, size=max(window, used), cost=cost)


def history(talk: Talk, root: Path) -> Iterator[Update]:
    """A conversation as it stands, from its beginning: what `session/load` shows again."""
    ids: dict[str, str] = {}
    for number, entry in enumerate(talk.entries):
        if entry.kind == "user":
            yield update_user_message_text(clean(entry.text))
        elif entry.kind in ("summary", "note"):
            yield update_agent_thought_text(clean(entry.text))
        elif entry.kind == "assistant":
            if entry.text:
                yield update_agent_message_text(clean(entry.text))
            for index, call in enumerate(entry.calls):
                shown = ids[str(call["call_id"])] = f"h{number}.{index}"
                yield started(shown, str(call["name"]), str(call["arguments"]), root=root)
        elif entry.call_id in ids:
            content = [tool_content(text_block(clean(output_of(entry.text)[:_SHOWN_TEXT])))]
            done = entry.status == "success"
            yield update_tool_call(ids[entry.call_id], status="completed" if done else "failed", content=content)
    if talk.todos:
        yield plan_of(talk.todos)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
