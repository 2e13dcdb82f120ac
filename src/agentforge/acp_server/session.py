"""One session of an editor: a conversation, the mode it is in, and the thread that works on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from acp.helpers import update_agent_message_text, update_current_mode

from agentforge.acp_server.link import Editor, Link
from agentforge.acp_server.tasks import work_on_task
from agentforge.acp_server.updates import Teller, Update, history, usage_of
from agentforge.acp_server.words import MODES, Said, commands_now, options_now
from agentforge.app.sessions.chat import Chat, ChatOptions, TurnResult
from agentforge.app.slash import run_slash
from agentforge.app.slash.command import is_command
from agentforge.app.subagents.swarm import investigate
from agentforge.cancellation import Cancellation
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, ConflictError, ModelNotConfigured, UsageError
from agentforge.events import kinds
from agentforge.events.kinds.event import Event
from agentforge.safety.policy.modes import Mode

_STOPS = {"completed": "end_turn", "blocked": "refusal", "interrupted": "cancelled"}
_TOKENS = ("budget_tokens", "budget_usd", "context")
FACE_MODE = "face_mode"


class EditorSession:
    """What the editor opened. All work on the conversation is done in one thread of its own.

    Args:
        settings: gives the settings of the folder, with what the editor added.
    Raises:
        AgentForgeError: the session cannot be opened.
    """

    def __init__(
        self, options: ChatOptions, link: Link, *, settings: Callable[[], Settings], environ: Mapping[str, str]
    ) -> None:
        self.link = link
        self.environ = environ
        self.settings = settings
        self.editor = Editor(link)
        self.stop_sign = Cancellation()
        self.busy = False
        self.chat = Chat.open(options, self.editor, settings=settings(), environ=environ)
        link.session = self.chat.session_id
        self.editor.teller = Teller(self.root, self.chat.log.blobs.get)
        self.editor.window = lambda: self.chat.workshop.sizing.holding().total
        self.editor.state = self.chat.state
        self.editor.before = self._check_stop
        self.worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="session")
        self.mode = self._kept_mode()
        self._wanted: dict[str, object] = {}

    @property
    def root(self) -> Path:
        """The folder that it works in."""
        return self.chat.workshop.root

    def opening(self, *, replays: bool) -> list[Update]:
        """What the editor is told when the session is open."""
        shown: list[Update] = list(history(self.chat.state.talk, self.root)) if replays else []
        usage = [usage_of(self.chat.state, window=self.editor.window())] if replays else []
        notes = [update_agent_message_text(f"{note}\n\n") for note in self.chat.notes]
        return [*shown, *usage, *notes, commands_now()]

    def begin(self) -> None:
        """A prompt has come: from now on `stop` is meant for it."""
        self.busy, self.stop_sign = True, Cancellation()

    def prompt(self, said: Said) -> str:
        """Work on a prompt to its end.

        Returns:
            The protocol's stop reason.
        Raises:
            AgentForgeError: what broke it off.
        """
        try:
            self._apply()
            if self.stop_sign.cancelled:
                return "cancelled"
            if self.chat.state.talk.open:
                self.chat.drop(reason="a new message came")
            reason = self._prompted(said)
            return "cancelled" if self.stop_sign.cancelled else reason
        except KeyboardInterrupt:
            return "cancelled"
        finally:
            self.busy = False

    def stop(self) -> None:
        """Stop the turn that goes on; from any thread."""
        self.stop_sign.cancel()
        self.chat.stop()

    def set_mode(self, mode: str) -> None:
        """Go on in another mode, from the next prompt on.

        Raises:
            UsageError: there is none of that name.
        """
        if mode not in MODES:
            raise UsageError(f"there is no mode {mode!r}", hint="one of " + ", ".join(MODES))
        self.mode = mode
        self._change({FACE_MODE: mode, **({"work_mode": mode} if mode in ("plan", "build") else {})})

    def set_option(self, option: str, value: str) -> None:
        """Choose an option.

        Raises:
            UsageError: there is none of that name, or it cannot have that value.
        """
        if option == "mode":
            self.set_mode(value)
        elif option == "approval":
            if value not in list(Mode):
                raise UsageError(f"there is no approval mode {value!r}", hint="one of " + ", ".join(Mode))
            self._change({"approval": value})
        elif option == "model":
            self._change({"model": value})
        else:
            raise UsageError(f"there is no option {option!r}", hint="one of mode, approval, model")

    def options(self) -> list[Any]:
        """The options as they are now."""
        return list(options_now(self.chat, mode=self.mode, models=self._models()))

    def say_line(self, text: str) -> None:
        """Tell the person something that is no model's word."""
        self.link.send(update_agent_message_text(text))

    def close(self) -> None:
        """Stop and let go of the session; it can be resumed."""
        self.link.close()
        self.stop()
        self.worker.shutdown(wait=True)
        self.chat.close()

    def _check_stop(self, event: Event) -> None:
        """A stop that came before the turn stood under its own sign is made up for at its first model call."""
        if self.stop_sign.cancelled and isinstance(event, kinds.ModelCalled):
            self.chat.stop()

    # -- below: one prompt

    def _prompted(self, said: Said) -> str:
        if is_command(said.text):
            return self._slash(said)
        if self.mode == "task":
            return work_on_task(self, said.text)
        if self.mode == "swarm":
            return self._swarm(said.text)
        return self._said(said)

    def _said(self, said: Said) -> str:
        if not said.text and not said.notes:
            raise UsageError("the prompt is empty", hint="write what you want")
        try:
            result = self.chat.say(said.text or "(see the files that go along)", notes=said.notes)
        except AgentForgeError as error:
            self.chat.drop(outcome="failed", reason=str(error))
            raise
        if result.error is not None:
            raise result.error
        return self._ended(result)

    def _ended(self, result: TurnResult) -> str:
        if result.outcome in ("limit", "stuck", "blocked"):
            self.say_line(f"\n\n({result.outcome}: {result.reason})")
        limit = result.reason.partition(":")[0]
        return _STOPS.get(result.outcome) or ("max_tokens" if limit in _TOKENS else "max_turn_requests")

    def _swarm(self, text: str) -> str:
        try:
            said = investigate(self.chat, text)
        except ConflictError:
            talk = self.chat.state.talk
            if talk.outcome not in ("limit", "stuck", "blocked"):
                raise
            return self._ended(TurnResult(text="", outcome=talk.outcome, reason=talk.reason))
        evidence = said.rpartition("\n\n")[2]
        self.say_line(f"\n\n{evidence}")
        return "end_turn"

    def _slash(self, said: Said) -> str:
        reply = run_slash(self.chat, said.text)
        if reply.text:
            self.say_line(reply.text)
        work_mode = self.chat.workshop.work_mode
        if self.mode in ("plan", "build") and work_mode in MODES and work_mode != self.mode:
            self.mode = work_mode
            self.link.send(update_current_mode(work_mode))
        if reply.action == "say":
            return self._said(Said(text=reply.prompt, notes=said.notes))
        if reply.action == "open":
            self.say_line("\n\nOpen it from your editor's list of sessions.")
        return "end_turn"

    # -- below: what is switched

    def _change(self, changes: dict[str, object]) -> None:
        """Switch now, or when the turn that goes on has ended."""
        self._wanted.update(changes)
        if not self.busy:
            self.worker.submit(self._apply).result()

    def _apply(self) -> None:
        changes, self._wanted = self._wanted, {}
        now = self.chat.state.talk.settings
        changed = {name: value for name, value in changes.items() if now.get(name) != value}
        if changed:
            self.chat.change(**changed)

    def _kept_mode(self) -> str:
        kept = str(self.chat.state.talk.settings.get(FACE_MODE) or self.chat.workshop.work_mode)
        return kept if kept in MODES else "build"

    def _models(self) -> list[str]:
        try:
            now = str(self._wanted.get("model") or self.chat.workshop.model().name)
        except ModelNotConfigured:
            return []
        chain = now.split("+")
        fallbacks = self.settings().get("model.fallbacks") or []
        others = [str(name) for name in fallbacks] if isinstance(fallbacks, list) else []
        return list(dict.fromkeys([chain[0].strip(), *others]))
