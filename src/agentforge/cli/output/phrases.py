"""What an event means in words, for people who watch a run, and pull requests in words. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from agentforge.cli.output.terminal import cut, printable
from agentforge.events import kinds
from agentforge.events.fold.verification import notes, to_repair
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.model.base_line import cause_lines, plan_lines, tests_text

if TYPE_CHECKING:
    from agentforge.app.pull_requests.review import CiResult, Found


_FINDINGS_SHOWN = 5
_ARGUMENTS_SHOWN = ("path", "command", "pattern", "name", "tests", "paths", "question")
_LINE = 160
_SIGNS = {"passed": "ok  ", "failed": "FAIL", "pending": "... "}
_STANDINGS = {
    "passed": "every check passed",
    "failed": "CI refused it",
    "pending": "CI is not finished",
    "none": "no CI has reported on it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Lines about one event.

    Attributes:
        sign: which mark stands before the first line, see `terminal.Style.sign`.
        detail: shown only where every step is shown (no live status line).
        more: indented lines below.
    """

    text: str
    sign: str = "note"
    detail: bool = False
    more: tuple[str, ...] = ()


def notice(event: Event, state: RunState) -> Notice | None:
    """Say what happened; None when the event says nothing to a watcher."""
    writer = _NOTICES.get(type(event))
    return writer(event, state) if writer else None


def doing(event: Event) -> str | None:
    """Say in a few words what is going on after this event; None = unchanged."""
    if isinstance(event, kinds.ModelCalled):
        return f"asks {event.model}"
    if isinstance(event, kinds.ToolStarted):
        return call_text(event.name, event.arguments)
    if isinstance(event, kinds.ArtifactSubmitted):
        return "verifies"
    if isinstance(event, kinds.FactsGathered):
        return f"measured {event.name}"
    if isinstance(event, kinds.StagePassed):
        return "done"
    return None


def call_text(name: str, arguments: Mapping[str, object]) -> str:
    """A tool call in one short line: its name and the argument that tells most."""
    for key in _ARGUMENTS_SHOWN:
        value = arguments.get(key)
        if isinstance(value, list):
            value = " ".join(str(item) for item in value)
        if isinstance(value, str) and value:
            return cut(f"{name} {printable(value)}", 80)
    return name


