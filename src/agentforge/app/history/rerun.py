"""Measuring a delivered run again: base line, RED, GREEN and the rest in fresh checkouts, nothing out of a cache."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.agent import BlobStore
from agentforge.app.tasks.added_stages import stages_by_record
from agentforge.app.tasks.delivered_trees import with_delivered
from agentforge.canonical import canonical_bytes
from agentforge.config.contract_files import contract_set
from agentforge.config.settings import load
from agentforge.errors import AgentForgeError
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunIdentity, RunState
from agentforge.models import Model
from agentforge.pipeline.facts.measurements import measure, measure_base
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.plugins.stage_order import writers
from agentforge.proof.chain import LOG, links
from agentforge.proof.contents import blob, unpacked
from agentforge.proof.files import Files
from agentforge.proof.report import Check, told
from agentforge.safety.text.redaction import known_secrets
from agentforge.suite import Rig, detect
from agentforge.workspace.git.repository import Git
from agentforge.workspace.protection.workspace_guard import Guard
from agentforge.workspace.sandbox.box import Preference, choose

if TYPE_CHECKING:
    pass

_MEASURED = {"": ("baseline", "red", "green", "refactor"), "fix": ("baseline", "guard", "verify"), "split": ()}
_OF_THE_MACHINE = frozenset(
    {
        "duration_s",
        "duration_ms",
        "cpu_s",
        "failing_text",
        "text",
        "problems",
        "command",
        "source",
        "sandbox",
        "message",
        "attempt",
        "figures",
    }
)
"""Fields that differ from one honest run to the next: times, paths, tracebacks."""


def measure_again(files: Files, state: RunState, git: Git, *, environ: Mapping[str, str]) -> tuple[Check, ...]:
    """Measure what was measured, on the recorded trees, and compare fact by fact.

    Returns:
        One check for each measurement.
    """
    if not state.work.delivered:
        return (Check(name="rerun", ok=False, detail="nothing was delivered", altered=False),)
    checks, files = [], unpacked(files)
    with _runtime(files, state, git, environ) as runtime:
        for name, (before, event) in _last_measurements(files).items():
            checks.append(_again(name, before, event, runtime))
    return tuple(checks)


def tests_again(commit: str, attested: Mapping[str, object], git: Git, *, environ: Mapping[str, str]) -> Check:
    """Run the suite on a delivered commit of which only the note is at hand, and compare with the attested results.

    Args:
        attested: the predicate with the test results.
    """
    state = RunState(identity=RunIdentity(base_commit=commit))
    try:
        with _runtime({}, state, git, environ) as runtime:
            evidence = measure_base(state, runtime, attempt=1).evidence
    except AgentForgeError as exc:
        return Check(name="rerun tests", ok=False, detail=f"cannot be measured: {exc}", altered=False)
    passing = _names(evidence.get("passed_ids"))
    stated = _names(attested.get("passedTests"))
    warned = sorted(_names(attested.get("warnedTests")))
    missing = sorted(stated - passing)
    problems = [f"{len(missing)} attested tests do not pass now: {', '.join(missing[:3])}"] if missing else []
    problems += ["no test is attested, so nothing can be compared"] if not stated else []
    known = f"; not passing, as was attested: {', '.join(warned[:3])}" if warned else ""
    held = f"{len(stated)} attested tests run again on {commit[:12]}, all pass{known}"
    return told("rerun tests", problems, held=held, altered=False)


def _names(value: object) -> set[str]:
    return {str(name) for name in value} if isinstance(value, (list, tuple)) else set()


def _last_measurements(files: Files) -> dict[str, tuple[RunState, kinds.FactsGathered]]:
    """The measurement that counts for each name, with the state in which it was made."""
    found: dict[str, tuple[RunState, kinds.FactsGathered]] = {}
    state = RunState()
    for link in links(files[LOG]):
        if isinstance(link.event, kinds.FactsGathered) and link.event.name in (
            *_MEASURED[state.brief.workflow],
            *writers(state),
        ):
            found[link.event.name] = (state, link.event)
        state = evolve(state, link.event, at=link.at)
    return found


def _again(name: str, before: RunState, event: kinds.FactsGathered, runtime: Runtime) -> Check:
    try:
        cast("_AtTree", runtime.git).tree = event.tree
        if name == "baseline":
            facts = measure_base(before, runtime, attempt=event.attempt).facts
        else:
            facts = measure(before, runtime.stages[name], runtime).facts
    except AgentForgeError as exc:
        return Check(name=f"rerun {name}", ok=False, detail=f"cannot be measured: {exc}", altered=False)
    now, then = _comparable(facts), _comparable(event.facts)
    differing = sorted(key for key in {*now, *then} if now.get(key) != then.get(key))
    if differing:
        told = ", ".join(f"{key} was {_short(then.get(key))} and is {_short(now.get(key))}" for key in differing[:3])
        return Check(name=f"rerun {name}", ok=False, detail=f"measured differently: {told}", altered=False)
    detail = f"tree {event.tree[:12]} measured again, {len(then)} facts agree"
    return Check(name=f"rerun {name}", ok=True, detail=detail, altered=False)


def _comparable(facts: Mapping[str, object]) -> dict[str, object]:
    value = _without_machine(json.loads(canonical_bytes(dict(facts))))
    return value if isinstance(value, dict) else {}


def _without_machine(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_machine(item) for key, item in value.items() if key not in _OF_THE_MACHINE}
    return [_without_machine(item) for item in value] if isinstance(value, list) else value


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True, slots=True)
class _FileBlobs:
    """The run's blobs, wherever they are; nothing is added to them."""

    files: Files

    def get(self, digest: str) -> bytes:
        return blob(self.files, digest)

    def put(self, content: bytes) -> str:
        raise AgentForgeError(f"a verification writes no blobs ({len(content)} bytes)")


