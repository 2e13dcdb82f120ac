"""Between the engine's threads and the editor: updates go out in order, questions wait for their answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, TypeVar

from acp.helpers import text_block, tool_content, tool_diff_content
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from agentforge.acp_server.updates import Teller, Update, kind_of, title_of, usage_of
from agentforge.app.sessions.approvals import change_of_call
from agentforge.app.sessions.person import Question, Reply
from agentforge.cancellation import interruptible
from agentforge.events import kinds
from agentforge.events.kinds.event import Event
from agentforge.events.state.run_state import RunState

if TYPE_CHECKING:
    from acp.interfaces import Client


T = TypeVar("T")


class Link:
    """The editor as one session sees it. Its methods are called in the engine's threads.

    Args:
        loop: where the connection lives.
    """

    def __init__(self, client: Client, loop: asyncio.AbstractEventLoop, *, session: str = "") -> None:
        self.session = session
        self._client = client
        self._loop = loop
        self._closed = False

    def close(self) -> None:
        """Nobody listens any more: updates are dropped, questions have no answer."""
        self._closed = True

    def send(self, *updates: Update) -> None:
        """Send updates; back when the connection took them, so that nothing overtakes anything."""
        for update in updates:
            future = self._begun(self._client.session_update(session_id=self.session, update=update))
            self._result(future)

    def ask(self, call: ToolCallUpdate, options: list[PermissionOption]) -> str:
        """Put a question and wait.

        Returns:
            The id of the option that was chosen, "" for none.
        Raises:
            KeyboardInterrupt: the turn was stopped meanwhile.
        """
        request = self._client.request_permission(session_id=self.session, tool_call=call, options=options)
        future = self._begun(request)
        if future is None:
            return ""
        with interruptible(lambda: _cancel(future)):
            answer = self._result(future)
        chosen = answer.outcome if answer is not None else None
        return chosen.option_id if isinstance(chosen, AllowedOutcome) else ""

    def _begun(self, work: Coroutine[Any, Any, T]) -> Future[T] | None:
        if self._closed:
            work.close()
            return None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _result(self, future: Future[T] | None) -> T | None:
        try:
            return future.result() if future is not None else None
        except ConnectionError:
            self._closed = True
        except CancelledError:  # withdrawn by a stop, or with the connection
            return None
        return None


class Editor:
    """The person behind the editor, as the engine sees them.

    Attributes:
        teller: makes updates of events; None before the session is open.
        window: tokens that a request may hold.
        state: of the session, once something happened.
        before: told every event before the editor is.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self.teller: Teller | None = None
        self.window: Callable[[], int] = lambda: 0
        self.state: RunState | None = None
        self.before: Callable[[Event], None] = lambda _event: None

    def approve(self, question: Question) -> Reply | None:
        """Ask for permission: once, always by the narrow rule that is named, or not."""
        options = [PermissionOption(option_id="once", name="Allow once", kind="allow_once")]
        if question.offers:
            rules = ", ".join(offer.rule for offer in question.offers)
            options.append(
                PermissionOption(option_id="always", name=f"Always allow {rules} in this session", kind="allow_always")
            )
        options.append(PermissionOption(option_id="reject", name="Reject", kind="reject_once"))
        call = ToolCallUpdate(
            tool_call_id=self._call_id(),
            title=title_of(question.tool, {"command": question.text}),
            kind=kind_of(question.tool),  # type: ignore[arg-type] # one of the protocol's kinds
            status="pending",
            content=list(self._shown(question)),
        )
        chosen = self.link.ask(call, options)
        if chosen in ("once", "always"):
            return Reply(decision="always" if chosen == "always" else "once")
        return Reply(decision="reject")

    def ask(self, question: str, options: tuple[str, ...]) -> str | None:
        """Let the person choose; without choices the question stands in the text, and the next message answers it."""
        if not options:
            return None
        call = ToolCallUpdate(
            tool_call_id=self._call_id(),
            title=question[:200],
            kind="think",
            status="pending",
            content=[tool_content(text_block(question))],
        )
        rows = [
            PermissionOption(option_id=str(number), name=text[:200], kind="allow_once")
            for number, text in enumerate(options)
        ]
        chosen = self.link.ask(call, [*rows, PermissionOption(option_id="none", name="No answer", kind="reject_once")])
        return options[int(chosen)] if chosen.isdecimal() and int(chosen) < len(options) else None

    def heard(self, event: Event, state: RunState) -> None:
        """Tell the editor what happened."""
        self.state = state
        self.before(event)
        if self.teller is None:
            return
        self.link.send(*self.teller.told(event, state))
        if isinstance(event, kinds.ModelReplied | kinds.ChildFinished):
            self.link.send(usage_of(state, window=self.window()))

    def delta(self, text: str) -> None:
        """Pass a piece of text on."""
        if self.teller is not None:
            self.link.send(self.teller.delta(text))

    def _call_id(self) -> str:
        if self.state is None or self.teller is None:
            return "question"
        return self.teller.call_id(self.state.progress.turn.step, self.state.progress.turn.done)

    def _shown(self, question: Question) -> Iterator[Any]:
        """The reason, and the change as a diff where the call writes a file."""
        yield tool_content(text_block(f"{question.text}\n\n{question.reason}"))
        change = self._change()
        if change is not None:
            path, before, after = change
            yield tool_diff_content(path, after, before)
        elif question.diff:
            yield tool_content(text_block(f"```diff\n{question.diff}\n```"))

    def _change(self) -> tuple[str, str | None, str] | None:
        if self.state is None or self.teller is None:
            return None
        calls, done = self.state.progress.turn.calls, self.state.progress.turn.done
        if done >= len(calls):
            return None
        return change_of_call(calls[done].name, calls[done].arguments, self.teller.root)


def _cancel(future: Future[Any]) -> None:
    future.cancel()
