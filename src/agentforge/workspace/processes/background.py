"""Commands that go on while others are run, each in a box of its own; they end with whoever holds them.

A command that somebody waits for can be sent to them while it runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event, Lock, Thread

from agentforge.cancellation import Cancellation, interruptible, under
from agentforge.errors import AgentForgeError, UsageError
from agentforge.frozen import dataclass
from agentforge.workspace.processes.process import Completed, Listener, overheard, releasable

MOST_AT_ONCE = 8
_KEPT_BYTES = 200_000
_LONGEST_S = 7 * 24 * 3600.0
_END_S = 5.0

Launch = Callable[[str, str, float], "Completed"]
"""Runs a command to its end: (command, folder, time limit in seconds) -> how it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """A background command at one moment.

    Attributes:
        outcome: "" = it runs; else such as "exit 0", "stopped", "stopped after 60 s", or why it could not run.
        output: what was asked for of its output.
        missed: bytes between what was read before and `output` that are no longer kept.
        seconds: how long it has run, or ran.
    """

    name: str
    command: str
    outcome: str
    output: bytes
    missed: int
    seconds: float


class _Command:
    """One command in a thread of its own.

    Attributes:
        done: how it ended, None while it runs or where it could not be run; `error`: why not.
        news: set when it ended, or was let go, or nobody is to wait for it any more.
    """

    def __init__(
        self, name: str, command: str, launch: Callable[[], Completed], *, hears: Listener | None = None
    ) -> None:
        self.name = name
        self.command = command
        self.outcome = ""
        self.done: Completed | None = None
        self.error: BaseException | None = None
        self.news = Event()
        self._hears = hears
        self._let_go = Event()
        self._sign = Cancellation()
        self._lock = Lock()
        self._kept = bytearray()
        self._total = 0
        self._read = 0
        self._began = time.monotonic()
        self._ended = 0.0
        self._thread = Thread(target=self._run, args=(launch,), name=f"background-{name}", daemon=True)
        self._thread.start()

    @property
    def runs(self) -> bool:
        """It has not ended."""
        return self._thread.is_alive()

    @property
    def released(self) -> bool:
        """Nobody waits for it any more."""
        return self._let_go.is_set()

    def release(self) -> bool:
        """Let whoever waits for it go on without it; whether it still ran. It has no time limit from now on."""
        with self._lock:
            if self._ended:
                return False
            self._let_go.set()
        self.news.set()
        return True

    @property
    def unread(self) -> int:
        """Bytes that it wrote since they were taken last."""
        with self._lock:
            return self._total - self._read

    def glance(self, *, taking: bool) -> Glance:
        """What it wrote and how it stands.

        Args:
            taking: only what was not taken before; else everything that is kept, and nothing counts as taken.
        """
        with self._lock:
            first = self._total - len(self._kept)
            since = max(self._read, first) if taking else first
            output = bytes(self._kept[since - first :])
            missed = since - self._read if taking else first
            if taking:
                self._read = self._total
        seconds = (self._ended or time.monotonic()) - self._began
        outcome = "" if self.runs else self.outcome
        return Glance(
            name=self.name, command=self.command, outcome=outcome, output=output, missed=missed, seconds=seconds
        )

    def wait(self, timeout_s: float) -> None:
        """Wait until it has ended, or for some time."""
        self._thread.join(timeout_s)

    def stop(self) -> None:
        """Kill it and everything that it started."""
        self._sign.cancel()
        self._thread.join(_END_S)

    def _run(self, launch: Callable[[], Completed]) -> None:
        try:
            with under(self._sign), overheard(self._hear), releasable(self._let_go):
                self.done = launch()
            self.outcome = _outcome(self.done)
        except KeyboardInterrupt as stopped:
            self.outcome, self.error = "stopped", stopped
        except (AgentForgeError, OSError) as error:
            self.outcome, self.error = f"it could not be run: {error}", error
        finally:
            with self._lock:
                self._ended = time.monotonic()
            self.news.set()

    def _hear(self, piece: bytes) -> None:
        with self._lock:
            self._kept += piece
            self._total += len(piece)
            del self._kept[: max(0, len(self._kept) - _KEPT_BYTES)]
        if self._hears is not None and not self.released:
            self._hears(piece)


