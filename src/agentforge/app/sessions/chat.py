"""The use cases of a conversation: open a session, say something, stop, switch. Every face stands on this and nothing below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.agent import kept_pictures
from agentforge.app.composition.project import UNTRUSTED
from agentforge.app.sessions.approvals import put_plan
from agentforge.app.sessions.commands import run_own
from agentforge.app.sessions.inbox import Inbox
from agentforge.app.sessions.logs import begin_log, open_log
from agentforge.app.sessions.person import Desk, Person
from agentforge.app.sessions.project_context import left_out, words_about
from agentforge.app.sessions.services import Workshop
from agentforge.app.sessions.turn_work import TurnWork
from agentforge.app.subagents.swarm import with_evidence
from agentforge.cancellation import Cancellation, under
from agentforge.config.settings import Settings
from agentforge.context.conversation import user_tokens
from agentforge.errors import AgentForgeError, ConflictError, ContextTooLong, ModelError
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.hooks import Outcome
from agentforge.messages import Picture
from agentforge.safety.text.redaction import redact
from agentforge.session import SessionRuntime, run_turn
from agentforge.store.log.run_log import RunLog
from agentforge.store.sessions.folders import forget

if TYPE_CHECKING:
    from agentforge.app.sessions.background import Job

_SMALLER = 6
"""How often a request that was too long is built anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How a session was asked for.

    Attributes:
        cwd: the folder that the agent works in.
        session: id (or its beginning) of a session to go on with; "" = a new one.
        model: `provider/name`, None = by the settings.
        approval: one of the six modes, "" = by the settings.
        work_mode: "build", "plan" or "swarm"; "" = as the session was, "build" for a new one.
        max_turns: model calls for one message, 0 = by the settings.
        limits: those of events.state.Limits that were set.
        allowed_tools: names or patterns, None = all of the mode.
        more_system: instructions of the user's that stand behind all others.
        bare: no instructions of the project, no skills, no memory, no MCP servers; the fewest tools.
    """

    cwd: Path
    session: str = ""
    name: str = ""
    model: str | None = None
    approval: str = ""
    work_mode: str = ""
    max_turns: int = 0
    limits: Mapping[str, int | float | None] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] | None = None
    bare: bool = False
    more_system: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn ended.

    Attributes:
        text: what the assistant said last.
        outcome: of the turn (events.conversing.TurnOutcome).
        error: what broke it off; None when nothing did.
        swarm: in the swarm's mode: {subagents, found, missing, told}: what became of the evidence; {} otherwise.
        structured: the answer as JSON where it was asked for by a schema.
    """

    text: str
    outcome: str
    reason: str = ""
    error: AgentForgeError | None = None
    swarm: Mapping[str, object] = field(default_factory=dict)
    structured: object = None


