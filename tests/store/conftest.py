from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentforge.canonical import digest_value
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.store.log.run_log import RunLog

RUN_ID = "task-20251231-slugify"
PATCH = b"--- a/slug.py\n+++ b/slug.py\n@@ -1 +1 @@\n-pass\n+return text\n"


def ticking(start: str = "2025-12-31T10:00:00.000000Z", step_s: float = 1.25) -> Callable[[], str]:
    """A clock that goes on by `step_s` at every look."""
    moment = datetime.fromisoformat(start)

    def look() -> str:
        nonlocal moment
        moment += timedelta(seconds=step_s)
        return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")

    return look


def first_event(repo: str = "/repo", request: str = 'Add `slugify`: "Hello World"\n-> hello-world: yes\n') -> Event:
    return kinds.RunStarted(
        kind="task", run_id=RUN_ID, request=request, repo=repo, base_commit="c" * 40, base_ref="main", worktree="/data/w",
        branch=f"agentforge/{RUN_ID}", model="scripted/demo", limits={"max_steps": 50}, digests={"settings": "d" * 64}, versions={"agentforge": "0.1"},
    )  # fmt: skip


def model_step(
    step: int, stage: str, *, tool: str = "read_file", effect: kinds.Effect = "read", patch: str | None = None
) -> Iterator[Event]:
    """The events of one model call with one tool call."""
    yield kinds.ModelCalled(
        step=step, stage=stage, attempt=1, model="scripted/demo", request=digest_value(step), context_tokens=2000 + step
    )
    yield kinds.ModelReplied(
        step=step, text=f"Now step {step}.", tool_calls=({"call_id": "c0", "name": tool, "arguments": "{}"},), finish="tool_calls",
        usage={"prompt_tokens": 2100, "completion_tokens": 90, "cached_tokens": 1500}, model="scripted/demo", cost_usd=0.001,
    )  # fmt: skip
    yield kinds.ToolStarted(step=step, index=0, call_id="c0", name=tool, arguments={}, effect=effect)
    changed = {"slug.py": "e" * 64} if patch else {}
    view = {"path": "slug.py", "offset": 1, "limit": 40} if effect == "read" else None
    yield kinds.ToolFinished(
        step=step, index=0, call_id="c0", name=tool, status="success", summary=f"{tool}: slug.py", text="x\n" * 20, paths=("slug.py",), changed=changed,
        view=view, result=digest_value([step, tool]),
    )  # fmt: skip
    if effect == "submit":
        yield kinds.ArtifactSubmitted(stage=stage, attempt=1, draft={"goal": "x"}, by="model", step=step)
    yield kinds.StepFinished(
        step=step, stage=stage, summary=f"used {tool}", tree="f" * 40 if patch else None, patch=patch
    )


def verdict(
    stage: str, contract: str, artifact: dict[str, object], *, passed: bool = True, attempt: int = 1
) -> Iterator[Event]:
    """Facts, verdict and, when it passed, the end of a stage."""
    yield kinds.FactsGathered(name=stage, attempt=attempt, facts={"ok": passed}, tree="")
    results = ({"rule": "schema", "passed": True, "message": "", "path": "", "measured": None},
               {"rule": "holds", "passed": passed, "message": "it does not hold", "path": "a.b", "measured": 0.5})  # fmt: skip
    digest = digest_value(artifact)
    yield kinds.StageVerified(
        stage=stage,
        attempt=attempt,
        passed=passed,
        contract=contract,
        contract_digest="0" * 64,
        artifact=artifact,
        artifact_digest=digest,
        results=results,
    )


