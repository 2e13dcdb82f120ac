"""Independent attempts of a run: forks of it where it stands, each with a log and a worktree of its own.

What one of several independent attempts may still use: together they stay within the limits of their task.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agentforge import __version__
from agentforge.app.history.fork import fork_here
from agentforge.app.tasks.limit_changes import GivenLimits, used
from agentforge.app.tasks.log_heads import task_log
from agentforge.app.tasks.runs import resume
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.kinds.candidates import best_of
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.attempts import handed_in, stages_of_attempt
from agentforge.pipeline.model.scope import suite_files
from agentforge.pipeline.model.stage import Json, items
from agentforge.pipeline.plugins.stage_order import names_of
from agentforge.store.log.reader import LOG, LogScan, load_state, read
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.worktree import branch_name, worktree_of


def run_attempts(
    state: RunState, stage: str, *, folder: Path, settings: Settings, environ: Mapping[str, str]
) -> Iterator[Event]:
    """Fork the attempts, drive them, and choose one. What a dead process left is gone on with.

    Side effects: run folders and worktrees of the attempts; processes of their own where several may run at once.
    """
    children = tuple(f"{state.identity.run_id}-a{number}" for number in range(1, state.brief.candidates + 1))
    yield kinds.AttemptsStarted(stage=stage, children=children)
    told = {row.get("child"): row for row in items(state.relations.attempts.get("rows"))}
    rows: list[Json] = []
    for number, child in enumerate(children, 1):
        _fork(state, folder, child, number=number, environ=environ)
    at_once = int(settings.number("attempts.parallel"))
    before, since = [_told_use(row) for row in told.values()], list[Json]()
    if at_once > 1:
        undone = [one for one in children if one not in told]
        limits = own_limits(state, before, (), shares=max(1, len(undone)))
        _drive_side_by_side(folder, undone, at_once, limits=limits, environ=environ)
    for number, child in enumerate(children, 1):
        known = told.get(child)
        if known is None:
            limits = own_limits(state, before, since)
            ended = _driven(folder.parent / child, limits=limits, settings=settings, environ=environ)
            event = _finished(ended, number, child, folder.parent / child)
            since.append(event.used)
            yield event
            known = {
                "number": number,
                "child": child,
                "passed": event.passed,
                "score": event.score,
                "lines": event.lines,
            }
        rows.append(known)
    best, reason = best_of(tuple(rows))
    if best is None:
        yield kinds.AttemptChosen(number=0, reason=reason)
        return
    child = str(best["child"])
    own = stages_of_attempt(names_of(state), stage)
    done = handed_in((record.event for record in read(folder.parent / child)), own)
    yield kinds.AttemptChosen(number=children.index(child) + 1, child=child, reason=reason, stages=done)


def _fork(state: RunState, folder: Path, child: str, *, number: int, environ: Mapping[str, str]) -> None:
    """Make the run of an attempt, unless an earlier process did."""
    place = folder.parent / child
    if (place / LOG).is_file():
        return
    git = Git.open(Path(state.identity.repo))
    fork_here(
        git,
        folder,
        place,
        lambda shared: kinds.RunForked(
            run_id=child,
            parent=state.identity.run_id,
            parent_head=shared.head,
            parent_records=shared.records,
            step=state.progress.turn.step,
            repo=state.identity.repo,
            worktree=str(worktree_of(git, data_dir=data_dir(environ), task_id=child).path),
            branch=branch_name(child),
            program=__version__,
            attempt=number,
        ),
    )


def _told_use(row: Json) -> Json:
    used = row.get("used")
    return used if isinstance(used, Mapping) else {}


def _drive_side_by_side(
    folder: Path, children: list[str], at_once: int, *, limits: Mapping[str, object], environ: Mapping[str, str]
) -> None:
    """Drive attempts in processes of their own, so many at a time; how they ended stands in their logs."""
    told = json.dumps(limits)
    waiting, running = list(children), list[subprocess.Popen[bytes]]()
    repo = folder.parents[2]
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                program = [sys.executable, "-m", "agentforge.fleet.drive"]
                command = [*program, str(repo), waiting.pop(0), str(os.getpid()), told]
                quiet = subprocess.DEVNULL
                running.append(subprocess.Popen(command, env=dict(environ), stdin=quiet, stdout=quiet, stderr=quiet))
            running.pop(0).wait()
    finally:
        for process in running:
            process.terminate()
            process.wait()


def _driven(folder: Path, *, limits: GivenLimits, settings: Settings, environ: Mapping[str, str]) -> RunState:
    """Drive an attempt to its end; one that waits for a human is ended: a person is asked by the parent alone."""
    state, broke = load_state(folder), ""
    if not state.progress.outcome and not state.people.open_escalations:
        result = resume(
            folder.parents[2],
            folder.name,
            settings=settings,
            environ=environ,
            watch=lambda _event, _state: None,
            limits=limits,
        )
        state, broke = result.state, result.error.message if result.error else ""
    if state.progress.outcome:
        return state
    with task_log(folder, environ) as log:
        asked = "; ".join(item.reason for item in state.people.open_escalations)
        message = asked or broke or str((state.progress.error or {}).get("message", "it stopped"))
        log.append(
            kinds.RunFinished(outcome="aborted", error={"slug": "attempt-stuck", "message": message, "hint": ""})
        )
        return log.state


def _finished(state: RunState, number: int, child: str, folder: Path) -> kinds.AttemptFinished:
    green = state.work.facts.get("green", {})
    mutation = green.get("mutation")
    score = mutation.get("score") if isinstance(mutation, Mapping) else None
    error = state.progress.error or {}
    passed = error.get("slug") == "attempt" and state.progress.stages["green"].status == "verified"
    own = {str(path) for path in suite_files(state)}
    changes = [row for row in items(green.get("changes")) if str(row.get("path")) not in own]
    scan = LogScan(folder)
    for _ in scan:
        pass
    return kinds.AttemptFinished(
        number=number,
        child=child,
        passed=passed,
        reason="" if passed else str(error.get("message") or "it did not end"),
        score=float(score) if isinstance(score, (int, float)) else None,
        lines=sum(int(str(row.get("added", 0))) + int(str(row.get("removed", 0))) for row in changes),
        tree=state.work.trees.get("green", ""),
        used=_used(state),
        head=scan.head,
        records=scan.length,
    )


def _used(state: RunState) -> dict[str, object]:
    spent = list(state.usage.spending.values())
    return {
        "steps": sum(one.calls for one in spent),
        "llm_calls": sum(one.calls for one in spent),
        "requests": sum(one.requests for one in spent),
        "prompt_tokens": sum(one.prompt_tokens for one in spent),
        "cached_tokens": sum(one.cached_tokens for one in spent),
        "completion_tokens": sum(one.completion_tokens for one in spent),
        "cost_usd": sum(one.cost_usd for one in spent),
        "unpriced": sum(one.unpriced for one in spent),
    }


Used = Mapping[str, object]
"""What an attempt used on its own, as `AttemptFinished` records it."""


def own_limits(
    state: RunState, told: Iterable[Used], ended: Iterable[Used], *, shares: int = 1
) -> dict[str, int | float | None]:
    """The limits of the next attempt: what all shared so far, and its part of what is left.

    Args:
        state: of the task; what `told` names is counted in it already.
        told: attempts that ended before this process began.
        ended: attempts that ended since.
        shares: among how many attempts the rest is divided; 1 where they are made one after the other.
    """
    before, since = list(told), list(ended)
    limits: dict[str, int | float | None] = {}
    for name in ("max_steps", "budget_tokens", "budget_usd"):
        limit = getattr(state.brief.limits, name)
        if limit is None:
            continue
        shared = used(state, name) - sum(_of(name, one) for one in before)
        left = limit - shared - sum(_of(name, one) for one in (*before, *since))
        value = shared + max(0, left) / shares
        limits[name] = int(value) if isinstance(limit, int) else value
    return limits


def _of(name: str, spent: Used) -> float:
    keys = {"max_steps": ("steps",), "budget_tokens": ("prompt_tokens", "completion_tokens")}.get(name, ("cost_usd",))
    return sum(value for key in keys if isinstance(value := spent.get(key, 0), (int, float)))
