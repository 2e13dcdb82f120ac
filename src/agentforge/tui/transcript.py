"""The conversation as it is shown: rows in order, the newest in sight unless the person scrolled up."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Markdown

from agentforge.app.sessions.display import (
    CallLine,
    background_words,
    begun,
    cost_text,
    duration_text,
    earlier_change,
    earlier_own,
    ended,
    is_answer,
    output_of,
    own_ended,
    skill_words,
    telling,
    tokens_text,
    unseen_words,
    unstarted,
    window_words,
)
from agentforge.events import kinds
from agentforge.events.kinds import conversation as conversing
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk import Entry, Talk
from agentforge.safety.text.hygiene import clean
from agentforge.session import SPAWNS
from agentforge.tui.looks import Signs, markdown_parser
from agentforge.tui.prompt import Prompt
from agentforge.tui.rows import CallRow, Remarked, Said, Thinking

if TYPE_CHECKING:
    from textual.events import Paste

    from agentforge.tui.link import ChildHeard, Happened

_ROWS = 300
_DROPPED = 100
_REPLY = 24_000
_HISTORY = 40
_OWN = "own command"
_PLAN = "submit_plan"
_HANDED_OVER = re.compile(r"\n\n(?=<(?:file|folder|pasted|untrusted)\b|From standard input:\n)")
"""Behind the words of a message stands what goes with it."""


class Transcript(VerticalScroll):
    """All rows; `record` is the same as plain text, for the normal screen when this one is left."""

    def __init__(self, signs: Signs) -> None:
        super().__init__(id="transcript")
        self.signs = signs
        self.record: list[tuple[str, str]] = []
        self._reply: Markdown | None = None
        self._reply_text: list[str] = []
        self._reply_size = 0
        self._streamed = False
        self._thinking = Thinking(signs)
        self._calls: dict[object, CallRow] = {}
        self._reporting: dict[tuple[int, int], CallRow] = {}
        self._alone = _Alone()

    def on_mount(self) -> None:
        """Stay at the end as rows come."""
        self.anchor()

    def on_paste(self, event: Paste) -> None:
        """What is pasted here is meant for the input."""
        event.stop()
        prompt = self.screen.query_one(Prompt)
        prompt.focus()
        prompt.paste(event.text)

    async def said(self, text: str, *, queued: bool = False) -> None:
        """Show what the person said."""
        async with self._alone:
            await self.end_reply()
            self.record.append(("said", text))
            await self._add(Said(text, signs=self.signs, classes="queued" if queued else ""))

    async def remark(self, text: str, *, kind: str = "note", kept: bool = True) -> None:
        """Show a line of the program; `kept` = it is in the record, too."""
        async with self._alone:
            await self.end_reply()
            self.record += [(kind, text)] if kept else []
            await self._add(Remarked(text, signs=self.signs, kind=kind))

    async def answer(self, text: str) -> None:
        """Show a whole text in Markdown."""
        async with self._alone:
            await self.stream(text)
            await self.end_reply()

    async def stream(self, text: str) -> None:
        """Show a piece of the answer that comes in."""
        async with self._alone:
            from textual.widgets import Markdown

            text = clean(text)
            if not text:
                return
            self._streamed = True
            self._thinking.fold()
            if self._reply is None or self._reply_size > _REPLY:
                await self.end_reply()
                self._reply = Markdown(classes="reply", open_links=False, parser_factory=markdown_parser)
                await self._add(self._reply)
            self._reply_text.append(text)
            self._reply_size += len(text)
            await self._reply.append(text)

    async def think(self, text: str) -> None:
        """Show the end of what the model thinks while it does."""
        async with self._alone:
            row = self._thinking.hear(text)
            if row is not None:
                await self._add(row)

    async def end_reply(self) -> None:
        """The answer is whole."""
        async with self._alone:
            self._thinking.fold()
            if self._reply is not None:
                self.record.append(("reply", "".join(self._reply_text)))
            self._reply, self._reply_text, self._reply_size = None, [], 0

    async def happened(self, item: Happened) -> None:
        """Show an event."""
        async with self._alone:
            event = item.event
            if isinstance(event, kinds.ModelCalled):
                self._streamed = False
                self._thinking.begin()
            elif isinstance(event, kinds.ModelReplied):
                await self._thought(event)
                if event.text and not self._streamed:
                    await self.stream(event.text)
                await self.end_reply()
                if unseen := unseen_words(event):
                    await self.remark(unseen, kind="denied")
            elif isinstance(event, kinds.ToolStarted):
                await self._call(event, item.diff)
            elif isinstance(event, kinds.ToolFinished):
                await self._called(event, item.state)
            elif isinstance(event, conversing.ChildStarted):
                line = CallLine(name=event.name, argument=" ".join(clean(event.goal).split()))
                row = self._reporting[event.step, event.index] = CallRow(line, signs=self.signs, sign="child")
                await self._begin(event.child, row)
            elif isinstance(event, conversing.ChildFinished):
                self._child_finished(event)
            elif isinstance(event, kinds.UserRan):
                self._ran(event)
            elif isinstance(event, conversing.SessionChanged):
                await self._skills(event)
            elif isinstance(event, conversing.BackgroundEnded):
                await self.remark(background_words(event, item.state))
            elif isinstance(event, conversing.WindowFilling | conversing.HistoryCompacted) and not is_answer(event):
                await self.remark(window_words(event))

    async def own_command(self, command: str) -> None:
        """Show a command line that the person runs themselves; what it writes is seen whole, as far as it is short."""
        async with self._alone:
            row = CallRow(CallLine(name="!", argument=clean(command)), signs=self.signs)
            row.shown = "always"
            await self._begin(_OWN, row)

    def _ran(self, event: kinds.UserRan) -> None:
        row = self._calls.pop(_OWN, None)
        if row is not None:
            line = own_ended(row.line.argument, exit_code=event.exit_code, left_running=event.left_running)
            line = replace(line, duration=duration_text(event.duration_ms / 1000))
            row.change(line, output=output_of(event.output))
            self.record += [(line.status, line.text), ("note", output_of(event.output))]

    def wrote(self, text: str) -> None:
        """Show what a command writes while it runs, below the call that runs it."""
        running = [row for row in self._calls.values() if row.line.status == "running"]
        if running:
            running[-1].wrote(text)

    def child_heard(self, item: ChildHeard) -> None:
        """Show what a subagent does, as branches below its line."""
        row = self._calls.get(item.child)
        if row is not None and isinstance(item.event, kinds.ToolStarted):
            row.stepped(f"{item.event.name} {telling(item.event.arguments)}".strip())
        if row is not None:
            row.change(
                replace(row.line, result=f"{row.steps} call{'s' * (row.steps != 1)}, {tokens_text(item.tokens)} tokens")
            )

    async def _thought(self, event: kinds.ModelReplied) -> None:
        """What the model thought, folded, above what it said."""
        thinking = event.thinking.strip()
        row = self._thinking.whole(thinking) if thinking else None
        if row is not None:
            await self.mount(row, before=self._reply) if self._reply is not None else await self._add(row)

    async def _skills(self, event: conversing.SessionChanged) -> None:
        """Which skills a message called for, and why."""
        for words in skill_words(event):
            await self.remark(words)

    async def show_history(self, talk: Talk, root: Path) -> None:
        """Show the end of a conversation that goes on in a folder."""
        async with self._alone:
            entries = talk.entries[-_HISTORY:]
            if len(talk.entries) > len(entries):
                await self.remark(f"{len(talk.entries) - len(entries)} earlier messages are not shown")
            arguments: dict[str, Mapping[str, object]] = {}
            for entry in entries:
                arguments |= {str(call["call_id"]): _arguments(call) for call in entry.calls}
                await self._show_entry(entry, arguments.get(entry.call_id, {}), root)

    async def _show_entry(self, entry: Entry, arguments: Mapping[str, object], root: Path) -> None:
        """Show a message of an earlier time."""
        if entry.kind == "user" and (own := earlier_own(entry.text)) is not None:
            row = CallRow(own[0], signs=self.signs)
            row.output, row.shown = own[1], "always"
            await self._add(row)
        elif entry.kind == "user":
            await self.said(_HANDED_OVER.split(entry.text)[0])
        elif entry.kind == "tool":
            status = entry.status if entry.status in ("success", "error", "denied") else "success"
            result = entry.summary.removeprefix(f"{entry.name}: ")
            if entry.name == _PLAN:
                await self.answer(str(arguments.get("plan", "")))
            told = "" if entry.name == _PLAN else telling(arguments)
            line = CallLine(name=entry.name, argument=told, status=status, result=result)
            change = earlier_change(entry.name, arguments, entry.summary, root) if status == "success" else ""
            row = CallRow(line, signs=self.signs, diff=change)
            row.output = output_of(entry.text)
            await self._add(row)
        elif entry.kind == "assistant" and entry.text:
            await self.answer(entry.text)
        elif entry.text:
            await self.remark(
                "Earlier messages became a summary." if entry.kind == "summary" else output_of(entry.text)
            )

    def stop_calls(self) -> None:
        """Calls that were cut off do not look as if they still ran."""
        for row in self._calls.values():
            row.change(CallLine(name=row.line.name, argument=row.line.argument, status="denied", result="stopped"))
        self._calls.clear()

    def last_call(self) -> CallRow | None:
        """The newest call."""
        rows = self.query(CallRow)
        return rows.last() if rows else None

    async def _call(self, event: kinds.ToolStarted, diff: str) -> None:
        if event.name.startswith(SPAWNS):  # the subagent has a line of its own
            return
        line = begun(event)
        if event.name == _PLAN:
            await self.answer(str(event.arguments.get("plan", "")))
            line = replace(line, argument="")
        row = CallRow(line, signs=self.signs, diff=diff)
        row.arguments = event.arguments
        await self._begin((event.step, event.index), row)

    async def _called(self, event: kinds.ToolFinished, state: RunState) -> None:
        row = self._calls.pop((event.step, event.index), None)
        if row is None and event.name.startswith(SPAWNS) and event.status == "success":
            child = self._reporting.pop((event.step, event.index), None)
            if child is not None:
                child.output = output_of(event.text)
            return
        if row is None:
            row = CallRow(unstarted(event, state), signs=self.signs)
            await self._begin(None, row)
            self._calls.pop(None)
        line = ended(row.line, event)
        if event.status != "success":
            row.diff = ""
        row.change(line, output=output_of(event.text))
        self.record.append((line.status, line.text))

    async def _begin(self, key: object, row: CallRow) -> None:
        await self.end_reply()
        self._calls[key] = row
        await self._add(row)

    def _child_finished(self, event: conversing.ChildFinished) -> None:
        row = self._calls.pop(event.child, None)
        if row is not None:
            status = "success" if event.outcome == "completed" else "error"
            used = f", {row.steps} call{'s' * (row.steps != 1)}" if row.steps else ""
            tokens = sum(int(event.usage.get(name, 0)) for name in ("prompt_tokens", "completion_tokens"))  # type: ignore[call-overload]
            used += f", {tokens_text(tokens)} tokens" if tokens else ""
            cost = f", {cost_text(event.cost_usd or 0.0, known=event.cost_usd is not None)}" if event.cost_usd else ""
            line = CallLine(
                name=row.line.name,
                argument=row.line.argument,
                status=status,
                result=f"{event.outcome}{used}{cost}",
                duration=duration_text(event.duration_ms / 1000),
            )
            row.change(line)
            self.record.append((status, line.text))

    async def _add(self, *rows: Widget) -> None:
        await self.mount(*rows)
        children: Iterable[Widget] = list(self.children)
        if len(self.children) > _ROWS:
            await self.remove_children(list(children)[:_DROPPED])


def _arguments(call: Mapping[str, object]) -> Mapping[str, object]:
    """The arguments of a recorded call; none where the model wrote no object."""
    try:
        arguments = json.loads(str(call["arguments"]))
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


class _Alone:
    """Lets one task after the other write; the one that writes may enter again."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._owner: asyncio.Task[object] | None = None
        self._depth = 0

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        if self._owner is not task:
            await self._lock.acquire()
            self._owner = task
        self._depth += 1

    async def __aexit__(self, *_error: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = None
            self._lock.release()
