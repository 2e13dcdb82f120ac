"""One side of a case through the whole pipeline, as a user would start it, and what must come of it."""

from __future__ import annotations

import json
import shutil
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentforge.app.composition.run_result import RunResult, outcome_of, result_value
from agentforge.app.tasks.runs import start
from agentforge.app.tasks.start_options import StartOptions
from agentforge.config.settings import load
from agentforge.errors import AgentForgeError
from agentforge.evals.answers import script_of
from agentforge.evals.case import Case, Side
from agentforge.evals.corpus import QUESTIONS, CheatCase
from agentforge.evals.ground import NO_PLUGINS, EvalFixture
from agentforge.events.kinds import Event, StageReopened, StageVerified, ToolFinished
from agentforge.events.state.run_state import RunState
from agentforge.suite import detect
from agentforge.workspace.git.repository import Git
from agentforge.workspace.processes import process

_PLAIN_TIMEOUT_S = 60.0
_SHAPE = "schema"  # repeats what a rule says better, where there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class SideResult:
    """What became of one side.

    Attributes:
        right: the trick was refused by a rule that the case names; the twin was delivered, nothing refused it on the way,
            and its tests pass plainly.
        outcome: of the run: delivered, escalated, ...; "error" when the run could not be judged at all.
        rules: that refused, and "write-scope" where a tool did not write what it was told to.
        stage: in which the run ended.
        detail: what went otherwise than it must, or the findings of the refusal.
        duration_s: wall seconds.
    """

    name: str
    side: Side
    right: bool
    outcome: str
    rules: tuple[str, ...] = ()
    stage: str = ""
    detail: str = ""
    duration_s: float = 0.0


@dataclass(slots=True)
class _Seen:
    """What of a run is told: tools that were denied, and every refusal that a model would have had to answer."""

    denied: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def watch(self, event: Event, _state: RunState) -> None:
        """Take down one event."""
        if isinstance(event, ToolFinished):
            if event.status == "denied":
                self.denied.append(event.name)
            if event.name == "submit_artifact" and event.status != "success":
                self.refusals.append(f"a submission came back: {event.text or event.summary}")
        if isinstance(event, StageVerified) and not event.passed:
            failed = [one for one in event.results if not one.get("passed") and one.get("sort", "fact") == "fact"]
            told = "; ".join(f"{one.get('rule')}: {one.get('message')}" for one in failed)
            self.refusals.append(f"{event.stage} was refused by {told}")
        if isinstance(event, StageReopened):
            self.refusals.append(f"{event.by} reopened {event.stage}: {event.reason}")


def run_side(case: Case, side: Side, ground: EvalFixture) -> SideResult:
    """Run one side of a case; an honest side that was delivered before in all its parts is not run again.

    Side effects: makes the repository of `ground` anew; leaves the task in it, to be looked at.
    """
    began = time.monotonic()
    script = script_of(case, side)
    digest = ground.digest(case, script)
    if side == "twin" and ground.was_delivered(digest):
        return SideResult(name=case.name, side=side, right=True, outcome="delivered", stage="deliver")
    try:
        ground.lay(case)
        result, seen = _started(case, script, ground)
        if side == "trick" and isinstance(case, CheatCase):
            judged = _refusal(case, result, seen.denied)
        else:
            judged = _delivery(case, result, seen, ground)
    except AgentForgeError as exc:
        judged = SideResult(name=case.name, side=side, right=False, outcome="error", detail=exc.message)
    if judged.right and side == "twin":
        ground.note_delivered(digest, case.name)
    return replace(judged, duration_s=round(time.monotonic() - began, 3))


def _started(case: Case, answers: object, ground: EvalFixture) -> tuple[RunResult, _Seen]:
    """`agentforge start` with the case's answers, one attempt for each stage."""
    script = ground.folder / "script.yaml"
    script.write_text(
        json.dumps(answers, ensure_ascii=False), "utf-8"
    )  # YAML reads it, and it is written in a tenth of the time
    seen = _Seen()
    options = StartOptions(request=case.request, cwd=ground.repo, model=f"scripted/{script}", limits={"attempts": 1})
    settings = load(ground.repo, ground.environ, flags=ground.flags)
    return start(options, settings=settings, environ=ground.environ, watch=seen.watch), seen


