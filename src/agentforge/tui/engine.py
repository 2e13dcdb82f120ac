"""The engine's thread: one job after the other on the open conversation; every end is queued for the screen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from agentforge.app.sessions.chat import Chat, TurnResult
from agentforge.app.sessions.display import change_of
from agentforge.app.sessions.mentions import mentioned
from agentforge.app.sessions.person import Person
from agentforge.app.slash import run_slash
from agentforge.app.slash.command import SlashReply
from agentforge.errors import AgentForgeError
from agentforge.events import kinds
from agentforge.events.kinds.event import Event
from agentforge.frozen import dataclass
from agentforge.tui.link import Link

if TYPE_CHECKING:
    pass

OpenChat = Callable[[str, "Person"], "Chat"]
_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """A message was worked on to its end.

    Attributes:
        stopped: by the person.
        unsaid: the message, where it was refused as it stands: nothing of it was recorded.
        error: what broke it off; None when nothing did.
    """

    result: TurnResult | None = None
    stopped: bool = False
    error: AgentForgeError | None = None
    unsaid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashEnded:
    """A command was carried out."""

    line: str
    reply: SlashReply


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Another session is open now."""

    chat: Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A line for the person; `kind` as in `rows.Remarked`."""

    text: str
    kind: str = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """The thread ended by a defect of the program."""

    error: BaseException


class _Reported:
    """What ends the thread is told to the screen, which ends the program with it: a thread has nobody to raise it to."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def __enter__(self) -> None:
        """Begin to watch."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if error is not None:
            self._link.put(Crashed(error=error))
        return True


class Engine:
    """Works on the conversation so that the screen never waits.

    Args:
        open_chat: (session, person) -> chat; "" = a new session.
        session: to begin with.
    Raises:
        AgentForgeError: the session cannot be opened.
    """

    def __init__(self, open_chat: OpenChat, *, session: str, environ: Mapping[str, str]) -> None:
        self.link = Link(self._change_of)
        self.link.before = self._check_stop
        self.environ = environ
        self._open = open_chat
        self.chat = open_chat(session, self.link)
        self._stop_wanted = False
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="engine", daemon=True)

    @property
    def root(self) -> Path:
        """The folder that the agent works in."""
        return self.chat.workshop.root

    def start(self) -> None:
        """Begin to take jobs."""
        self._thread.start()

    def say(self, text: str, notes: tuple[str, ...]) -> None:
        """Give a message to the agent; `TurnEnded` is queued at its end."""
        self._stop_wanted = False
        self._jobs.put(lambda: self._say(text, notes))

    def slash(self, line: str) -> None:
        """Carry out a command; `SlashEnded` is queued."""
        self._stop_wanted = False
        self._jobs.put(lambda: self._slash(line))

    def shell(self, command: str) -> None:
        """Run a command line of the person's own; `SlashEnded` is queued."""
        self._stop_wanted = False
        self._jobs.put(lambda: self._shell(command))

    def switch(self, **changes: object) -> None:
        """Switch something: before the next step of the turn that goes on, or at once where none does."""
        self.chat.inbox.switch(changes)
        self._jobs.put(self._settle)

    def hear_background(self) -> None:
        """Record which background commands have ended, where no turn goes on that would."""
        self._jobs.put(self._hear_background)

    def open(self, session: str) -> None:
        """Close the conversation and open another; `Opened` or a `Remark` is queued."""
        self._jobs.put(lambda: self._switch(session))

    def stop(self) -> None:
        """Stop the turn that goes on, with its children."""
        self._stop_wanted = True
        self.chat.stop()

    @property
    def takes_what_runs(self) -> bool:
        """Whether a command of the agent can be sent to the background."""
        return self.chat.workshop.left_running.takes_what_runs

    def to_background(self) -> bool:
        """Send the command that is waited for to the background; whether there was one.

        Raises:
            UsageError: too many run there already.
        """
        return self.chat.workshop.left_running.commands.release()

    def leave(self) -> None:
        """Stop everything and let go of the session."""
        self.stop()
        self._jobs.put(None)
        if self._thread.is_alive():
            self._thread.join(_PATIENCE_S)
        self.chat.close()

    def _work(self) -> None:
        with _Reported(self.link):
            while (job := self._jobs.get()) is not None:
                job()

    def _say(self, text: str, notes: tuple[str, ...]) -> None:
        try:
            found = mentioned(self.chat, text)
            for line in found.shown:
                self.link.put(Remark(text=line))
            result = self.chat.say(text, notes=(*notes, *found.notes), sources=found.sources, pictures=found.pictures)
        except KeyboardInterrupt:
            self.link.put(TurnEnded(stopped=True))
        except AgentForgeError as error:
            unsaid = "" if self.chat.state.talk.open else text
            self.chat.drop(outcome="failed", reason=str(error))
            self.link.put(TurnEnded(error=error, unsaid=unsaid))
        else:
            self.link.put(TurnEnded(result=result, error=result.error))

    def _shell(self, command: str) -> None:
        reply = SlashReply()
        try:
            self.chat.run_command(command)
        except KeyboardInterrupt:
            reply = SlashReply(text="stopped", ok=False)
        except AgentForgeError as error:
            reply = SlashReply(text=str(error), ok=False)
        self.link.put(SlashEnded(line=f"!{command}", reply=reply))

    def _settle(self) -> None:
        for event in self.chat.inbox.switches():
            self.chat.log.append(event)

    def _hear_background(self) -> None:
        for event in self.chat.workshop.ended():
            self.chat.log.append(event)

    def _slash(self, line: str) -> None:
        try:
            reply = run_slash(self.chat, line)
        except KeyboardInterrupt:
            reply = SlashReply(text="stopped", ok=False)
        self.link.put(SlashEnded(line=line, reply=reply))

    def _switch(self, session: str) -> None:
        try:
            chat = self._open(session, self.link)
        except AgentForgeError as error:
            self.link.put(Remark(text=f"cannot be opened: {error}", kind="error"))
            self.link.put(TurnEnded())
            return
        self.chat.close()
        self.chat = chat
        self.link.put(Opened(chat=chat))

    def _check_stop(self, event: Event) -> None:
        """A stop that came before the turn stood under its sign is made up for at its first model call."""
        if self._stop_wanted and isinstance(event, kinds.ModelCalled):
            self.chat.stop()

    def _change_of(self, event: Event) -> str:
        if not isinstance(event, kinds.ToolStarted) or event.effect != "write":
            return ""

        return change_of(event, self.root)