def whole_run(put: Callable[[bytes], str], *, repo: str = "/repo") -> list[Event]:
    """A run with everything in it: a failed attempt, a failed model, a question, an approval, patches, a skipped stage, an end."""
    intake: dict[str, object] = {
        "request_id": RUN_ID,
        "goal": "Add slugify",
        "original_request": "Add\nslugify: yes",
        "odd": "1e3",
    }
    spec: dict[str, object] = {
        "title": "slugify", "constraints": [{"id": "C1", "description": "no dependency"}],
        "requirements": [{"id": "REQ-001", "acceptance_criteria": ["slugify('A') == 'a'", "empty stays empty"]}],
    }  # fmt: skip
    events: list[Event] = [first_event(repo), kinds.StageStarted(stage="intake", attempt=1)]
    events += [
        *model_step(1, "intake", tool="submit_artifact", effect="submit"),
        *verdict("intake", "intake_record", intake, passed=False),
    ]
    events += [
        kinds.StageStarted(stage="intake", attempt=2),
        *model_step(2, "intake", tool="submit_artifact", effect="submit"),
    ]
    events += [
        *verdict("intake", "intake_record", intake, attempt=2),
        kinds.StagePassed(stage="intake", artifact_digest=digest_value(intake)),
    ]
    clarified: dict[str, object] = {"questions": []}
    events += [
        kinds.StageStarted(stage="clarify", attempt=1),
        kinds.ArtifactSubmitted(stage="clarify", attempt=1, draft=clarified, by="harness"),
    ]
    events += [
        *verdict("clarify", "clarification", clarified),
        kinds.StagePassed(stage="clarify", artifact_digest=digest_value(clarified)),
    ]
    events += [kinds.StageStarted(stage="spec", attempt=1), *model_step(3, "spec"), *model_step(4, "spec", tool="grep")]
    events += [
        kinds.EscalationRaised(
            escalation_id="E1",
            stage="spec",
            kind="question",
            reason="unclear",
            question="Which separator?",
            options=("-", "_"),
        )
    ]
    events += [
        kinds.RunInterrupted(reason="Ctrl-C"),
        kinds.EscalationResolved(escalation_id="E1", decision="answer", text="-"),
    ]
    events += [kinds.RunResumed(pid=42, limits={"max_steps": 80})]
    events += [
        kinds.ModelCalled(step=5, stage="spec", attempt=1, model="scripted/demo", request="a" * 64, context_tokens=7)
    ]
    events += [kinds.ModelFailed(step=5, slug="rate-limited", message="429", requests=4)]
    events += [*model_step(6, "spec", tool="submit_artifact", effect="submit"), *verdict("spec", "specification", spec)]
    events += [
        kinds.EscalationRaised(
            escalation_id="E2",
            stage="spec",
            kind="approval",
            reason="--approve spec",
            question="Approve?",
            context={"a": 1},
        )
    ]
    events += [
        kinds.EscalationResolved(escalation_id="E2", decision="approve"),
        kinds.StagePassed(stage="spec", artifact_digest=digest_value(spec)),
    ]
    events += [
        kinds.StageSkipped(stage="red", reason="tests were supplied"),
        kinds.StageStarted(stage="green", attempt=1),
    ]
    events += [
        *model_step(7, "green", tool="edit", effect="write", patch=put(PATCH)),
        *model_step(8, "green", tool="edit", effect="write", patch=put(PATCH * 40)),
    ]
    events += [
        kinds.Delivered(branch=f"agentforge/{RUN_ID}", commit="1" * 40, tree="2" * 40),
        kinds.RunFinished(outcome="delivered"),
    ]
    return events


@pytest.fixture
def clock() -> Callable[[], str]:
    return ticking()


@pytest.fixture
def task_folder(tmp_path: Path) -> Path:
    """A task's folder where a repository would have it."""
    return tmp_path / "repo" / ".agentforge" / "tasks" / RUN_ID


@pytest.fixture
def finished_run(task_folder: Path, clock: Callable[[], str]) -> Path:
    """The folder of a whole run that was written and closed."""
    with RunLog.create(task_folder, first_event(), clock=clock) as log:
        for event in whole_run(log.blobs.put)[1:]:
            log.append(event)
    return task_folder


@pytest.fixture
def run_parts() -> object:
    """The makers of sample events, for tests (conftest cannot be imported)."""

    class Parts:
        first = staticmethod(first_event)
        step = staticmethod(model_step)
        verdict = staticmethod(verdict)
        whole = staticmethod(whole_run)
        clock = staticmethod(ticking)
        run_id = RUN_ID
        patch = PATCH

    return Parts


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: what is tested is what we do with the bytes, not the disk."""
    if not Path("/dev/shm").is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        yield Path(name)
