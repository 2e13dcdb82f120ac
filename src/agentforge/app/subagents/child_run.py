"""One run of a subagent: its own log and context, its parent's person, rights and limits."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Timer
from typing import Protocol, runtime_checkable

from agentforge import __version__
from agentforge.app.sessions.chat_limits import Sizing
from agentforge.app.sessions.person import ONE_QUESTION, Desk, Nobody, Person, Question, Reply
from agentforge.app.sessions.services import Workshop
from agentforge.app.subagents.delegation import usage_of
from agentforge.cancellation import Cancellation, check, interruptible, under
from agentforge.config.paths import data_dir
from agentforge.errors import AgentForgeError
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.safety.policy.part import Policy
from agentforge.session import PLAN_TOOLS, SPAWNS, Subagent, offered, run_child_turn, subagent_prompt
from agentforge.store.log.reader import LOG, read
from agentforge.store.log.records import utc_now
from agentforge.store.log.run_log import RunLog
from agentforge.store.sessions import folders as sessions
from agentforge.store.sessions.views import SessionViews
from agentforge.tools.base import Tool
from agentforge.tools.dispatch.deferral import searchable

_NO_LIMITS: dict[str, object] = dict.fromkeys(("max_steps", "budget_tokens", "budget_usd", "deadline_s"))
"""A subagent has no limits of its own beside turns and time: its parent's hold, and count all of them."""


@runtime_checkable
class Watcher(Protocol):
    """A face that shows what subagents do while they do it."""

    def child_heard(self, name: str, event: Event, state: RunState) -> None:
        """Told every recorded event of a subagent, in the subagent's own thread."""


class LabelledPerson:
    """The parent's person, asked in the name of a subagent."""

    def __init__(self, person: Person, name: str) -> None:
        self._person = person
        self._name = name

    def approve(self, question: Question) -> Reply | None:
        """Put a call to the person; it says who wants it."""
        with ONE_QUESTION:
            check()
            return self._person.approve(replace(question, reason=f"subagent {self._name}: {question.reason}"))

    def ask(self, question: str, options: tuple[str, ...]) -> str | None:
        """Put a question to the person; it says who asks."""
        with ONE_QUESTION:
            check()
            return self._person.ask(f"[{self._name}] {question}", options)

    def heard(self, event: Event, state: RunState) -> None:
        """Tell a face that wants to know."""
        if isinstance(self._person, Watcher):
            self._person.child_heard(self._name, event, state)

    def delta(self, text: str) -> None:
        """A subagent's words are its parent's to read."""
        del text


class ChildWorkshop(Workshop):
    """The parts of a subagent: its parent's, narrowed."""

    def __init__(self, parent: Workshop, log: RunLog, subagent: Subagent) -> None:
        person = LabelledPerson(parent.desk.person, subagent.name)
        present = parent.desk.present
        desk = Desk(person if present else Nobody(heard=person.heard), step=lambda: log.state.progress.turn.step)
        desk.rules = parent.desk.rules
        super().__init__(log, desk, parent.options, settings=parent.settings, environ=parent.environ)
        self.around.project = parent.around.project
        self._parent = parent
        self._subagent = subagent

    @property
    def work_mode(self) -> str:
        """Its parent's, or "plan" where it only looks."""
        return "plan" if self._subagent.looks_only else self._parent.work_mode

    def setting(self, name: str) -> str:
        """A switch of the session."""
        return self._parent.setting(name)

    def system(self) -> str:
        """Its own instructions; nothing of the user's conversation."""
        return subagent_prompt(goal_prompt=self._subagent.goal_prompt, workspace=str(self.root))

    def situation(self, state: RunState) -> str:
        """Nothing but the end, when it is near."""
        left = self._subagent.max_turns - state.progress.turn.steps_in_attempt
        return "This is your last reply: report now, without a tool call." if left <= 1 else ""

    def tools(self) -> dict[str, Tool]:
        """Those that its parent could call now and that it may; never one that starts a subagent."""
        allowed = self._subagent.allowed_tools
        mine = {
            name: tool if allowed is None else replace(tool, deferred=False)  # who names tools wants them described
            for name, tool in self._parent.tools().items()
            if not name.startswith(SPAWNS) and name not in PLAN_TOOLS and (allowed is None or name in allowed)
        }
        found = self.log.state.talk.settings.get("found_tools")
        return searchable(offered(mine, work_mode=self.work_mode), found=found)

    @cached_property
    def sizing(self) -> Sizing:
        """Bounded by its own number of model calls."""
        return Sizing(
            settings=lambda: self.settings,
            options=replace(self.options, max_turns=self._subagent.max_turns),
            talk=lambda: self.log.state.talk,
            system=self.system,
            tools=self.tools,
        )

    def policy(self) -> Policy:
        """Its parent's; what either of them read counts."""
        policy = self._parent.policy()
        ground = replace(policy.ground, root=str(self.root), folder=str(self.root))
        return replace(policy, ground=ground, tainted=policy.tainted or bool(self.log.state.progress.untrusted))


