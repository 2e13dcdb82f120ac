"""Escalations: what waits for a human, and recording the answer. `resume` goes on with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agentforge.app.composition.run_result import RunResult
from agentforge.app.composition.task_queries import listing
from agentforge.app.sync.travel import shared
from agentforge.app.tasks.limit_changes import used
from agentforge.app.tasks.log_heads import LEAVING_S, task_log
from agentforge.config.settings import Settings
from agentforge.errors import AgentForgeError, ConflictError, UsageError
from agentforge.events import kinds
from agentforge.events.kinds.choices import OWN_WORDS, Choice, by_itself, choices_of, taken
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.stages import ORDER
from agentforge.safety.text.redaction import hidden_keys
from agentforge.store.log.reader import load_state
from agentforge.store.log.run_log import RunLog
from agentforge.views.words import command_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An open escalation and where it belongs; `address` is unique."""

    item: Escalation
    task_id: str
    folder: Path

    @property
    def address(self) -> str:
        """`TASK.E1`."""
        return f"{self.task_id}.{self.item.escalation_id}"


def pending(cwd: Path) -> list[Waiting]:
    """All open escalations of the repository, oldest first."""
    return [row for row in escalations(cwd, waiting_only=True) if row.item.resolution is None]


def escalations(cwd: Path, *, waiting_only: bool = False) -> list[Waiting]:
    """The escalations of the repository, open and answered, oldest first; a damaged run is left out (`status` names it).

    Args:
        waiting_only: only of runs that wait for a human.
    """
    found: list[Waiting] = []
    for row in listing(cwd):
        if row.outcome == "damaged" or (waiting_only and row.outcome not in ("escalated", "paused")):
            continue
        state = load_state(row.folder)
        found += [
            Waiting(item=item, task_id=state.identity.run_id, folder=row.folder)
            for item in state.people.escalations.values()
        ]
    return sorted(found, key=lambda row: row.item.raised_at)


def resolve(
    cwd: Path,
    escalation_id: str,
    *,
    decision: kinds.Decision,
    text: str = "",
    by: str = "user",
    reopen: str = "",
    settings: Settings | None = None,
    environ: Mapping[str, str] | None = None,
) -> RunResult:
    """Record a human's answer; `resume` goes on with it.

    Args:
        escalation_id: `TASK.E1`, or `E1` when only one task waits with that id.
        reopen: the earlier stage that is done again with the answer.
        settings: the answer travels where they name a remote.
        environ: None = this process's own.
    Raises:
        ConflictError: it was answered already.
        IntegrityError: the task's log is not what was written.
        UsageError: there is no such escalation, the id fits several, or the question does not offer that answer.
    """
    environ = os.environ if environ is None else environ
    found = [row for row in pending(cwd) if escalation_id in (row.item.escalation_id, row.address)]
    if not found:
        raise _no_escalation(cwd, escalation_id)
    if len(found) > 1:
        options = ", ".join([*(row.address for row in found[:5]), *(["..."] if len(found) > 5 else [])])
        raise UsageError(f"{escalation_id} matches several tasks: {options}", hint="use the long form")
    row = found[0]
    with task_log(row.folder, environ, leaving_s=LEAVING_S) as log:
        if log.state.people.escalations[row.item.escalation_id].resolution is not None:  # somebody was faster
            raise _no_escalation(cwd, row.address)
        choice = _choice(log.state, row, decision=decision, text=text, reopen=reopen)
        text = hidden_keys(choice.text or text, environ)
        with shared(log, settings):
            record_answer(log, row.item, decision=choice.decision, text=text, by=by, reopen=reopen)
        return RunResult(state=log.state, folder=row.folder, head=log.head, records=log.length)


def record_answer(
    log: RunLog, item: Escalation, *, decision: kinds.Decision, text: str, by: str, reopen: str = ""
) -> None:
    """Record an answer; one that grants a limit raises it."""
    if item.kind == "limit" and decision in ("approve", "answer"):
        log.append(kinds.RunResumed(pid=0, limits=_granted(log.state, item)))
    event = kinds.EscalationResolved(
        escalation_id=item.escalation_id, decision=decision, text=text, by=by, reopen=reopen
    )
    log.append(event)


def answer_by_itself(log: RunLog, item: Escalation, *, decision: kinds.Decision, text: str, by: str) -> kinds.Decision:
    """Record what holds when nobody answers, as far as the question offers it; else the task ends.

    Returns:
        What was recorded.
    """
    choice = by_itself(item, decision)
    record_answer(log, item, decision=choice.decision, text=choice.text or text, by=by)
    return choice.decision


def stages_before(state: RunState, item: Escalation) -> list[str]:
    """The stages that an answer to an escalation may open again."""
    names = list(state.progress.stages)
    known = names[: names.index(item.stage)] if item.stage in names else []
    return [name for name in known if state.progress.stages[name].status == "verified" and name != ORDER[0]]


def _choice(state: RunState, row: Waiting, *, decision: kinds.Decision, text: str, reopen: str) -> Choice:
    """The choice that is taken; any earlier stage that has passed can be opened again, whichever the question names.

    Raises:
        UsageError: the question does not offer it, or it wants words and got none.
    """
    _refuse_reopening(state, row.item, reopen)
    anywhere = replace(OWN_WORDS, reopen=reopen) if reopen and decision == "answer" else None
    found = taken(row.item, decision=decision, text=text, reopen=reopen) or anywhere
    silent = found is not None and found.words and not text.strip()
    if found is not None and not silent:
        return found
    offered = "; ".join(command_of(one, row.item, task_id=row.task_id) for one in choices_of(row.item))
    if silent:
        option = f"--{decision}"
        raise UsageError(f"{option} needs a text: {row.item.question}", hint=f"pass {option} TEXT")
    given = f"--answer {text.strip()!r}" if decision == "answer" else f"--{decision}"
    raise UsageError(f"{row.address} does not offer {given}: {row.item.question}", hint=f"choose: {offered}")


def _refuse_reopening(state: RunState, item: Escalation, reopen: str) -> None:
    possible = stages_before(state, item)
    if not reopen or reopen in possible:
        return
    known = f"one of {', '.join(possible)}" if possible else "no stage before it is done; answer without --reopen"
    raise UsageError(f"{item.escalation_id} cannot open {reopen!r} again", hint=known)


def _granted(state: RunState, item: Escalation) -> dict[str, object]:
    """The limit that ran out, raised so that as much again may be used."""
    name = item.reason.split(":", 1)[0]
    name = {"deadline": "deadline_s"}.get(name, name)
    value = getattr(state.brief.limits, name, None)
    if value is None:
        return {}
    return {name: value + max(used(state, name), value)}


def _no_escalation(cwd: Path, escalation_id: str) -> AgentForgeError:
    for row in escalations(cwd):
        if escalation_id in (row.item.escalation_id, row.address):
            ended = load_state(row.folder).progress.outcome
            if ended:
                return ConflictError(f"{row.address} is closed: {row.task_id} has ended ({ended})")
            return ConflictError(
                f"{row.address} was answered already", hint=f"continue with: agentforge resume {row.task_id}"
            )
    return UsageError(f"there is no escalation {escalation_id!r}", hint="see: agentforge escalations list")