class _AtTree:
    """A repository whose worktree is, for the measurements, the recorded tree."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self.tree = ""

    def __getattr__(self, name: str) -> object:
        return getattr(self._git, name)

    def snapshot(self, _worktree: Path, *, index: Path) -> str:
        """The recorded tree instead of what lies in a folder."""
        del index
        return self.tree


@contextmanager
def _runtime(files: Files, state: RunState, git: Git, environ: Mapping[str, str]) -> Iterator[Runtime]:
    """The parts that measuring needs, made for this once; the settings are those that hold here."""
    settings = load(git.top, environ)
    sandbox = choose(
        cast("Preference", settings.text("sandbox.kind", "auto")), hidden=settings.folders("sandbox.hidden")
    )
    at = cast("Git", _AtTree(git))
    plan = detect(git.top, settings=settings.table("test"), environ=environ)
    supplied = state.identity.digests.get("tests")
    blobs = _FileBlobs(files)
    with tempfile.TemporaryDirectory(prefix="agentforge-rerun-") as place:
        worktree, scratch = Path(place, "worktree"), Path(place, "scratch")
        worktree.mkdir()
        scratch.mkdir()
        plan = with_delivered(plan, state, folder=scratch / "delivered", mounted=sandbox.kind == "bubblewrap")
        rig = Rig(
            plan=plan, git=git, mount_at=git.top, sandbox=sandbox, scratch=scratch, timeout_s=plan.timeout_s, cache=None
        )
        yield Runtime(
            repo=git.top,
            worktree=worktree,
            scratch=scratch,
            git=at,
            sandbox=sandbox,
            stages=stages_by_record(state),
            contracts=contract_set(None),
            blobs=cast("BlobStore", blobs),
            rig=lambda: rig,
            models=_no_model,
            price=lambda _reply: None,
            secrets=known_secrets(environ),
            checks=settings.table("checks"),
            trail=lambda: ("", 0),
            diff=git.diff,
            nonce="",
            supplied={
                path: blobs.get(str(digest)) for path, digest in dict(cast("dict[str, str]", supplied or {})).items()
            },
            max_output_tokens=0,
            temperature=None,
            ready=lambda: None,
            guard=Guard(git, worktree, index=scratch / "index"),
        )


def _no_model(stage: str) -> Model:
    raise AgentForgeError(f"a verification asks no model ({stage})")