class ChildRun:
    """A subagent from its first word to its report. Use as a context manager.

    Args:
        forbids: why the limits of the session allow no more model calls, "" = go on.
        make: makes its parts; None = its parent's, narrowed.
        place: folder and commit that it works from; None = its parent's.
    Attributes:
        outcome: completed | limit | timeout | failed | interrupted | stuck.
        reason: in words, "" when completed.
    """

    def __init__(
        self,
        parent: Workshop,
        subagent: Subagent,
        *,
        goal: str,
        child: str,
        forbids: Callable[[RunState], str],
        make: Callable[[RunLog], ChildWorkshop] | None = None,
        place: tuple[Path, str] | None = None,
    ) -> None:
        self._subagent = subagent
        self._goal = goal
        self._forbids = forbids
        self._log = _opened(parent, goal=goal, child=child, place=place)
        self._workshop = make(self._log) if make else ChildWorkshop(parent, self._log, subagent)
        self._log.subscribe(self._workshop.desk.person.heard)
        self.outcome = "interrupted"
        self.reason = ""

    @property
    def words(self) -> str:
        """What it said last."""
        return self._log.state.talk.last_words()

    def changed(self) -> tuple[str, ...]:
        """The files that it wrote in its parent's folder."""
        if self._subagent.looks_only:
            return ()

        events = (record.event for record in read(self._log.folder))
        paths = [path for event in events if isinstance(event, kinds.ToolFinished) for path in event.changed]
        return tuple(dict.fromkeys(paths))

    def drive(self) -> None:
        """Run the turn to its end; how it ended is in `outcome`.

        Raises:
            KeyboardInterrupt: it was stopped with its parent.
        """
        if self._log.state.talk.turn == 0:
            said = self._workshop.scrubbed(self._goal)
            self._log.append(kinds.UserSaid(turn=1, text=said, as_stage=self._subagent.name))
        late: list[bool] = []
        try:
            with _deadline(self._subagent.timeout_seconds - self._log.state.progress.active_s, late):
                run_child_turn(self._log, self._workshop.runtime(), forbids=self._forbids)
            self.outcome, self.reason = self._log.state.talk.outcome, self._log.state.talk.reason
        except KeyboardInterrupt:
            if not late:
                self._close("interrupted", "it was stopped")
                raise
            self._close("timeout", f"{self._subagent.timeout_seconds:g} s are over")
        except AgentForgeError as error:
            self._close("failed", str(error))

    def finished(self) -> Event:
        """What its parent records: how it ended and what it used."""
        return replace(usage_of(self._log.state), name=self._subagent.name, outcome=self.outcome)

    def __enter__(self) -> ChildRun:
        """Return the run itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Let go of log and connections."""
        for event in self._workshop.close():
            self._log.append(event)
        self._log.close()

    def _close(self, outcome: str, reason: str) -> None:
        self.outcome, self.reason = outcome, reason
        if self._log.state.talk.open:
            ended: kinds.TurnOutcome = "failed" if outcome == "failed" else "interrupted"
            self._log.append(kinds.TurnFinished(turn=1, outcome=ended, reason=reason))


def _opened(parent: Workshop, *, goal: str, child: str, place: tuple[Path, str] | None) -> RunLog:
    data = data_dir(parent.environ)
    folder: Path = sessions.make_run_folder(data, child)
    versions = {"agentforge": __version__, "python": ".".join(map(str, sys.version_info[:3]))}
    if (folder / LOG).exists():
        log = RunLog.open(folder, clock=utc_now, views=SessionViews)
        log.append(kinds.RunResumed(pid=os.getpid(), versions=versions))
        return log
    state = parent.log.state
    where, base = (str(place[0]), place[1]) if place else (state.identity.repo, state.identity.base_commit)
    first = kinds.RunStarted(
        kind="subagent",
        run_id=child,
        request=parent.scrubbed(goal),
        repo=where,
        base_commit=base,
        worktree=where,
        model=parent.setting("model") or state.brief.model,
        limits=_NO_LIMITS,
        digests=state.identity.digests,
        versions=versions,
        parent=state.identity.run_id,
    )
    return RunLog.create(folder, first, clock=utc_now, views=SessionViews)


@contextmanager
def _deadline(seconds: float, late: list[bool]) -> Iterator[None]:
    """Stop what goes on here after some time; `late` holds something then."""
    sign = Cancellation()

    def over() -> None:
        late.append(True)
        sign.cancel()

    timer = Timer(max(0.0, seconds), over)
    timer.daemon = True
    with interruptible(sign.cancel), under(sign):
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
