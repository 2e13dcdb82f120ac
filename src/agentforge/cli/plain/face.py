"""The conversation line by line: read a message, let the agent work, print, until the input ends.

Reading messages line by line: with history and completion on a terminal, one a line from a pipe.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agentforge import __version__
from agentforge.app.sessions.chat import Chat
from agentforge.app.sessions.desktop import edit
from agentforge.app.sessions.display import standing
from agentforge.app.sessions.input_history import Typed
from agentforge.app.sessions.mentions import Resources, as_mention, fitting, mentioned
from agentforge.app.sessions.person import Person
from agentforge.app.slash import known_commands, run_slash
from agentforge.app.slash.command import is_command
from agentforge.cli.output.terminal import Style, printable, style_for
from agentforge.cli.plain.person import PlainPerson
from agentforge.cli.startup.command_context import Place
from agentforge.cli.startup.stdin import as_text
from agentforge.config.paths import data_dir
from agentforge.errors import EXIT_INTERRUPTED, AgentForgeError, UsageError
from agentforge.events.kinds import Event
from agentforge.safety.text.hygiene import clean
from agentforge.workspace.files.search import files

OpenChat = Callable[[str, "Person"], "Chat"]
_EXIT = {"completed": 0, "limit": 6, "stuck": 6, "interrupted": EXIT_INTERRUPTED, "blocked": 4, "failed": 5}


class _Ended(KeyboardInterrupt):
    """The process was asked to end (SIGTERM, SIGHUP): the turn stops, and nothing is read any more."""


class PlainFace:
    """Drives one conversation after the other over stdin and stdout.

    Args:
        open_chat: (session, person) -> chat; "" = a new session.
        first: the message that it begins with.
    """

    def __init__(self, open_chat: OpenChat, *, place: Place, session: str, first: str = "") -> None:
        self._open = open_chat
        self._first = first
        self._style: Style = style_for(sys.stdout, place.environ)
        self._terminal = sys.stdin.isatty()
        self._reader = _terminal_reader(place, self._words) if self._terminal else PipeReader()
        ask = self._reader.answer if isinstance(self._reader, TerminalReader) else None
        self._person = PlainPerson(sys.stdout, style=self._style, ask=ask)
        self._chat = self._listened_to(open_chat(session, self._person))
        self._code = 0

    def run(self) -> int:
        """Go on until the input ends.

        Returns:
            0; behind a pipe the exit code of the first message that was not completed.
        """
        if self._terminal:
            self._person.line(self._style.paint(self._head(), "dim"))
        for note in self._chat.notes:
            self._remark(note)
        try:
            with _termination():
                going_on = not self._first or self._say(self._first)
                while going_on:
                    going_on = self._one_message()
        except _Ended:
            return EXIT_INTERRUPTED
        finally:
            self._close()
        return 0 if self._terminal else self._code

    def _listened_to(self, chat: Chat) -> Chat:
        """Hand over between two steps what the person types while the agent works."""
        reader = self._reader
        if not isinstance(reader, TerminalReader):
            return chat

        def arrived() -> tuple[Event, ...]:
            for text in reader.typed_meanwhile():
                chat.inbox.say(text)
                self._remark(f"the agent reads this before its next step: {text}")
            return chat.inbox.events()

        chat.workshop.arrived = arrived
        return chat

    def _remark(self, text: str) -> None:
        """Say what is no part of the conversation: behind a pipe it does not stand among the answers."""
        if self._terminal:
            self._person.line(self._style.paint(printable(text), "dim"))
        else:
            self._complain(f"note: {text}")

    def _one_message(self) -> bool:
        """Read and carry out one line; False = leave."""
        for job in [job for job in self._chat.jobs if not job.line.outcome]:
            if job.look().outcome:
                self._remark(f"task {job.line.text}; /tasks shows what it asks")
        try:
            text = self._reader.read()
        except _Ended:
            raise
        except KeyboardInterrupt:
            return False
        if text is None:
            return False
        if not text.strip():
            return True
        return self._slash(text) if is_command(text) else self._say(text)

    def _say(self, text: str) -> bool:
        try:
            found = mentioned(self._chat, text)
            for line in found.shown:
                self._person.line(self._style.paint(printable(line), "dim"))
            result = self._chat.say(text, notes=found.notes, sources=found.sources, pictures=found.pictures)
        except _Ended:
            raise
        except KeyboardInterrupt:
            self._person.line(self._style.paint("stopped", "yellow"))
            self._note_code(EXIT_INTERRUPTED)
            return self._terminal
        except AgentForgeError as error:
            self._chat.drop(outcome="failed", reason=str(error))
            return self._failed(error)
        self._person.finish_line()
        if result.swarm:
            self._person.line(self._style.paint(printable(str(result.swarm["told"])), "dim"))
        for line in self._chat.work.lines():
            self._remark(line)
        for (said, _), refused in self._chat.inbox.refused:
            self._complain(f"not handed over: {said[:60]}: {refused}")
        self._chat.inbox.refused = []
        if result.error is not None:
            return self._failed(result.error)
        if result.outcome != "completed":
            self._complain(f"{result.outcome}: {result.reason}")
            self._note_code(_EXIT.get(result.outcome, 1))
        return True

    def _slash(self, line: str) -> bool:
        try:
            reply = run_slash(self._chat, line.strip())
        except _Ended:
            raise
        except KeyboardInterrupt:
            self._person.line("stopped")
            return self._terminal
        if reply.action == "edit" and self._terminal:
            return self._edit(reply.file, then=reply.then)
        if reply.text:
            self._person.line(clean(reply.text))
        if not reply.ok:
            self._note_code(2)
        if reply.action == "say":
            return self._say(reply.prompt)
        if reply.action == "open":
            return self._switch(reply.session)
        return reply.action != "exit"

    def _edit(self, file: str, *, then: str) -> bool:
        complaint = edit(Path(file), self._chat.workshop.environ)
        if complaint:
            self._complain(complaint)
            return True
        return self._slash(then)

    def _switch(self, session: str) -> bool:
        try:
            chat = self._open(session, self._person)
        except AgentForgeError as error:
            return self._failed(error)
        self._chat.close()
        self._chat = self._listened_to(chat)
        self._person.line(self._style.paint(self._head(), "dim"))
        return True

    def _failed(self, error: AgentForgeError) -> bool:
        self._complain(f"error[{error.slug}]: {error}")
        self._note_code(error.exit_code)
        return True

    def _complain(self, text: str) -> None:
        self._person.finish_line()
        sys.stderr.write(f"{printable(text)}\n")
        sys.stderr.flush()

    def _note_code(self, code: int) -> None:
        self._code = self._code or code

    def _head(self) -> str:
        parts = standing(self._chat, self._chat.state, context_tokens=0).parts()
        dot = f" {self._style.sign('dot')} "
        return dot.join([f"agentforge {__version__}", *parts[:3], "/help shows the commands"])

    def _close(self) -> None:
        self._person.finish_line()
        chat = self._chat
        if self._terminal and chat.state.talk.turn:
            self._person.line(f"session kept; go on with: agentforge --resume {chat.session_id[:8]}")
        chat.close()

    def _words(self, word: str) -> list[str]:
        """What a begun word could become: a command, or a file behind an @."""
        if word.startswith("/"):
            return [f"/{name} " for name in known_commands(self._chat) if name.startswith(word[1:])]
        if word.startswith("@"):
            resources = Resources(self._chat.workshop)
            if server := resources.wants(word):
                resources.ask(server)
            fitting_files = fitting(files(self._chat.workshop.root), word[1:])
            return [*map(as_mention, fitting_files), *resources.fitting(word)]
        return []


def _terminal_reader(place: Place, words: Callable[[str], list[str]]) -> TerminalReader:
    return TerminalReader(Typed(data_dir(place.environ), place.cwd), complete=words)


@contextmanager
def _termination() -> Iterator[None]:
    """SIGTERM and SIGHUP stop the turn and leave; the session is kept."""

    def end(_number: int, _frame: object) -> None:
        raise _Ended

    wanted = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, end) for number in wanted}
    if sys.stdin.isatty():  # a shell may have started us with Ctrl-C switched off
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


Completer = Callable[[str], list[str]]
_LONGEST = 20_000_000


class PipeReader:
    """Messages of a pipe: one a line."""

    def read(self) -> str | None:
        """The next message, None at the end.

        Raises:
            UsageError: a line that is longer than any message, or is no text.
        """
        data = sys.stdin.buffer.readline(_LONGEST + 1)
        if len(data) > _LONGEST:
            raise UsageError(
                f"a line of standard input has more than {_LONGEST:,} bytes",
                hint='every line is a message; to hand over a whole file: agentforge run "..." < FILE',
            )
        return as_text(data).rstrip("\r\n") if data else None


class TerminalReader:
    """Messages of a person: line editing and history by readline, a backslash at the end goes on in the next line.

    Args:
        complete: the words that could stand for a begun one.
    """

    def __init__(self, typed: Typed, *, complete: Completer) -> None:
        self._typed = typed
        self._kept: list[str] = []
        self._readline = _prepared(typed, complete)

    def read(self) -> str | None:
        """The next message, None at the end of the input.

        Raises:
            KeyboardInterrupt: Ctrl-C on an empty line; on a begun one it only clears the line.
        """
        if self._kept:
            return self._kept.pop(0)
        lines: list[str] = []
        while True:
            try:
                line = input("> " if not lines else ". ")
            except EOFError:
                sys.stdout.write("\n")
                return None
            except KeyboardInterrupt:
                sys.stdout.write("\n")
                if not lines and not self._begun():
                    raise
                lines = []
                continue
            if line.endswith("\\"):
                lines.append(line[:-1])
                continue
            text = "\n".join([*lines, line])
            self._typed.add(text)
            return text

    def typed_meanwhile(self) -> list[str]:
        """The messages that were typed while nobody asked for one; commands among them are kept for `read`."""
        lines: list[str] = []
        while select.select([sys.stdin], [], [], 0)[0]:
            data = os.read(sys.stdin.fileno(), 65_536)
            if not data:  # the end of the input: `read` meets it, too
                break
            lines += [line for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
        self._kept += [line for line in lines if is_command(line)]
        messages = [line for line in lines if not is_command(line)]
        for line in messages:
            self._typed.add(line)
        return messages

    def answer(self, prompt: str) -> str | None:
        """One line that is no message: it does not go into the history."""
        try:
            text = input(prompt)
        except EOFError:
            sys.stdout.write("\n")
            return None
        if text and self._readline is not None:
            self._readline.remove_history_item(self._readline.get_current_history_length() - 1)
        return text

    def _begun(self) -> bool:
        return bool(self._readline is not None and self._readline.get_line_buffer())


def _prepared(typed: Typed, complete: Completer):  # type: ignore[no-untyped-def]  # the module readline, or None
    try:
        import readline
    except ImportError:  # a Python without it: lines can still be typed
        return None
    for line in typed.lines:
        readline.add_history(line.replace("\n", " "))
    found: list[str] = []

    def completer(word: str, number: int) -> str | None:
        if number == 0:
            found[:] = complete(word)
        return found[number] if number < len(found) else None

    readline.set_completer_delims(" \t\n")
    readline.set_completer(completer)
    edit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if edit else "tab: complete")
    return readline
