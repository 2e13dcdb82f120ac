"""What happens in the engine, brought onto the screen: taken in portions, so that drawing never costs much of the time."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from agentforge.app.sessions.desktop import edit
from agentforge.app.sessions.display import standing
from agentforge.app.slash.command import is_command
from agentforge.errors import UsageError
from agentforge.events import kinds
from agentforge.events.kinds import conversation as conversing
from agentforge.safety.policy.modes import MODE_MEANING, Mode
from agentforge.tui import engine as engines
from agentforge.tui.link import AskedApproval, AskedQuestion, ChildHeard, Happened, Thought, Wrote
from agentforge.tui.status_lines import job_lines

_SHOWN_AT = (
    kinds.ModelCalled,
    kinds.ModelReplied,
    kinds.UserRan,
    conversing.SessionChanged,
    conversing.TurnFinished,
    conversing.BackgroundStarted,
    conversing.BackgroundEnded,
    conversing.HistoryCompacted,
    conversing.HistoryCleared,
    conversing.CheckpointRestored,
)

if TYPE_CHECKING:
    from agentforge.tui.app import ScreenApp

_FRAME_S = 0.05
_TOLD_S = 5.0
_SLOWEST_S = 0.5
_SHARE = 10.0
_NOTHING_MOVES = (
    "nothing goes to the background: Ctrl+B sends a command of the agent there, or one of yours, while it runs"
)
_RING = (("build", "on-request"), ("build", "on-failure"), ("build", "auto"), ("plan", ""))
"""The modes that Shift+Tab goes through: (work mode, approval)."""


class Flow:
    """From the engine to the screen."""

    def __init__(self, app: ScreenApp) -> None:
        self._app = app
        self._queued: list[tuple[str, tuple[str, ...]]] = []
        self._steering: list[tuple[str, tuple[str, ...]]] = []
        self._mode: tuple[str, str] | None = None
        self._context_tokens = 0
        self._waiting = 0
        self._due = False
        self._flushed = 0.0
        self._spent = 0.0
        self._pause = _FRAME_S
        self._order = asyncio.Lock()

    def wanted(self) -> None:
        """Something is there: take it now, or when the last drawing is long enough ago."""
        if not self._due:
            self._due = True
            self._app.set_timer(max(0.001, self._flushed + self._pause - time.monotonic()), self.take_all)

    async def take_all(self) -> None:
        """Take everything that happened; draw seldom enough that drawing costs a small share of the time."""
        spent = time.thread_time()
        self._pause = min(_SLOWEST_S, max(_FRAME_S, (spent - self._spent) * _SHARE if self._due else _FRAME_S))
        self._spent = spent
        self._flushed = time.monotonic()
        self._due = False
        async with self._order:
            for item in self._app.engine.link.taken():
                await self._take(item)

    async def _take(self, item: object) -> None:
        if isinstance(item, str):
            self._app.working.writes()
            await self._app.transcript.stream(item)
        elif isinstance(item, Thought):
            await self._app.transcript.think(item.text)
        elif isinstance(item, Happened):
            await self._happened(item)
        elif isinstance(item, Wrote):
            self._app.transcript.wrote(item.text)
        elif isinstance(item, ChildHeard):
            self._app.transcript.child_heard(item)
        elif isinstance(item, AskedApproval | AskedQuestion):
            self._app.working.wait()
            self._app.choices.ask(item)
        elif isinstance(item, engines.TurnEnded):
            await self._turn_ended(item)
        elif isinstance(item, engines.SlashEnded):
            await self._slash_ended(item)
        elif isinstance(item, engines.Remark):
            await self._app.transcript.remark(item.text, kind=item.kind)
        elif isinstance(item, engines.Opened):
            await self.opened()
        elif isinstance(item, engines.Crashed):
            self._app.crash = item.error
            self._app.exit(1, return_code=1)

    async def _happened(self, item: Happened) -> None:
        if isinstance(item.event, kinds.UserSteered):
            text, _ = self._steering.pop(0) if self._steering else (item.event.text, ())
            await self._app.transcript.said(text)
            self.show_queue()
        await self._app.transcript.happened(item)
        self._app.working.happened(item.event, moves=self._app.engine.takes_what_runs)
        self._measure(item)
        if isinstance(item.event, conversing.TodosChanged | conversing.CheckpointRestored):
            self._app.todos.show(item.state.talk.todos)
        if isinstance(item.event, conversing.SessionChanged):
            self._mode = None
        if isinstance(item.event, _SHOWN_AT):
            self.show_status()

    def _measure(self, item: Happened) -> None:
        """How much the conversation fills now; what makes it smaller counts at once."""
        event = item.event
        if isinstance(event, kinds.ModelCalled):
            self._context_tokens = event.context_tokens
        elif isinstance(event, conversing.HistoryCompacted):
            self._context_tokens = event.fixed + event.tokens_after
        elif isinstance(event, conversing.HistoryCleared):
            self._context_tokens = 0
        elif isinstance(event, conversing.CheckpointRestored) and event.talk is not None:
            self._context_tokens = item.state.talk.sent_tokens

    async def _turn_ended(self, end: engines.TurnEnded) -> None:
        self._app.choices.withdraw()
        self._app.choices.forget_files()
        if not self._app.app_focus:  # the person looks elsewhere: the terminal calls them
            self._app.bell()
        await self._app.transcript.end_reply()
        self._app.transcript.stop_calls()
        await self._take_back_steering()
        if end.stopped:
            await self._app.transcript.remark("stopped; the session goes on", kind="denied")
            self.give_back()
        elif end.error is not None:
            await self._app.transcript.remark(str(end.error), kind="error")
            if end.unsaid and not self._app.prompt.text:
                self._app.prompt.put(end.unsaid)
        elif end.result is not None and end.result.swarm:
            await self._app.transcript.remark(str(end.result.swarm["told"]))
        elif end.result is not None and end.result.outcome != "completed":
            await self._app.transcript.remark(f"{end.result.outcome}: {end.result.reason}", kind="denied")
        if end.result is not None:
            for line in self._app.engine.chat.work.lines():
                await self._app.transcript.remark(line)
        await self._next()

    async def _slash_ended(self, end: engines.SlashEnded) -> None:
        reply = end.reply
        if reply.action == "choose":
            self._app.choices.choose(reply)
            await self._next()
            return
        if reply.action == "edit" and await self._edited(reply.file):
            self._app.engine.slash(reply.then)
            return
        if reply.text and reply.ok:
            await self._app.transcript.answer(reply.text)
        elif reply.text:
            await self._app.transcript.remark(reply.text, kind="error")
        self.show_status()
        if end.line.startswith("/resolve"):
            self._app.choices.look_for_questions()
        if reply.action == "exit":
            self._app.leave(0)
        elif reply.action == "open":
            self._app.engine.open(reply.session)
        elif reply.action == "say":
            self._app.turning = True
            self._app.engine.say(reply.prompt, ())
        else:
            await self._next()

    async def _edited(self, file: str) -> bool:
        """Give the terminal to the person's editor; whether the file was edited."""
        from textual.app import SuspendNotSupported

        try:
            with self._app.suspend():
                complaint = edit(Path(file), self._app.engine.chat.workshop.environ)
        except SuspendNotSupported:
            return False
        if complaint:
            await self._app.transcript.remark(complaint, kind="error")
        return not complaint

    async def _next(self) -> None:
        """The engine is free: what was queued comes now."""
        self._app.busy = self._app.turning = False
        self._app.transcript.stop_calls()
        self._app.working.end()
        self.show_status()
        if self._queued:
            text, notes = self._queued.pop(0)
            self.show_queue()
            await self._app.give(text, notes)

    async def opened(self) -> None:
        """Show the session that is open now."""
        state = self._app.engine.chat.state
        self._mode = None
        self._context_tokens = state.talk.sent_tokens if state.talk.entries else 0
        if state.talk.entries:
            await self._app.transcript.show_history(state.talk, self._app.engine.root)
        elif not state.talk.turn:
            await self._app.transcript.remark("a new session; F1 shows keys and commands", kept=False)
        for note in self._app.engine.chat.notes:
            await self._app.transcript.remark(note)
        self._app.todos.show(state.talk.todos)
        await self._next()
        if state.talk.open:
            await self._app.transcript.remark("the last turn was cut off: its finished steps are kept", kind="denied")
            self._app.engine.chat.drop(reason="the process ended")

    def give_back(self) -> bool:
        """What waits to be said goes back into the input; whether there was anything."""
        self._queued = [*self._unread(), *self._queued]
        if not self._queued:
            return False
        prompt = self._app.prompt
        prompt.put("\n".join([*(text for text, _ in self._queued), *([prompt.text] if prompt.text else [])]))
        self._queued = []
        self.show_queue()
        return True

    def _unread(self) -> list[tuple[str, tuple[str, ...]]]:
        """The words for the turn that the agent has not read yet."""
        self._steering = []
        return self._app.engine.chat.inbox.taken_back()

    async def _take_back_steering(self) -> None:
        """The turn is over: what came too late for it is said next; what could not be handed over goes back."""
        self._queued = [*self._unread(), *self._queued]
        inbox = self._app.engine.chat.inbox
        for (text, _), error in inbox.refused:
            await self._app.transcript.remark(str(error), kind="error")
            prompt = self._app.prompt
            prompt.put("\n".join(part for part in (text, prompt.text) if part))
        inbox.refused = []
        self.show_queue()

    def queue_up(self, text: str, notes: tuple[str, ...]) -> None:
        """Keep a message: for the next step of the turn that goes on, else until the engine is free."""
        if self._app.turning and not self._queued and not is_command(text) and not text.startswith("!"):
            self._steering.append((text, notes))
            self._app.engine.chat.inbox.say(text, notes)
        else:
            self._queued.append((text, notes))
        self.show_queue()

    def show_queue(self) -> None:
        """Show what is kept."""
        note = self._app.signs["note"]
        lines = [f"{note} next step: {' '.join(text.split())[:200]}" for text, _ in self._steering]
        lines += [f"{note} next: {' '.join(text.split())[:200]}" for text, _ in self._queued]
        self._app.queue.show(lines)

    async def to_background(self) -> bool:
        """Send the command that runs to the background; False where none runs and a message is being typed."""
        try:
            if self._app.engine.to_background():
                return True
            complaint = "" if self._app.prompt.text else _NOTHING_MOVES
        except UsageError as error:
            complaint = str(error)
        if complaint:
            await self._app.transcript.remark(complaint, kind="denied")
        return bool(complaint)

    def next_mode(self) -> None:
        """Switch to the next mode of work; within a turn it holds from the next step on."""
        now = standing(self._app.engine.chat, self._app.engine.chat.state, context_tokens=0)
        work, approval = self._mode or (now.mode, now.approval)
        own = self._app.engine.chat.options.approval or self._app.engine.chat.workshop.settings.text("approval")
        ring = _RING if ("build", own) in _RING else (("build", own), *_RING)
        places = [place for place, one in enumerate(ring) if one in ((work, approval), (work, ""))]
        work, wanted = ring[((places[0] if places else -1) + 1) % len(ring)]
        self.switch_mode(work, wanted, before=own if work == "plan" else approval)

    def switch_mode(self, work: str, wanted: str, *, before: str = "") -> None:
        """Switch to a mode of work, and tell what it means.

        Args:
            wanted: the mode of approval, "" = the one of `before` holds.
        """
        self._mode = work, wanted or before
        meaning = MODE_MEANING[Mode(wanted)] if wanted else "only looks and plans; changes nothing"
        self._app.engine.switch(work_mode=work, **({"approval": wanted or before} if wanted or before else {}))
        self.show_status()
        self._app.working.tell(f"{wanted or work}: {meaning}", for_s=_TOLD_S)

    async def edit_draft(self) -> None:
        """Give what was typed to the person's editor and take back what they made of it."""
        prompt = self._app.prompt
        with TemporaryDirectory(prefix="agentforge-") as folder:
            file = Path(folder) / "message.md"
            file.write_text(prompt.text, "utf-8")
            if await self._edited(str(file)):
                prompt.put(file.read_text("utf-8", "replace").rstrip("\n"))

    def show_status(self) -> None:
        """Show where the session stands."""
        chat = self._app.engine.chat
        waiting = (f"{self._waiting} waiting: /resolve",) if self._waiting else ()
        stands = standing(chat, chat.state, context_tokens=self._context_tokens)
        if self._mode is not None:
            stands = replace(stands, mode=self._mode[0], approval=self._mode[1])
        self._app.status.show(*waiting, *stands.parts())

    def set_waiting(self, count: int) -> None:
        """So many questions of tasks wait."""
        self._waiting = count
        self.show_status()

    async def look_at_jobs(self) -> None:
        """Read how the tasks and commands in the background go on."""
        if not self._app.busy and self._app.engine.chat.workshop.has_news():
            self._app.engine.hear_background()
        jobs = self._app.engine.chat.jobs
        for job in [job for job in jobs if not job.line.outcome]:
            line = job.look()
            if line.outcome:
                good = line.outcome in ("delivered", "analyzed")
                await self._app.transcript.remark(line.text, kind="success" if good else "denied")
                self._app.choices.look_for_questions()
        self._app.jobs.show(job_lines(jobs, self._app.signs))