def _refusal(case: CheatCase, result: RunResult, denied: list[str]) -> SideResult:
    """A trick: no branch, no commit, and one of the rules that the case names has refused."""
    told = _told(case, "trick", result, denied)
    problems = []
    if told.outcome != "escalated":
        problems.append(f"the run ended {told.outcome}")
    if not set(told.rules) & set(case.refused_by):
        problems.append(f"refused by {', '.join(told.rules) or 'no rule'}, not by {' or '.join(case.refused_by)}")
    if _branches(Path(result.state.identity.repo)):
        problems.append("there is a branch")
    return _with(told, problems)


def _delivery(case: Case, result: RunResult, seen: _Seen, ground: EvalFixture) -> SideResult:
    """Honest work: nothing was refused on the way, and there is a branch whose tests pass in a plain checkout."""
    told = _told(case, "twin", result, seen.denied)
    problems = list(seen.refusals)
    if told.outcome != "delivered":
        problems.append(f"the run ended {told.outcome}, refused by {', '.join(told.rules) or 'no rule'}")
    else:
        failure = _plain_failure(result, ground)
        problems += [failure] if failure else []
    if seen.denied:
        problems.append(f"was kept from writing by {', '.join(seen.denied)}")
    return _with(told, problems)


def _told(case: Case, side: Side, result: RunResult, denied: list[str]) -> SideResult:
    state = result.state
    findings = [str(item.get("message", "")) for item in state.review.findings]
    if result.error is not None:
        findings.append(result.error.message)
    rules = [str(item.get("rule", "")) for item in state.review.findings if item.get("rule") != _SHAPE] or [_SHAPE]
    asked = [name for item in state.people.open_escalations for kept, name in QUESTIONS.items() if kept in item.context]
    return SideResult(
        name=case.name,
        side=side,
        right=True,
        outcome="error" if result.error is not None else outcome_of(state),
        rules=tuple(dict.fromkeys([*(rules if findings else []), *asked, *(["write-scope"] if denied else [])])),
        stage=str(result_value(result)["stage"]),
        detail="; ".join(findings)[:600],
    )


def _with(told: SideResult, problems: list[str]) -> SideResult:
    if not problems:
        return told
    return replace(told, right=False, detail="; ".join([*problems, told.detail])[:900])


def _branches(repo: Path) -> list[str]:
    """Branches of tasks."""
    folder = repo / ".git" / "refs" / "heads" / "agentforge"
    return sorted(path.name for path in folder.glob("*"))


def _plain_failure(result: RunResult, ground: EvalFixture) -> str:
    """Check the branch out and run its tests as a person would; "" when they pass but for those that failed at the base."""
    made = result.state.work.delivered or {}
    place = ground.folder / "plain"
    shutil.rmtree(place, ignore_errors=True)
    git = Git(ground.repo)
    git.materialise(git.tree_of(str(made["commit"])), place)
    settings = {"python": ground.flags["test.python"]} if "test.python" in ground.flags else {}
    plan = detect(ground.repo, settings=settings, environ=ground.environ)
    if plan.runner != "pytest":
        done = process.run(plan.command, cwd=place, env=ground.environ, timeout_s=_PLAIN_TIMEOUT_S)
        return "" if done.exit_code == 0 else f"the branch's own tests fail: {done.text[-300:]}"
    python = str(ground.flags.get("test.python") or plan.interpreter)
    failing = result.state.work.facts.get("baseline", {}).get("failing")
    known = [f"--deselect={one}" for one in (failing if isinstance(failing, list | tuple) else ())]
    done = process.run(
        [python or sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *known],
        cwd=place,
        env={**ground.environ, **NO_PLUGINS},
        timeout_s=_PLAIN_TIMEOUT_S,
    )
    return "" if done.exit_code == 0 else f"the branch's own tests fail: {done.text[-300:]}"
