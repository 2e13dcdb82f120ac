"""Watching a run: a live status line on a terminal, plain lines elsewhere, JSON lines for programs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol, TextIO

from agentforge.cli.output.phrases import Notice, doing, notice
from agentforge.cli.output.terminal import Style, cut, printable, style_for, terminal_columns
from agentforge.cli.startup.form import Form
from agentforge.config.durations import show_duration
from agentforge.events.kinds import Event, RunFinished
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import encode
from agentforge.underway import Underway, heard_by

_REDRAW_S = 1.0
_PLAIN_WIDTH = 200
_PLAIN_EVERY_S = 30.0
_TOLD_AFTER_S = 3.0


class Screen(Protocol):
    """What watches a run. Call it with every event; use it as a context manager."""

    run_id: str

    def __call__(self, event: Event, state: RunState) -> None:
        """Show one event."""

    def __enter__(self) -> Screen:
        """Begin to show."""

    def __exit__(self, *_details: object) -> None:
        """Leave the terminal as it was."""

    def paused(self) -> AbstractContextManager[None]:
        """Give the terminal to somebody else for a while."""


def screen_for(form: Form, *, out: TextIO, err: TextIO, environ: Mapping[str, str]) -> Screen:
    """Choose the screen for a form; JSON keeps stdout free, so its status line goes to a stderr that is a terminal."""
    if form == "stream-json":
        return StreamScreen(out)
    stream = out if form == "text" else err
    if stream.isatty() and environ.get("TERM") != "dumb":
        return TerminalScreen(stream, style=style_for(stream, environ))
    return PlainScreen(out, style=style_for(out, environ)) if form == "text" else SilentScreen()


class SilentScreen:
    """Shows nothing; remembers which run it was."""

    def __init__(self) -> None:
        self.run_id = ""

    def __call__(self, event: Event, state: RunState) -> None:
        """Remember the run."""
        self.run_id = state.identity.run_id
        self.show(event, state)

    def show(self, event: Event, state: RunState) -> None:
        """Show one event; here: nothing."""

    def __enter__(self) -> SilentScreen:
        """Begin to show."""
        return self

    def __exit__(self, *_details: object) -> None:
        """Nothing to leave."""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Give the terminal to somebody else for a while."""
        yield


class StreamScreen(SilentScreen):
    """One JSON object per event and line: type, at, stage, step, data."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._out = _Writer(stream)

    def show(self, event: Event, state: RunState) -> None:
        """Print one line."""
        name, data = encode(event)
        stage = str(data.get("stage", state.progress.stage))
        line = {
            "type": name,
            "at": state.progress.last_at,
            "stage": stage,
            "step": state.progress.turn.step,
            "data": data,
        }
        self._out.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")


class PlainScreen(SilentScreen):
    """Lines without any control character: one per stage, tool call, verification and escalation.

    What takes long is told every half a minute, as far as it tells something itself.
    """

    def __init__(self, stream: TextIO, *, style: Style, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._out = _Writer(stream)
        self._style = style
        self._work = LongWork(clock)
        self._told = 0.0
        self._clock = clock
        self._ears = ExitStack()

    def __enter__(self) -> PlainScreen:
        """Begin to hear of long work."""
        self._ears.enter_context(heard_by(self.hear))
        return self

    def __exit__(self, *_details: object) -> None:
        """Hear no more."""
        self._ears.close()

    def hear(self, work: Underway | None) -> None:
        """Tell of work that has gone on for half a minute since the last line."""
        begins = self._work.hear(work)
        if begins:
            self._told = self._clock()
        elif work is not None and self._clock() - self._told >= _PLAIN_EVERY_S:
            self._told = self._clock()
            self._out.write(f"{self._style.sign('note')} {self._work.text()}\n")

    def show(self, event: Event, state: RunState) -> None:
        """Print the lines of one event."""
        said = notice(event, state)
        if said is not None:
            self._out.write("".join(f"{line}\n" for line in notice_lines(said, style=self._style, width=_PLAIN_WIDTH)))


class TerminalScreen(SilentScreen):
    """Finished stages and notable events stand as lines; below them one status line is kept up to date.

    Args:
        clock: seconds, monotonic; the status line shows the time since the screen was made.
        columns: the width of the terminal, asked at every draw, so that a resize takes effect.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        style: Style,
        clock: Callable[[], float] = time.monotonic,
        columns: Callable[[], int] | None = None,
    ) -> None:
        super().__init__()
        self._out = _Writer(stream)
        self._style = style
        self._clock = clock
        self._columns = columns or (lambda: terminal_columns(stream))
        self._started = clock()
        self._state = RunState()
        self._doing = ""
        self._work = LongWork(clock)
        self._ears = ExitStack()
        self._over = False
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._ticker: threading.Thread | None = None

    def show(self, event: Event, state: RunState) -> None:
        """Print what is notable, then redraw the status line."""
        said = notice(event, state)
        with self._lock:
            self._state = state
            self._doing = doing(event) or self._doing
            self._over = self._over or isinstance(event, RunFinished)
            lines = [] if said is None or said.detail else notice_lines(said, style=self._style, width=self._columns())
            self._draw(lines)

    def __enter__(self) -> TerminalScreen:
        """Begin to keep the time in the status line up to date."""
        self._stop.clear()
        self._ears.enter_context(heard_by(self.hear))
        self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)
        self._ticker.start()
        return self

    def __exit__(self, *_details: object) -> None:
        """Stop, and wipe the status line."""
        self._ears.close()
        self._stop.set()
        if self._ticker is not None:
            self._ticker.join()
        self._out.write("\r\x1b[K")

    def hear(self, work: Underway | None) -> None:
        """Show what goes on from the next draw on."""
        self._work.hear(work)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Give the terminal to a question for a while."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def _tick(self) -> None:
        while not self._stop.wait(_REDRAW_S):
            with self._lock:
                self._draw([])

    def _draw(self, lines: list[str]) -> None:
        above = "".join(f"{line}\n" for line in lines)
        below = "" if self._over or not self._state.identity.run_id else self._status()
        self._out.write(f"\r\x1b[K{above}{below}")

    def _status(self) -> str:
        text = status_text(
            self._state,
            doing_now=self._doing,
            work=self._work.text(),
            elapsed_s=self._clock() - self._started,
            style=self._style,
        )
        return self._style.paint(cut(text, self._columns() - 1), "cyan")


