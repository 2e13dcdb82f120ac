"""The audit of a run as one plain value: what was asked, decided, measured, judged and spent. All formats are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from agentforge.events import kinds
from agentforge.events.fold.delivered import judged
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event, Json
from agentforge.events.state.attempt import StageState
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.views.actions_view import Draft, Entry, fold_action
from agentforge.views.run_views import attempts_value
from agentforge.views.words import cost_usd, rows_of, seconds

Recorded = tuple[str, str, Event]
"""(time stamp, hash, event) of one record."""


def audit_value(records: Iterable[Recorded]) -> dict[str, object]:
    """Fold a log into everything that an auditor wants to read, as a JSON value."""
    fold = AuditFold()
    for at, digest, event in records:
        fold.see(at, digest, event)
    return fold.value()


class AuditFold:
    """One pass over a log: the state, and what the state forgets. It can go on when the log has grown.

    Attributes:
        state: after the last record that was seen.
        steps: every finished step, oldest first.
    """

    def __init__(self) -> None:
        self.state = RunState()
        self.steps: list[Entry] = []
        self._draft: Draft | None = None
        self._verdicts: list[dict[str, object]] = []
        self._measured: list[dict[str, object]] = []
        self._interruptions: list[dict[str, object]] = []
        self._head = ""
        self._records = 0

    def see(self, at: str, digest: str, event: Event) -> None:
        """Take in one record."""
        self.state = evolve(self.state, event, at=at)
        self._head, self._records = digest, self._records + 1
        self._draft, entries = fold_action(self._draft, event, state=self.state)
        self.steps += entries
        if isinstance(event, kinds.StageVerified):
            self._verdicts.append(_verdict(event, at))
        elif isinstance(event, kinds.FactsGathered):
            self._measured.append(_measurement(event, at))
        elif isinstance(event, (kinds.RunInterrupted, kinds.RunResumed, kinds.LogRecovered)):
            self._interruptions.append({"at": seconds(at), "event": type(event).__name__, **_plain(asdict(event))})

    def value(self) -> dict[str, object]:
        """The whole audit."""
        state = self.state
        return {
            "audit": 1,
            "task_id": state.identity.run_id,
            "request": state.brief.request,
            "outcome": state.progress.outcome or ("waiting" if state.people.open_escalations else "unfinished"),
            "started_at": seconds(state.progress.started_at),
            "ended_at": seconds(state.progress.last_at),
            "active_s": round(state.progress.active_s, 1),
            "plan": _plain(state.identity.digests.get("plan") or {}),
            "split": _split(state),
            "delivery": _delivery(state),
            "goal": state.work.artifacts.get("intake", {}).get("goal", ""),
            "questions": list(rows_of(state.work.artifacts.get("clarify", {}).get("questions"))),
            "specification": _plain(state.work.artifacts.get("spec", {})),
            "trace": _trace(state),
            "report": _plain(state.work.artifacts.get("deliver", {})),
            "verdicts": self._verdicts,
            "measurements": self._measured,
            "stages": {name: _stage(stage) for name, stage in state.progress.stages.items()},
            "steps": [_plain(step) for step in self.steps],
            "escalations": [_escalation(item) for item in state.people.escalations.values()],
            **({"attempts": _plain(attempts_value(state))} if state.relations.attempts else {}),
            "interruptions": self._interruptions,
            "totals": _plain({**asdict(state.usage.totals), "cost_usd": cost_usd(state.usage.totals)}),
            "environment": _environment(state),
            "error": _plain(state.progress.error) if state.progress.error else None,
            "digests": _digests(state),
            "trail": {"records": self._records, "head": self._head},
        }


def _verdict(event: kinds.StageVerified, at: str) -> dict[str, object]:
    return {
        "stage": event.stage,
        "attempt": event.attempt,
        "at": seconds(at),
        "passed": event.passed,
        "contract": event.contract,
        "contract_digest": event.contract_digest,
        "artifact_digest": event.artifact_digest,
        "results": [_plain(item) for item in event.results],
        "repairs": [_plain(item) for item in event.repairs],
    }


def _measurement(event: kinds.FactsGathered, at: str) -> dict[str, object]:
    return {
        "name": event.name,
        "attempt": event.attempt,
        "at": seconds(at),
        "tree": event.tree,
        "evidence": event.evidence or "",
        "duration_ms": event.duration_ms,
        "facts": _plain(event.facts),
    }


def _split(state: RunState) -> dict[str, object]:
    """The plan that the run made over several repositories, with the tasks that its parts became."""
    plan = _plain(state.work.artifacts.get("plan", {}))
    return {**plan, "started": _plain(state.relations.parts)} if plan else {}


def _delivery(state: RunState) -> dict[str, object] | None:
    if not state.work.delivered:
        return None
    attested = state.work.attested or {}
    return {
        **_plain(state.work.delivered),
        "base_commit": state.identity.base_commit,
        "signed_by": attested.get("key_id", ""),
        "attestation": attested.get("envelopes", ""),
    }


def _trace(state: RunState) -> list[dict[str, object]]:
    """Requirement -> tests (before and after) -> changed lines."""
    red = {str(row.get("id")): row for row in rows_of(state.work.facts.get("red", {}).get("tests"))}
    mapping = state.work.artifacts.get("red", {}).get("coverage_mapping")
    mapped = mapping if isinstance(mapping, Mapping) else {}
    reported = {str(row.get("id")): row for row in rows_of(state.work.artifacts.get("deliver", {}).get("requirements"))}
    facts = judged(state.work.facts, {})
    suite = facts.get("suite")
    failing = {str(row.get("id")) for row in rows_of(suite.get("failing") if isinstance(suite, Mapping) else ())}
    out: list[dict[str, object]] = []
    for item in rows_of(state.work.artifacts.get("spec", {}).get("requirements")):
        name = str(item.get("id", ""))
        listed = mapped.get(name)
        tests = [str(test) for test in listed] if isinstance(listed, (list, tuple)) else []
        out.append(
            {
                "id": name,
                "description": item.get("description", ""),
                "criteria": _plain(item.get("acceptance_criteria", [])),
                "tests": [_test(test, red, failing, measured=bool(facts)) for test in tests],
                "changes": _plain(reported.get(name, {}).get("changes", [])),
            }
        )
    return out


def _test(name: str, red: Mapping[str, Json], failing: set[str], *, measured: bool) -> dict[str, object]:
    row = red.get(name, {})
    after = ("failed" if name in failing else "passed") if measured else "not measured"
    return {
        "id": name,
        "kind": row.get("kind", ""),
        "before": row.get("outcome", ""),
        "reason": row.get("reason", ""),
        "after": after,
    }


def _stage(stage: StageState) -> dict[str, object]:
    value: dict[str, object] = _plain(asdict(stage))
    del value["results"]
    return value


def _escalation(item: Escalation) -> dict[str, object]:
    answer = item.resolution
    return {
        **item.told,
        "raised_at": seconds(item.raised_at),
        "decision": answer.decision if answer else "",
        "answer": answer.text if answer else "",
        "by": answer.by if answer else "",
        "resolved_at": seconds(item.resolved_at) if answer else None,
    }


def _environment(state: RunState) -> dict[str, object]:
    base = state.work.facts.get("baseline", {})
    return {
        "model": state.brief.model,
        "mode": state.brief.mode,
        "approve": list(state.brief.approve),
        "versions": _plain(state.identity.versions),
        "sandbox": base.get("sandbox", ""),
        "runner": base.get("runner", ""),
        "command": base.get("command", ""),
        "limits": _plain(asdict(state.brief.limits)),
        "left_out": list(state.brief.left_out),
    }


def _digests(state: RunState) -> dict[str, object]:
    named = {name: value for name, value in state.identity.digests.items() if isinstance(value, str)}
    return {
        **named,
        "base commit": state.identity.base_commit,
        **{f"tree of {name}": tree for name, tree in state.work.trees.items() if name != "work"},
        **{f"evidence of {name}": digest for name, digest in state.work.evidence.items()},
        **{
            f"artifact of {name}": stage.artifact_digest
            for name, stage in state.progress.stages.items()
            if stage.artifact_digest
        },
    }


def _plain(value: object) -> Any:
    """The value with tuples as lists and mappings as dicts: JSON in, JSON out."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
