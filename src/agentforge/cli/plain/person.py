"""The person in front of a plain terminal, or behind a pipe: told by lines, asked by y, a, n."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TextIO

from agentforge.app.sessions.display import (
    CallLine,
    background_words,
    begun,
    child_progress,
    child_words,
    ended,
    is_answer,
    skill_words,
    unseen_words,
    unstarted,
    window_words,
)
from agentforge.app.sessions.person import Question, Reply
from agentforge.cli.output.terminal import Style, cut, printable, printable_lines
from agentforge.events import kinds
from agentforge.events.kinds import conversation as conversing
from agentforge.events.kinds.event import Event
from agentforge.events.state.run_state import RunState
from agentforge.safety.text.hygiene import clean

_DIFF_SHOWN = 60
_CALLS = (kinds.ToolStarted, kinds.ToolFinished)
_SIGNS = {"success": ("done", "green"), "error": ("failed", "red"), "denied": ("failed", "yellow")}


class PlainPerson:
    """Prints what happens and asks on the same terminal.

    Args:
        ask: reads an answer after a prompt, None at the end of the input; None = nobody can be asked (a pipe).
    """

    def __init__(self, out: TextIO, *, style: Style, ask: Callable[[str], str | None] | None) -> None:
        self._out = out
        self._style = style
        self._ask = ask
        self._calls: dict[tuple[int, int], CallLine] = {}
        self._children: dict[tuple[str, int, int], CallLine] = {}
        self._one_line = Lock()
        self._streamed = False
        self._at_start = True

    def approve(self, question: Question) -> Reply | None:
        """Ask whether a call may be made."""
        if self._ask is None:
            return None
        for line in self._about(question):
            self.line(line)
        always = f", [a]lways {' and '.join(offer.rule for offer in question.offers)}" if question.offers else ""
        while True:
            answer = self._ask(f"allow? [y]es{always}, [n]o (or say why not): ")
            if answer is None:
                return None
            word = answer.strip().lower()
            if word in ("y", "yes"):
                return Reply(decision="once")
            if word in ("a", "always") and question.offers:
                return Reply(decision="always")
            if word:
                return Reply(decision="reject", text="" if word in ("n", "no") else answer.strip())

    def ask(self, question: str, options: tuple[str, ...]) -> str | None:
        """Ask what the model wants to know."""
        if self._ask is None:
            return None
        self.line(self._style.paint(clean(question), "bold"))
        for number, option in enumerate(options, start=1):
            self.line(f"  {number}. {printable(option)}")
        answer = self._ask("answer (or a number): " if options else "answer: ")
        if answer is None:
            return None
        text = answer.strip()
        if text.isdecimal() and 1 <= int(text) <= len(options):
            return options[int(text) - 1]
        return text or None

    def heard(self, event: Event, state: RunState) -> None:
        """Say what a person wants to know of it."""
        if isinstance(event, kinds.ModelCalled):
            self._streamed = False
        elif isinstance(event, kinds.ModelReplied):
            self._replied(event)
        elif isinstance(event, kinds.ToolStarted):
            self._calls[event.step, event.index] = begun(event)
        elif isinstance(event, kinds.ToolFinished):
            self._tool(event, state)
        elif isinstance(event, conversing.ChildStarted):
            self._note(f"{event.name} begins: {event.goal}")
        elif isinstance(event, conversing.ChildFinished):
            self._note(child_words(event))
        elif isinstance(event, conversing.WindowFilling | conversing.HistoryCompacted) and not is_answer(event):
            self._note(window_words(event))
        elif isinstance(event, conversing.SessionChanged):
            for words in skill_words(event):
                self._note(words)
        elif isinstance(event, conversing.BackgroundEnded):
            self._note(background_words(event, state))
        elif isinstance(event, conversing.TodosChanged):
            done = sum(1 for item in state.talk.todos.values() if isinstance(item, dict) and item.get("done"))
            self._note(f"todos: {done} of {len(state.talk.todos)} done")

    def _replied(self, event: kinds.ModelReplied) -> None:
        if event.text and not self._streamed:
            self.delta(event.text)
        self.finish_line()
        if unseen := unseen_words(event):
            self._note(unseen)

    def child_heard(self, name: str, event: Event, state: RunState) -> None:
        """Say what a subagent has just done; several of them tell it in threads of their own."""
        key = (state.identity.run_id, event.step, event.index) if isinstance(event, _CALLS) else ("", 0, 0)
        with self._one_line:
            if isinstance(event, kinds.ToolStarted):
                self._children[key] = begun(event)
            elif isinstance(event, kinds.ToolFinished):
                line = self._children.pop(key, None) or unstarted(event, state)
                self._note(child_progress(name, ended(line, event), state))

    def delta(self, text: str) -> None:
        """Print text as it streams in."""
        text = clean(text)
        if not text:
            return
        self._streamed = True
        self._at_start = text.endswith("\n")
        self._out.write(text)
        self._out.flush()

    def line(self, text: str) -> None:
        """Print a line of its own."""
        self.finish_line()
        self._out.write(f"{text}\n")
        self._out.flush()

    def finish_line(self) -> None:
        """End the line that streaming text stands on."""
        if not self._at_start:
            self._out.write("\n")
            self._out.flush()
            self._at_start = True

    def _tool(self, event: kinds.ToolFinished, state: RunState) -> None:
        running = self._calls.pop((event.step, event.index), None) or unstarted(event, state)
        line = ended(running, event)
        sign, colour = _SIGNS.get(line.status, ("note", "dim"))
        text = printable(line.text)
        shown = cut(text, self._style.columns - 4) if self._style.columns > 24 else text
        self.line(f"  {self._style.paint(self._style.sign(sign), colour)} {self._style.paint(shown, 'dim')}")

    def _note(self, text: str) -> None:
        self.line(f"  {self._style.sign('note')} {self._style.paint(printable(text), 'dim')}")

    def _about(self, question: Question) -> list[str]:
        head = f"{question.tool or 'hook'}: {question.text}" if question.tool else question.text
        lines = [self._style.paint(line, "bold") for line in printable_lines(head)]
        lines.append(f"  {printable(question.reason)}")
        diff = printable_lines(question.diff)
        lines += [self._coloured(line) for line in diff[:_DIFF_SHOWN]]
        lines += [f"  ... {len(diff) - _DIFF_SHOWN} lines more"] if len(diff) > _DIFF_SHOWN else []
        for offer in question.offers:
            lines.append(f"  always would allow {offer.rule}: {'; '.join(offer.matches)}")
            if offer.still_asked:
                lines.append(f"  still asked: {'; '.join(offer.still_asked)}")
        return lines

    def _coloured(self, line: str) -> str:
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
        return f"  {self._style.paint(line, colour)}"