class Chat:
    """One session that this process drives. Use as a context manager, or close it.

    Attributes:
        jobs: tasks of the pipeline that were started from here.
        pasted: images that were pasted, by what stands for them in a message.
        inbox: what the person says and switches while a turn goes on.
        left_out: what the project brings and nobody agreed to, by name.
        work: what the turn that goes on, or went on last, changed and checked.
        notes: what the person should know about how the session was opened, such as what is left out or was put right in it.
    """

    def __init__(
        self, log: RunLog, person: Person, options: ChatOptions, *, settings: Settings, environ: Mapping[str, str]
    ) -> None:
        self.log = log
        self.options = options
        self.desk = Desk(person, step=lambda: log.state.progress.turn.step)
        self.workshop: Workshop = Workshop(log, self.desk, options, settings=settings, environ=environ)
        self.inbox = Inbox(self)
        self.pasted: dict[str, Picture] = {}
        self.workshop.arrived = self.inbox.events
        self.workshop.put_plan = partial(put_plan, self)
        self.jobs: list[Job] = []
        self.left_out: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self._stop = Cancellation()
        self.work = TurnWork(self.workshop)
        log.subscribe(self.work.heard)
        log.subscribe(self.desk.heard)
        log.subscribe(person.heard)

    @classmethod
    def open(cls, options: ChatOptions, person: Person, *, settings: Settings, environ: Mapping[str, str]) -> Chat:
        """Begin a session, or go on with one.

        Raises:
            UsageError: no such session.
            IntegrityError: it was altered or damaged, or is a snapshot that cannot be read.
            LockedError: another process has it open.
        Side effects: a run folder in the data directory.
        """
        if options.session:
            log, notes = open_log(options, settings=settings, environ=environ)
        else:
            log, notes = begin_log(options, settings=settings, environ=environ), ()
        chat = cls(log, person, options, settings=settings, environ=environ)
        chat.left_out = left_out(chat.workshop.root, environ, bare=options.bare)
        chat.notes = (*notes, *filter(None, [words_about(chat.left_out)]))
        return chat

    @property
    def state(self) -> RunState:
        """What the log folds to."""
        return self.log.state

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.log.state.identity.run_id

    @property
    def notices(self) -> tuple[str, ...]:
        """What of the project and of skills was left out so far, and why, beside what `notes` told; for people."""
        return tuple(one for one in self.workshop.around.project.notices if not one.startswith(UNTRUSTED))

    def say(
        self,
        text: str,
        *,
        notes: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
        pictures: tuple[Picture, ...] = (),
    ) -> TurnResult:
        """Begin a turn with what the user said and drive it to its end.

        Args:
            notes: what goes with it.
            sources: where what nobody vouches for in the notes came from (events.taint).
            pictures: images that go with it.
        Raises:
            ConflictError: a turn is open: `go_on` or `drop` it first.
            UsageError: text and notes do not fit into the model's window; nothing of them is ever shortened.
            KeyboardInterrupt: the user stopped it; the turn is closed, the session goes on.
        """
        if self.state.talk.open:
            raise ConflictError("the last turn was cut off", hint="go on with it, or drop it")

        turn = self.state.talk.turn + 1
        secrets = self.workshop.secrets
        plain = redact(text, secrets=secrets).text
        chosen = self.workshop.around.skills.chosen(plain)
        if chosen.active != self.workshop.around.skills.active:
            self.change(skills=list(chosen.active), skill_matches=list(chosen.told))
        notes = (*notes, *chosen.notes)
        tools = list(self.workshop.tools())
        if self.state.talk.settings.get("tools") != tools:
            self.change(tools=tools)
        hooks = self.workshop.hooks
        hooked = hooks.before_agent(plain) if hooks is not None and hooks.has("before_agent") else None
        notes = (*notes, *(f"A hook of the user's says:\n{words}" for words in (hooked.context if hooked else ())))
        plain_notes = tuple(redact(note, secrets=secrets).text for note in notes)
        self.workshop.sizing.check_room(plain, *plain_notes)
        self.log.append(
            kinds.UserSaid(turn=turn, text=plain, notes=plain_notes, sources=sources, pictures=self.kept(pictures))
        )
        if hooked is not None and not self._agreed(hooked):
            reason = f"a hook refused the message: {hooked.reason}"
            self.drop(outcome="blocked", reason=reason)
            return TurnResult(text="", outcome="blocked", reason=reason)
        ran = len(self.state.talk.children)
        result = self.go_on()
        if self.workshop.work_mode != "swarm" or result.outcome != "completed":
            return result

        return with_evidence(self, result, since=ran)

    def kept(self, pictures: tuple[Picture, ...]) -> tuple[Mapping[str, object], ...]:
        """Images as they are recorded: their bytes lie beside the log."""
        return kept_pictures(pictures, self.log.blobs)

    def _agreed(self, hooked: Outcome) -> bool:
        """Record what the hooks did before the turn; whether they, and the person where they ask, let it begin."""
        for run in hooked.runs:
            self.log.append(run)
        if hooked.verdict == "ask":
            return self.workshop.confirm(hooked.reason)
        return hooked.verdict != "deny"

    def go_on(self) -> TurnResult:
        """Drive the open turn to its end, also one that a process which died left open."""
        runtime = self.workshop.runtime()
        self._stop = Cancellation()
        try:
            with under(self._stop):
                state = self._driven(runtime)
        except KeyboardInterrupt:
            self.drop(outcome="interrupted", reason="the user stopped it")
            raise
        except ModelError as error:
            self._tell_hooks(error)
            self.drop(outcome="failed", reason=str(error))
            return TurnResult(text=self.state.talk.last_words(), outcome="failed", reason=str(error), error=error)
        return TurnResult(text=state.talk.last_words(), outcome=state.talk.outcome, reason=state.talk.reason)

    def _driven(self, runtime: SessionRuntime) -> RunState:
        """Drive the turn; a request that was too long is built anew, smaller (Talk.token_factor)."""
        for _ in range(_SMALLER):
            try:
                return run_turn(self.log, runtime)
            except ContextTooLong as error:
                self._check_refused(error)
        return run_turn(self.log, runtime)

    def _check_refused(self, error: ContextTooLong) -> None:
        """See whether a smaller request can be built: what the user said and attached is never shortened.

        Raises:
            ContextTooLong: it cannot; the error says how much that is and what to do.
        """
        talk = self.state.talk
        said = user_tokens(talk.entries)
        if self.workshop.sizing.fixed() + said < talk.refused_tokens:
            return
        error.hint = (
            f"what you said and attached holds {said:,} tokens and is never shortened: /undo or /new and attach less, choose"
            " a model with a larger window, or say how large it is: agentforge config set model.context_window N"
        )
        raise error

    def _tell_hooks(self, error: ModelError) -> None:
        hooks = self.workshop.hooks
        for run in hooks.on_error(self.workshop.scrubbed(str(error))).runs if hooks is not None else ():
            self.log.append(run)

    def run_command(self, command: str) -> kinds.UserRan:
        """Run a command line of the person's own and show the model what came of it.

        Raises:
            ConflictError: a turn is open.
            ToolchainError: the shell cannot be started.
            KeyboardInterrupt: the user stopped it; nothing is recorded.
        """
        if self.state.talk.open:
            raise ConflictError("the agent is still working", hint="stop it first")
        self._stop = Cancellation()
        with under(self._stop):
            ran = run_own(self.workshop, command)
        self.log.append(ran)
        if ran.left_running:
            self.log.append(kinds.BackgroundStarted(name=ran.left_running, command=ran.command))
        return ran

    def stop(self) -> None:
        """Stop the turn from another thread: its children are killed, `say` ends there with KeyboardInterrupt."""
        self._stop.cancel()

    def drop(self, *, outcome: kinds.TurnOutcome = "interrupted", reason: str = "dropped") -> None:
        """Close the open turn where it stands; the history stays valid."""
        if self.state.talk.open:
            said = self.workshop.scrubbed("".join(self.desk.begun))
            self.log.append(kinds.TurnFinished(turn=self.state.talk.turn, outcome=outcome, reason=reason, said=said))

    def change(self, **changes: object) -> None:
        """Switch something for the rest of the session: model, approval, work_mode, name, ..."""
        self.log.append(kinds.SessionChanged(changes=changes))

    def close(self) -> None:
        """Let go of the session; it can be resumed. One in which nothing was said is not kept."""
        for event in self.workshop.close():
            self.log.append(event)
        empty = self._is_empty()
        self.log.close()
        if empty:
            forget(self.log.folder)

    def _is_empty(self) -> bool:
        """Nothing was said, named, saved, set or started: there is nothing to go on with."""
        talk = self.state.talk
        kept = talk.turn or talk.entries or talk.checkpoints or talk.todos or talk.settings.get("name") or self.jobs
        saved = self.log.folder.parent.parent / "sessions" / f"{self.session_id}.json"
        return not kept and not saved.exists()

    def __enter__(self) -> Chat:
        """Return the chat itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close it."""
        self.close()