class LongWork:
    """What goes on for a while: in words, how far it is, and how long it will yet take.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._work: Underway | None = None
        self._since = 0.0

    def hear(self, work: Underway | None) -> bool:
        """Take what is told; returns whether another piece of work begins."""
        begins = work is not None and (self._work is None or work.what != self._work.what)
        if begins:
            self._since = self._clock()
        self._work = work
        return begins

    def text(self) -> str:
        """`runs the whole suite: 412 of 900 tests, about 35s more`; "" while nothing long goes on."""
        work = self._work
        if work is None:
            return ""
        far = f": {work.done:,}" + (f" of {work.of:,}" if work.of else "") + f" {work.unit}" if work.unit else ""
        left = self._left_s(work)
        return f"{work.what}{far}" + (f", about {show_duration(left)} more" if left >= 1 else "")

    def _left_s(self, work: Underway) -> float:
        spent = self._clock() - self._since
        if work.of and work.done and spent >= _TOLD_AFTER_S:
            return spent * (work.of - work.done) / work.done
        return work.usual_s - spent if work.usual_s else 0.0


class _Writer:
    """A stream whose reader may leave: then it falls silent, and the run goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._gone = False

    def write(self, text: str) -> None:
        """Write and flush."""
        if self._gone:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            self._gone = True


def status_text(state: RunState, *, doing_now: str, elapsed_s: float, style: Style, work: str = "") -> str:
    """The status line: stage, attempt, step, tokens, cost, elapsed time, last action.

    Args:
        work: what takes long now; then it stands in the place of steps, tokens and cost, so that a narrow terminal shows it.
    """
    from agentforge.app.sessions.display import cost_text, tokens_text

    stage = state.progress.stages.get(state.progress.stage)
    totals = state.usage.totals
    parts = [state.progress.stage or "between stages"]
    if stage is not None and stage.attempt > 1:
        parts.append(f"attempt {stage.attempt}")
    if work:
        return printable(f" {style.sign('dot')} ".join([*parts, show_duration(elapsed_s), work]))
    parts.append(f"step {state.progress.turn.step}")
    parts.append(f"{tokens_text(totals.prompt_tokens + totals.completion_tokens)} tokens")
    if totals.llm_calls:
        parts.append(cost_text(totals.cost_usd, known=totals.cost_known))
    parts.append(show_duration(elapsed_s))
    return printable(f" {style.sign('dot')} ".join([*parts, doing_now or "starts"]))


def notice_lines(said: Notice, *, style: Style, width: int) -> list[str]:
    """Lay out a notice: mark, text, and the lines below it, each cut to the width."""
    colours = {"done": "green", "failed": "red", "asked": "yellow"}
    mark = style.paint(style.sign(said.sign), colours.get(said.sign, "dim"))
    first = f"{mark} {cut(printable(said.text), width - 2)}"
    return [first, *(f"    {cut(printable(line), width - 4)}" for line in said.more)]