def counted(number: int, word: str) -> str:
    """A number with its noun: 1 step, 2 steps."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _started(event: kinds.RunStarted, _state: RunState) -> Notice:
    base = event.base_commit[:10]
    where = f"{event.base_ref} {base}" if event.base_ref else base
    more = [f"model {event.model or 'not chosen'}", f"branch {event.branch} from {where}"]
    if event.left_out:
        named = ", ".join(event.left_out[:5])
        more.append(f"uncommitted changes are left out: {named} (--include-dirty takes them along)")
    return Notice(text=f"task {event.run_id}", more=tuple(more))


def _resumed(_event: kinds.RunResumed, state: RunState) -> Notice:
    return Notice(text=f"task {state.identity.run_id} goes on")


def _recovered(event: kinds.LogRecovered, _state: RunState) -> Notice:
    return Notice(text=f"a torn record of {event.quarantined_bytes} bytes was moved to {event.quarantine}")


def _shared(event: kinds.RunShared, _state: RunState) -> Notice:
    if event.error:
        text = f"the run does not reach {event.remote}: {event.error}; it goes on and is pushed later"
        return Notice(text=text, sign="failed")
    return Notice(text=f"the run stands at {event.remote} again", detail=True)


def _told(event: kinds.NotificationSent, _state: RunState) -> Notice:
    if event.error:
        return Notice(text=f"nobody was told of {event.about} by {event.channel}: {event.error}", sign="failed")
    return Notice(text=f"told of {event.about} by {event.channel}", detail=True)


def _stage_started(event: kinds.StageStarted, _state: RunState) -> Notice:
    again = f" again, attempt {event.attempt}" if event.attempt > 1 else ""
    return Notice(text=f"{event.stage}: begins{again}", detail=True)


def _stage_skipped(event: kinds.StageSkipped, _state: RunState) -> Notice:
    return Notice(text=f"{event.stage}: {event.reason}", sign="skipped")


def _stage_reopened(event: kinds.StageReopened, _state: RunState) -> Notice:
    if event.reason == "belongs_here":
        more = tuple(str(item.get("message", "")) for item in event.findings[:_FINDINGS_SHOWN])
        return Notice(
            text=f"{event.stage}: is opened again, because {event.by} found what only it can repair", more=more
        )
    if event.undone:
        return Notice(
            text=f"{event.stage}: is done again with the answer to {event.escalation_id}, and what followed it"
        )
    more = tuple(str(item.get("message", "")) for item in event.findings[:_FINDINGS_SHOWN])
    told = counted(len(event.findings), "finding")
    return Notice(text=f"{event.by}: the tests are too weak ({told}): {event.stage} is opened again", more=more)


def _reopening_ended(event: kinds.ReopeningEnded, _state: RunState) -> Notice:
    return Notice(text=f"{event.stage}: stays as it was: {event.reason}", detail=True)


def _model_failed(event: kinds.ModelFailed, _state: RunState) -> Notice:
    return Notice(text=f"the model could not be asked ({event.slug})", sign="failed")  # the error follows at the end


def _tool_finished(event: kinds.ToolFinished, state: RunState) -> Notice:
    mark = "" if event.status == "success" else f" [{event.status}]"
    return Notice(text=f"{state.progress.stage}: step {event.step}: {event.name}{mark}: {event.summary}", detail=True)


def _hook(event: kinds.HookFinished, _state: RunState) -> Notice:
    about = f"hook {event.name} ({event.trigger}{' ' + event.tool if event.tool else ''})"
    reason = f": {event.reason}" if event.reason else ""
    if event.verdict == "not_run":
        return Notice(text=f"{about} is not run{reason} [{event.origin}]", sign="skipped")
    words = {"pass": "let pass", "allow": "allows", "ask": "asks", "deny": "blocks", "failed": "failed"}
    loud = event.verdict == "deny" or (event.verdict == "failed" and event.failure_mode != "ignore")
    return Notice(
        text=f"{about} {words.get(event.verdict, event.verdict)}{reason}",
        sign="failed" if loud else "note",
        detail=not loud and event.verdict != "ask",
    )


def _facts(event: kinds.FactsGathered, _state: RunState) -> Notice | None:
    if event.name != "baseline":
        return Notice(text=f"{event.name}: measured", detail=True)
    tests = event.facts.get("tests")
    if not isinstance(tests, int) or not isinstance(event.facts.get("passed"), int):
        return Notice(text="baseline: measured", detail=True)
    told = f"baseline: before the change {tests_text(event.facts)}" if tests else "baseline: no test runs yet"
    more = (*plan_lines(event.facts), *cause_lines(event.facts))
    if event.facts.get("sandbox") == "none":
        told += (
            "\nno sandbox: neither bubblewrap nor Landlock works here, so tests run with your own rights and the model "
            "gets no shell (`agentforge doctor` says why)"
        )
    elif event.facts.get("sandbox") == "landlock":
        told += "\nsandbox: Landlock, because bubblewrap does not work here; see `agentforge doctor`"
    return Notice(text=told, more=more)


def _verified(event: kinds.StageVerified, _state: RunState) -> Notice:
    if event.passed:
        told = notes(event.results)
        holding = counted(len(event.results) - len(told), "rule")
        more = tuple(str(row.get("message")) for row in (*event.repairs, *told))
        return Notice(text=f"{event.stage}: verified, {holding} hold", detail=True, more=more[:_FINDINGS_SHOWN])
    wrong = [str(item.get("message") or item.get("rule")) for item in to_repair(event.results)]
    more = tuple(wrong[:_FINDINGS_SHOWN])
    if len(wrong) > _FINDINGS_SHOWN:
        more = (*more, f"and {len(wrong) - _FINDINGS_SHOWN} more")
    text = f"{event.stage}: attempt {event.attempt} not accepted, {counted(len(wrong), 'finding')}"
    return Notice(text=text, sign="failed", more=more)


def _passed(event: kinds.StagePassed, state: RunState) -> Notice:
    from agentforge.app.sessions.display import cost_text, tokens_text

    known = state.progress.stages.get(event.stage)
    if known is None or not known.steps:
        return Notice(text=f"{event.stage}: done, no model needed", sign="done")
    spent = tokens_text(known.prompt_tokens + known.completion_tokens)
    cost = f", {cost_text(known.cost_usd, known=state.usage.totals.cost_known)}"
    again = f", {counted(known.attempt, 'attempt')}" if known.attempt > 1 else ""
    return Notice(text=f"{event.stage}: done, {counted(known.steps, 'step')}, {spent} tokens{cost}{again}", sign="done")


def _examined(event: kinds.Examined, _state: RunState) -> Notice:
    if event.reason:
        return Notice(text=f"not examined: {event.reason}", sign="note")
    if event.unrunnable:
        return Notice(text="examining: the tests could not be run, the examiner is asked once more", sign="note")
    held = sum(row.get("verdict") == "agrees" for row in event.rows)
    failing = [row for row in event.rows if row.get("verdict") in ("disputed", "open", "contradicts")]
    told = [f'{row.get("test")}: "{row.get("says")}"' for row in failing]
    text = f"examined: {held} of {counted(len(event.rows), 'test')} written from the request alone pass"
    if any(row.get("verdict") == "disputed" for row in failing):
        text += "; a second reader decides about the others"
    return Notice(text=text, sign="done", more=tuple(told[:_FINDINGS_SHOWN]))


def _asked(event: kinds.EscalationRaised, _state: RunState) -> Notice:
    return Notice(text=f"{event.escalation_id} {event.stage or 'run'}: {event.reason}", sign="asked")


def _answered(event: kinds.EscalationResolved, _state: RunState) -> Notice:
    words = {"answer": "answered", "approve": "approved", "reject": "rejected", "abort": "aborted"}
    return Notice(text=f"{event.escalation_id} {words[event.decision]} by {event.by}", sign="asked")


def _delivered(event: kinds.Delivered, _state: RunState) -> Notice:
    applied = ", applied to the checkout" if event.applied else ""
    return Notice(text=f"branch {event.branch} at {event.commit[:10]}{applied}", sign="done")


def _awaited(event: kinds.TaskAwaited, _state: RunState) -> Notice:
    what = event.need.get("task_id") or event.need.get("artifact")
    if event.status == "failed":
        return Notice(text=f"{what} cannot be had: {event.seen}", sign="failed")
    return Notice(text=f"waits for {what}: {event.seen}", sign="asked")


def _arrived(event: kinds.TaskArrived, _state: RunState) -> Notice:
    return Notice(text=f"{event.task_id or event.found.get('branch')} has what this task needs", sign="done")


def _attempts(event: kinds.AttemptsStarted, _state: RunState) -> Notice:
    return Notice(text=f"{event.stage}: {counted(len(event.children), 'independent attempt')} from here on")


def _attempt_ended(event: kinds.AttemptFinished, _state: RunState) -> Notice:
    if not event.passed:
        return Notice(text=f"attempt {event.number}: {event.reason}", sign="failed")
    score = "" if event.score is None else f"mutation score {event.score:.2f}, "
    text = f"attempt {event.number}: passes all rules, {score}{counted(event.lines, 'changed line')}"
    return Notice(text=text, sign="done")


def _attempt_chosen(event: kinds.AttemptChosen, _state: RunState) -> Notice:
    if not event.number:
        return Notice(text=event.reason, sign="failed")
    return Notice(text=f"attempt {event.number} goes on: {event.reason}")


def _interrupted(event: kinds.RunInterrupted, state: RunState) -> Notice | None:
    if state.progress.error is not None and state.progress.error.get("slug") == event.slug:
        return None  # the failed call was told a line ago
    return Notice(text=f"interrupted: {event.reason}", sign="failed")


def _finished(event: kinds.RunFinished, _state: RunState) -> Notice | None:
    if event.error is None:
        return None
    return Notice(text=f"{event.outcome}: {event.error.get('message', '')}", sign="failed")


_NOTICES: Mapping[type[Event], Callable[..., Notice | None]] = {
    kinds.RunStarted: _started,
    kinds.RunResumed: _resumed,
    kinds.LogRecovered: _recovered,
    kinds.StageStarted: _stage_started,
    kinds.StageSkipped: _stage_skipped,
    kinds.StageReopened: _stage_reopened,
    kinds.ReopeningEnded: _reopening_ended,
    kinds.ModelFailed: _model_failed,
    kinds.ToolFinished: _tool_finished,
    kinds.HookFinished: _hook,
    kinds.RunShared: _shared,
    kinds.NotificationSent: _told,
    kinds.FactsGathered: _facts,
    kinds.StageVerified: _verified,
    kinds.StagePassed: _passed,
    kinds.Examined: _examined,
    kinds.EscalationRaised: _asked,
    kinds.EscalationResolved: _answered,
    kinds.AttemptsStarted: _attempts,
    kinds.AttemptFinished: _attempt_ended,
    kinds.AttemptChosen: _attempt_chosen,
    kinds.TaskAwaited: _awaited,
    kinds.TaskArrived: _arrived,
    kinds.Delivered: _delivered,
    kinds.RunInterrupted: _interrupted,
    kinds.RunFinished: _finished,
}


def pull_lines(made: Mapping[str, object]) -> list[str]:
    """What became of a pull request: its address, or the files that are ready and what to do with them."""
    commit = str(made["commit"])[:12]
    if made["outcome"] != "prepared":
        word = "opened" if made["outcome"] == "opened" else "brought up to date"
        return [
            f"pull request {word}: {printable(str(made['url']))}",
            f"    {made['branch']} at {commit} into {made['base']}, through {made['through']}",
            f"    what CI says of it: agentforge pr {made['task_id']} --checks --wait 30m",
        ]
    files, steps = (cast("Sequence[str]", made[name]) for name in ("files", "next"))
    return [
        f"no pull request was opened: {printable(str(made['reason']))}",
        "    ready:",
        *(f"    {file}" for file in files),
        "    by hand:",
        *(f"    {step}" for step in steps),
    ]


def ci_lines(result: CiResult) -> list[str]:
    """What CI says of the delivered commit, check by check."""
    lines = [f"{result.task_id} at {result.commit[:12]}: {_STANDINGS[result.standing]}"]
    lines += [
        f"  {_SIGNS[one.standing]}  {printable(one.name)}  {printable(one.url)}".rstrip() for one in result.checks
    ]
    if result.tip != result.commit:
        lines.append(f"  the branch stands on {result.tip[:12]} at the remote by now; that commit was not asked about")
    if result.standing == "failed":
        lines.append(f"  answer it: agentforge continue {result.task_id} --from-ci")
    return lines


def left_out_lines(found: Found) -> list[str]:
    """Who was not listened to, and what is left for the next time."""
    lines = []
    if found.strangers:
        names = ", ".join(printable(name) for name in found.strangers)
        lines.append(
            f"left out, because they may not change the repository: {names} (--reviewer NAME takes one's words)"
        )
    if found.later:
        lines.append(f"{found.later} more are left for the next time: agentforge continue, again")
    if found.ci == "pending":
        lines.append("CI is not finished; wait for it: agentforge pr ID --checks --wait 30m")
    return lines