class BackgroundCommands:
    """The commands that a session left running. Close it to end them all.

    Used by one thread at a time, but for what says otherwise; the commands themselves run in others.

    Args:
        launch: runs one.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._commands: dict[str, _Command] = {}
        self._told: set[str] = set()
        self._awaited: _Command | None = None

    def start(self, command: str, *, cwd: str, timeout_s: float = 0.0) -> str:
        """Start a command and return at once.

        Args:
            cwd: relative to the workspace.
            timeout_s: after which it is stopped; 0 = when the session ends.
        Returns:
            The name under which it is read and stopped: "1", "2", ...
        Raises:
            UsageError: too many run already.
        """
        self._check_room()
        name = str(len(self._commands) + 1)
        self._commands[name] = _Command(name, command, partial(self._launch, command, cwd, timeout_s or _LONGEST_S))
        return name

    def follow(self, command: str, run: Callable[[], Completed], *, hears: Listener | None = None) -> Completed:
        """Run a command and wait for it: until it ends, or until `release` leaves it running here.

        Args:
            run: runs it, with a time limit of its own.
            hears: what it writes, as long as it is waited for.
        Returns:
            How it ended; or what it wrote by now, and the name (`left_running`) under which it goes on.
        Raises:
            KeyboardInterrupt: the work was stopped, and the command with it.
            AgentForgeError, OSError: it could not be run.
        """
        one = self._awaited = _Command("", command, run, hears=hears)
        try:
            with interruptible(one.news.set):
                one.news.wait()
        except BaseException:
            one.stop()
            raise
        finally:
            self._awaited = None
        return self._taken_in(one) if one.released else _ended_well(one)

    def _taken_in(self, one: _Command) -> Completed:
        one.name = str(len(self._commands) + 1)
        self._commands[one.name] = one
        so_far = one.glance(taking=True)
        return Completed(
            exit_code=0,
            output=so_far.output,
            omitted_bytes=so_far.missed,
            timed_out=False,
            duration_s=so_far.seconds,
            left_running=one.name,
        )

    def release(self) -> bool:
        """Leave the command running that `follow` waits for; any thread may ask. Whether there was one.

        Raises:
            UsageError: too many run already.
        """
        one = self._awaited
        if one is None:
            return False
        self._check_room()
        return one.release()

    def running(self) -> tuple[str, ...]:
        """The names of those that have not ended."""
        return tuple(one.name for one in tuple(self._commands.values()) if one.runs)

    def glances(self) -> list[Glance]:
        """All commands, the oldest first, with what is kept of their output."""
        return [one.glance(taking=False) for one in tuple(self._commands.values())]

    def read(self, name: str, *, wait_s: float = 0.0) -> Glance:
        """What a command wrote since it was read last.

        Args:
            wait_s: wait so long for its end.
        Raises:
            UsageError: there is no such command.
        """
        found = self._find(name)
        if wait_s > 0:
            found.wait(wait_s)
        return found.glance(taking=True)

    def stop(self, name: str) -> Glance:
        """End a command and everything that it started; the rest of its output.

        Raises:
            UsageError: there is no such command.
        """
        found = self._find(name)
        found.stop()
        return found.glance(taking=True)

    def has_news(self) -> bool:
        """Whether a command has ended since `ended` was asked last; any thread may ask."""
        return any(not one.runs and name not in self._told for name, one in tuple(self._commands.items()))

    def ended(self) -> Mapping[str, str]:
        """The commands that have ended since this was asked last: name -> outcome."""
        fresh = {name: one.outcome for name, one in self._commands.items() if not one.runs and name not in self._told}
        self._told |= fresh.keys()
        return fresh

    def unread(self) -> dict[str, int]:
        """The commands that wrote something since they were read last: name -> bytes."""
        return {name: one.unread for name, one in self._commands.items() if one.unread}

    def close(self) -> None:
        """End all of them."""
        for one in self._commands.values():
            if one.runs:
                one.stop()

    def _check_room(self) -> None:
        running = self.running()
        if len(running) >= MOST_AT_ONCE:
            raise UsageError(
                f"{MOST_AT_ONCE} background commands run already", hint=f"stop one first: {', '.join(running)}"
            )

    def _find(self, name: str) -> _Command:
        if name in self._commands:
            return self._commands[name]
        known = ", ".join(self._commands) or "none was started"
        raise UsageError(f"there is no background command {name!r}", hint=f"there are: {known}")


def _ended_well(one: _Command) -> Completed:
    """How a command ended that nobody let go.

    Raises:
        BaseException: whatever ended it instead.
    """
    if one.done is None:
        raise one.error or RuntimeError("the command ended without a result")
    return one.done


def _outcome(done: Completed) -> str:
    return f"stopped after {done.duration_s:.0f} s" if done.timed_out else f"exit {done.exit_code}"
