"""Every recorded verdict, evaluated again: the same contract over the same artifact and facts must say the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache

from agentforge.canonical import canonical_bytes, digest_value
from agentforge.contracts.check import check
from agentforge.contracts.contract import CommandResult, Contract, Json
from agentforge.contracts.dialect import contract_of
from agentforge.errors import AgentForgeError
from agentforge.events import kinds
from agentforge.events.fold.verification import refusals
from agentforge.events.state.run_state import RunState
from agentforge.proof.report import Check, told

Complete = Callable[[RunState, str, Json, Json], Mapping[str, object] | None]
"""(state before the verdict, stage, draft, facts) -> the artifact that follows from them; None where others' code made it."""


class Judgements:
    """Looks at every event of a run in turn and remembers what does not fit.

    Args:
        document: the contract document that a digest names.
        complete: how this program completes an artifact; None = not looked at.
    """

    def __init__(self, *, document: Callable[[str], bytes], complete: Complete | None = None) -> None:
        self._document = document
        self._complete = complete
        self._again = 0
        self._verdicts = 0
        self._problems: list[str] = []
        self._artifacts: list[str] = []
        self._others: set[str] = set()

    def see(self, event: kinds.Event, before: RunState) -> None:
        """Take in one event and the state before it."""
        if isinstance(event, kinds.StageVerified):
            self._verdicts += 1
            self._verdict(event, before)
        elif isinstance(event, kinds.StagePassed):
            verdict = before.review.verdict
            if verdict is None or not verdict.passed or verdict.artifact_digest != event.artifact_digest:
                self._problems.append(f"{event.stage} passed without a verdict that says so")

    def checks(self) -> list[Check]:
        """What was found."""
        kept = f"{self._verdicts} verdicts, {self._again} evaluated again over the recorded facts with the same results"
        if self._others:
            kept += f"; the artifacts of {', '.join(sorted(self._others))} were made by a stage from outside: taken as recorded"
        return [
            told("artifacts", self._artifacts, held=f"{self._verdicts} artifacts with the right digest"),
            told("verdicts", self._problems, held=kept, altered=False),
        ]

    def _verdict(self, event: kinds.StageVerified, before: RunState) -> None:
        where = f"{event.stage}, attempt {event.attempt}"
        if digest_value(event.artifact) != event.artifact_digest:
            self._artifacts.append(f"{where}: the artifact is not what its digest says")
        if event.passed != (bool(event.results) and not refusals(event.results)):
            self._problems.append(f"{where}: the verdict is not what its rules say")
        submission = before.review.submission
        if submission is None or before.progress.stage != event.stage:
            self._problems.append(f"{where}: a verdict over nothing that was submitted")
        elif submission.facts is None:
            self._refused(event, submission.draft, where)
        else:
            self._evaluate(event, before, draft=submission.draft, facts=submission.facts)

    def _refused(self, event: kinds.StageVerified, draft: Json, where: str) -> None:
        """A draft that had not the right shape: nothing was measured, so it cannot have passed."""
        if event.passed or (not event.repairs and canonical_bytes(event.artifact) != canonical_bytes(draft)):
            self._problems.append(f"{where}: passed although nothing was measured")

    def _evaluate(self, event: kinds.StageVerified, before: RunState, *, draft: Json, facts: Json) -> None:
        where = f"{event.stage}, attempt {event.attempt}"
        try:
            contract = self._contract(event)
        except AgentForgeError as exc:
            self._problems.append(f"{where}: {exc.message}")
            return
        ran = _command_results(contract, event)
        verdict = check(contract, event.artifact, facts=facts, inputs=before.work.artifacts, command_results=ran)
        self._again += 1
        sorted_then = any("sort" in item for item in event.results)  # older programs recorded none
        now = [_comparable(item.value(), with_sort=sorted_then) for item in verdict.results]
        then = [_comparable(item, with_sort=sorted_then) for item in event.results]
        if now != then:
            differing = sorted({str(item["rule"]) for item in _difference(now, then)})
            self._problems.append(f"{where}: recorded and evaluated verdict differ in {', '.join(differing)}")
        if self._complete is not None:
            completed = self._complete(before, event.stage, draft, facts)
            if completed is None:
                self._others.add(event.stage)
            elif digest_value(completed) != event.artifact_digest:
                self._problems.append(f"{where}: the artifact does not follow from draft and facts")

    def _contract(self, event: kinds.StageVerified) -> Contract:
        return _read_contract(self._document(event.contract_digest), event.contract)


@lru_cache(maxsize=64)
def _read_contract(document: bytes, name: str) -> Contract:
    return contract_of(json.loads(document), source=f"contract {name}")


def _command_results(contract: Contract, event: kinds.StageVerified) -> list[CommandResult]:
    """The exit codes of command rules as they were recorded: what was run then cannot be run by reading."""
    recorded = {str(item.get("rule")): item for item in event.results}
    found = []
    for command in contract.commands:
        item = recorded.get(f"command: {command}", {})
        code = item.get("measured")
        if isinstance(code, int):
            found.append(CommandResult(command=command, exit_code=code))
    return found


def _comparable(result: Json, *, with_sort: bool) -> dict[str, object]:
    """A result without its words, which are those of the program that judged or of a command that ran then."""
    value = json.loads(canonical_bytes(dict(result)))
    return {key: item for key, item in value.items() if key != "message" and (key != "sort" or with_sort)}


def _difference(now: list[dict[str, object]], then: list[dict[str, object]]) -> list[dict[str, object]]:
    return [item for item in now if item not in then] + [item for item in then if item not in now]
