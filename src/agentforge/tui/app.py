"""The application: what is typed goes to the engine, what happens goes into the transcript."""

from __future__ import annotations

import asyncio
import contextvars
import time
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Static

from agentforge.app.standing import standing
from agentforge.app.typed import Typed
from agentforge.config.paths import data_dir
from agentforge.events import conversing, kinds
from agentforge.tui import engine as engines
from agentforge.tui.choices import Choices
from agentforge.tui.completion import Completion
from agentforge.tui.link import AskedApproval, AskedQuestion, Happened
from agentforge.tui.looks import THEMES, Signs, knows_unicode, themes
from agentforge.tui.prompt import Prompt
from agentforge.tui.transcript import Transcript
from agentforge.tui.watching import Lines, Status, Todos, Working, job_lines

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

_FRAME_S = 0.05
_SLOWEST_S = 0.5
_SHARE = 6.0
_JOBS_S = 1.0
_WAITING_S = 30.0
_SHORT, _NARROW = 12, 40
_PRESSES = 3
COMMANDS = (("theme", "Next theme, or the one that is named."), ("keys", "Show the keys."))


class ScreenApp(App[int]):
    """The screen of one engine.

    Attributes:
        crash: what broke the engine by a defect of the program.
    """

    CSS_PATH = "screen.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [  # noqa: RUF012 - as Textual wants it
        Binding("ctrl+c", "interrupt", "Stop", priority=True),
        Binding("ctrl+d", "leave_empty", "Leave"),
        Binding("ctrl+q", "interrupt", show=False),
        Binding("ctrl+o", "open_last", "Open the last call", priority=True),
        Binding("ctrl+t", "todos", "Todos", priority=True),
        Binding("ctrl+y", "copy", "Copy", priority=True),
        Binding("ctrl+end", "end", "To the end", priority=True),
        Binding("pageup", "scroll(-1)", priority=True, show=False),
        Binding("pagedown", "scroll(1)", priority=True, show=False),
        Binding("f1", "keys", "Help", priority=True),
        Binding("f2", "theme", "Theme", priority=True),
    ]

    def __init__(self, engine: engines.Engine, *, cwd: Path) -> None:
        from agentforge.tui.driver import TerminalDriver

        super().__init__(driver_class=TerminalDriver)
        self.engine = engine
        self.signs = Signs(unicode=knows_unicode(engine.environ))
        self.crash: BaseException | None = None
        self.transcript = Transcript(self.signs)
        self.completion = Completion()
        self.busy = False
        self.engine_data = data_dir(engine.environ)
        self.prompt = Prompt(Typed(self.engine_data, cwd), placeholder="Ask, or / for commands, @ for files")
        self._working, self._todos, self._status = Working(self.signs), Todos(self.signs), Status(self.signs)
        self._jobs, self._queue = Lines(id="jobs"), Lines(id="queue")
        self._queued: list[tuple[str, tuple[str, ...]]] = []
        self._context_tokens = 0
        self._waiting = 0
        self._due = False
        self._pressed = 0
        self._flushed = 0.0
        self._spent = 0.0
        self._pause = _FRAME_S
        self._choices = Choices(self)

    def compose(self) -> ComposeResult:
        """Transcript above, everything else below."""
        yield self.transcript
        with Vertical(id="below"):
            yield from (self._todos, self._jobs, self._working, self._queue, self.completion, self.prompt, self._status)
            dot = f" {self.signs['dot']} "
            keys = ("Enter send", "Alt+Enter new line", "Ctrl+O open call", "Ctrl+C stop/leave", "F2 theme", "F1 help")
            yield Static(dot.join(keys), id="keys")

    async def on_mount(self) -> None:
        """Begin."""
        for theme in themes():
            self.register_theme(theme)
        self.theme = self._choices.theme()
        self.set_class(not self.signs.unicode, "-ascii")
        loop = asyncio.get_running_loop()
        here = contextvars.copy_context()

        def wake() -> None:
            loop.call_soon_threadsafe(self._wanted, context=here)

        self.engine.link.attach(wake)
        self.engine.start()
        self.prompt.focus()
        await self._opened()
        self.set_interval(_JOBS_S, self._look_at_jobs)
        self.set_timer(_JOBS_S, self._choices.look_for_questions)
        self.set_interval(_WAITING_S, self._choices.look_for_questions)

    def on_resize(self, event: Resize) -> None:
        """Leave out what a small terminal has no room for."""
        self.set_class(event.size.height < _SHORT, "-short")
        self.set_class(event.size.width < _NARROW, "-narrow")

    # -- what the person does

    async def on_prompt_sent(self, event: Prompt.Sent) -> None:
        """A message or a command."""
        await self.give(event.text, event.notes)

    async def give(self, text: str, notes: tuple[str, ...] = ()) -> None:
        """Give a line to the engine now, or when it is done with the one before."""
        if text.startswith("/") and await self._choices.own_command(text):
            return
        if self.busy:
            self._queued.append((text, notes))
            self._show_queue()
            return
        self.busy = True
        await self.transcript.said(text)
        self.transcript.anchor()
        self._working.begin()
        if text.startswith("/"):
            self.engine.slash(text)
        else:
            self.engine.say(text, notes)

    def action_interrupt(self) -> None:
        """Stop the turn; else clear the input; else leave. Whoever presses on and on leaves a turn that cannot be stopped."""
        self._pressed = self._pressed + 1 if self.busy else 0
        if self._pressed > _PRESSES:
            self.leave(130)
        elif self.busy:
            self._choices.withdraw()
            self.engine.stop()
        elif self.prompt.text:
            self.prompt.clear_all()
        else:
            self.leave(0)

    def action_leave_empty(self) -> None:
        """Leave when nothing is typed."""
        if not self.prompt.text:
            self.leave(0)

    def leave(self, code: int) -> None:
        """Leave the screen; the session is kept."""
        self._choices.withdraw()
        self.engine.stop()
        self.exit(code, return_code=code)

    def action_open_last(self) -> None:
        """Open or close the newest call."""
        row = self.transcript.last_call()
        if row is not None:
            row.action_open()
            row.scroll_visible(animate=False)

    def action_todos(self) -> None:
        """Hide or show the todos."""
        self._todos.flip()

    def action_copy(self) -> None:
        """Copy the selected text, else the last answer."""
        answers = [text for kind, text in self.transcript.record if kind == "reply"]
        text = self.screen.get_selected_text() or (answers[-1] if answers else "")
        if text:
            self.copy_to_clipboard(text)

    def action_end(self) -> None:
        """Back to the newest."""
        self.transcript.anchor()

    def action_scroll(self, way: int) -> None:
        """Scroll by most of a page."""
        rows = max(1, self.transcript.size.height - 2)
        self.transcript.scroll_relative(y=way * rows, animate=False)

    def action_keys(self) -> None:
        """Show the help."""
        from agentforge.tui.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(COMMANDS))

    def action_theme(self) -> None:
        """The next theme."""
        self._choices.set_theme(THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)])

    def on_prompt_begun(self, event: Prompt.Begun) -> None:
        """Offer what fits."""
        self._choices.offer(event.word, first=event.first)

    def on_prompt_moved(self, event: Prompt.Moved) -> None:
        """Choose among what is offered."""
        self._choices.moved(event.how)

    # -- what happens

    def _wanted(self) -> None:
        """Something is there: take it now, or when the last drawing is long enough ago."""
        if not self._due:
            self._due = True
            self.set_timer(max(0.001, self._flushed + self._pause - time.monotonic()), self._take_all)

    async def _take_all(self) -> None:
        """Take everything that happened; draw seldom enough that drawing costs a small share of the time."""
        spent = time.thread_time()
        self._pause = min(_SLOWEST_S, max(_FRAME_S, (spent - self._spent) * _SHARE if self._due else _FRAME_S))
        self._spent = spent
        self._flushed = time.monotonic()
        self._due = False
        for item in self.engine.link.taken():
            await self._take(item)

    async def _take(self, item: object) -> None:
        if isinstance(item, str):
            await self.transcript.stream(item)
        elif isinstance(item, Happened):
            await self._happened(item)
        elif isinstance(item, AskedApproval | AskedQuestion):
            self._choices.ask(item)
        elif isinstance(item, engines.TurnEnded):
            await self._turn_ended(item)
        elif isinstance(item, engines.SlashEnded):
            await self._slash_ended(item)
        elif isinstance(item, engines.Remark):
            await self.transcript.remark(item.text, kind=item.kind)
        elif isinstance(item, engines.Opened):
            await self._opened()
        elif isinstance(item, engines.Crashed):
            self.crash = item.error
            self.exit(1, return_code=1)

    async def _happened(self, item: Happened) -> None:
        await self.transcript.happened(item)
        self._working.happened(item.event)
        if isinstance(item.event, kinds.ModelCalled):
            self._context_tokens = item.event.context_tokens
        if isinstance(item.event, conversing.TodosChanged | conversing.CheckpointRestored):
            self._todos.show(item.state.talk.todos)
        if isinstance(item.event, kinds.ModelReplied | conversing.SessionChanged | conversing.TurnFinished):
            self.show_status()

    async def _turn_ended(self, end: engines.TurnEnded) -> None:
        self._choices.withdraw()
        await self.transcript.end_reply()
        self.transcript.stop_calls()
        if end.stopped:
            await self.transcript.remark("stopped; the session goes on", kind="denied")
            self._give_back()
        elif end.error is not None:
            await self.transcript.remark(str(end.error), kind="error")
        elif end.result is not None and end.result.outcome != "completed":
            await self.transcript.remark(f"{end.result.outcome}: {end.result.reason}", kind="denied")
        await self._next()

    async def _slash_ended(self, end: engines.SlashEnded) -> None:
        reply = end.reply
        if reply.text and reply.ok:
            await self.transcript.answer(reply.text)
        elif reply.text:
            await self.transcript.remark(reply.text, kind="error")
        self.show_status()
        if reply.action == "exit":
            self.leave(0)
        elif reply.action == "open":
            self.engine.open(reply.session)
        elif reply.action == "say":
            self.engine.say(reply.prompt, ())
        else:
            await self._next()

    async def _next(self) -> None:
        """The engine is free: what was queued comes now."""
        self.busy = False
        self._working.end()
        self.show_status()
        if self._queued:
            text, notes = self._queued.pop(0)
            self._show_queue()
            await self.give(text, notes)

    async def _opened(self) -> None:
        """Show the session that is open now."""
        state = self.engine.chat.state
        self._context_tokens = 0
        if state.talk.entries:
            await self.transcript.show_history(state.talk)
        elif not state.talk.turn:
            await self.transcript.remark("a new session; F1 shows keys and commands")
        self._todos.show(state.talk.todos)
        await self._next()
        if state.talk.open:
            await self.transcript.remark("the last turn was cut off: its finished steps are kept", kind="denied")
            self.engine.chat.drop(reason="the process ended")

    def _give_back(self) -> None:
        """What was queued behind a turn that was stopped goes back into the input."""
        if self._queued:
            prompt = self.prompt
            prompt.put("\n".join([*(text for text, _ in self._queued), *([prompt.text] if prompt.text else [])]))
            self._queued = []
            self._show_queue()

    def _show_queue(self) -> None:
        lines = [f"{self.signs['note']} next: {' '.join(text.split())[:200]}" for text, _ in self._queued]
        self._queue.show(lines)

    def show_status(self) -> None:
        """Show where the session stands."""
        chat = self.engine.chat
        now = standing(chat, chat.state, context_tokens=self._context_tokens)
        self._status.show(now, waiting=self._waiting)

    def set_waiting(self, count: int) -> None:
        """So many questions of tasks wait."""
        self._waiting = count
        self.show_status()

    async def _look_at_jobs(self) -> None:
        jobs = self.engine.chat.jobs
        for job in [job for job in jobs if not job.line.outcome]:
            line = job.look()
            if line.outcome:
                good = line.outcome in ("delivered", "analyzed")
                await self.transcript.remark(line.text, kind="success" if good else "denied")
                self._choices.look_for_questions()
        self._jobs.show(job_lines(jobs, self.signs))
