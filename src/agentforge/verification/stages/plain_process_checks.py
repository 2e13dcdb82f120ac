"""GREEN's facts from outside the test runner: held-out checks, the suite's own assertions, and targets without the change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentforge.canonical import digest_value
from agentforge.errors import ToolchainError
from agentforge.languages.symbols import Symbol
from agentforge.suite import NO_EDITS, Edits, Rig
from agentforge.testing.outcome import without_parameters
from agentforge.testing.plan import plan_digest
from agentforge.verification.counterexamples.patience import impatient
from agentforge.verification.counterexamples.stub_runs import hollow_targets
from agentforge.verification.examples.answer_tables import hard_coded, proved_callables
from agentforge.verification.examples.claims import Claim, literal
from agentforge.verification.examples.near_calls import near_facts
from agentforge.verification.examples.near_results import NearGroup
from agentforge.verification.examples.plain_check import check_claims
from agentforge.verification.examples.plain_javascript import check_javascript
from agentforge.verification.examples.rerun_assertions import assertions_of, repeat_assertions, repeated_in_node
from agentforge.verification.examples.suite_claims import Asserted
from agentforge.verification.examples.verdicts import Verdict
from agentforge.verification.stages.product_files import product_files

_VERSION = 11
_NEW_TESTS_S = 10.0  # what new tests are thought to take where the suite of the base is quicker
_HOLLOW = "passes though every changed function returns a wrong value: it does not test the change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What is checked beside the suite.

    Attributes:
        claims: examples of request and specification.
        symbols: the declared symbols.
        targets, guards: ids of RED's tests.
        content: targets of which RED measured at the base that a wrong implementation satisfies them and that other tests refuse
            it: that they still pass with one is no news.
        edits: what the suite's runs got instead of the tree's own files (frozen tests, the base's configuration).
        request: its words; a table of answers that it spells out is what it asks for.
        seed: chooses among the suite's assertions.
        near: calls of the request with the values that stand near them.
    """

    claims: Sequence[Claim] = ()
    symbols: Sequence[Symbol] = ()
    targets: Sequence[str] = ()
    guards: Sequence[str] = ()
    content: Sequence[str] = ()
    edits: Edits = field(default=NO_EDITS)
    request: str = ""
    seed: int = 1
    near: Sequence[NearGroup] = ()

    @property
    def depending(self) -> list[str]:
        """The targets that must fail again when every changed function is wrong."""
        return [one for one in self.targets if one not in self.content]


def measure_outside(rig: Rig, given: Outside, *, base_tree: str, tree: str) -> dict[str, Any]:
    """Measure a tree whose suite passes: Python, and as far as it goes JavaScript.

    Returns:
        {held_out: {checked, failed: [{requirement, text, call}], unchecked}, tests_too_weak: [{id, text}]}.
    """
    if rig.plan.language != "python" or not rig.plan.interpreter:
        return _elsewhere(rig, given, base_tree=base_tree, tree=tree)
    key = {
        "outside": _VERSION, "base": base_tree, "tree": tree, "plan": plan_digest(rig.plan), "seed": given.seed,
        "claims": [one.text for one in given.claims], "hidden": [one.hidden for one in given.claims],
        "firm": [[one.firm, one.insisted] for one in given.claims], "beside": [[*one.beside, one.steps] for one in given.claims],
        "targets": sorted(given.targets), "guards": sorted(given.guards), "request": given.request, "edits": given.edits.digest,
        "symbols": [[one.name, one.file, one.signature] for one in given.symbols], "sandbox": rig.confinement,
        "content": sorted(given.content), "near": [[one.start, one.sentence] for one in given.near],
    }  # fmt: skip
    key = {"outside": digest_value(key)}  # what is held out stands in no file but the log
    known = rig.cache.recall(key) if rig.cache is not None else None
    if known is not None:
        return known
    try:
        facts = _measured(rig, given, base_tree=base_tree, tree=tree)
    except ToolchainError as exc:
        return unmeasured(exc.message)
    if rig.cache is not None and not facts["held_out"]["failed"]:
        rig.cache.keep(key, facts)
    return facts


def _changed(rig: Rig, given: Outside, *, base_tree: str, tree: str) -> tuple[str, ...]:
    """The product files that the tree changes."""
    paths = [one.path for one in rig.git.changed(base_tree, tree) if one.path not in given.edits.files]
    return product_files(rig.git, tree, paths, roots=rig.plan.roots)


def _measured(rig: Rig, given: Outside, *, base_tree: str, tree: str) -> dict[str, Any]:
    changed = _changed(rig, given, base_tree=base_tree, tree=tree)
    verdict = check_claims(rig, tree, given.claims, symbols=given.symbols, base_tree=base_tree)
    assertions = assertions_of_tests(rig, (*given.targets, *given.guards), tree)
    again = repeat_assertions(rig, tree, assertions, seed=given.seed)
    hollow = _hollow(rig, given, changed, base_tree=base_tree, tree=tree, observed=_types(assertions))
    hidden = [one.call for one in given.claims if one.hidden and not verdict.failed and not verdict.unchecked]
    looked_up = hard_coded(
        rig, base_tree=base_tree, tree=tree, changed=changed, assertions=assertions, request=given.request,
        proved=proved_callables(hidden, assertions),
    )  # fmt: skip
    near = _near(rig, given, verdict, base_tree=base_tree, tree=tree)
    return _facts(verdict, (*again, *looked_up), hollow, near)


def _elsewhere(rig: Rig, given: Outside, *, base_tree: str, tree: str) -> dict[str, Any]:
    """The facts of other languages: targets that pass without the change, and in JavaScript claims in plain processes."""
    changed = _changed(rig, given, base_tree=base_tree, tree=tree)
    if rig.plan.language == "javascript":
        verdict = check_javascript(rig, tree, given.claims, symbols=given.symbols, base_tree=base_tree)
        again = repeated_in_node(rig, tree, (*given.targets, *given.guards), seed=given.seed)
        near = _near(rig, given, verdict, base_tree=base_tree, tree=tree)
        return _facts(verdict, again, _hollow(rig, given, changed, base_tree=base_tree, tree=tree), near)
    facts = unmeasured(f"no checks outside the test runner for {rig.plan.language}")
    if rig.plan.runner != "junit":
        facts["tests_too_weak"] = _weak(_hollow(rig, given, changed, base_tree=base_tree, tree=tree))
    return facts


def _hollow(
    rig: Rig,
    given: Outside,
    changed: Sequence[str],
    *,
    base_tree: str,
    tree: str,
    observed: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """The targets that pass with wrong bodies; they may take several times as long as the whole suite of the base."""
    patient = impatient(rig, max(rig.usual_s, _NEW_TESTS_S))
    return hollow_targets(
        patient,
        base_tree=base_tree,
        tree=tree,
        changed=changed,
        targets=given.depending,
        edits=given.edits,
        observed=observed,
    )


def _weak(hollow: Sequence[str]) -> list[dict[str, str]]:
    return [{"id": nodeid, "text": _HOLLOW} for nodeid in hollow]


def unmeasured(reason: str) -> dict[str, Any]:
    """Facts where nothing was checked outside the runner, and why."""
    return {"held_out": {"checked": 0, "failed": [], "unchecked": [reason]}, "tests_too_weak": []}


def assertions_of_tests(rig: Rig, tests: Sequence[str], tree: str) -> tuple[Asserted, ...]:
    """What tests, named by their ids, assert of single calls."""
    wanted = set(map(without_parameters, tests))
    files = tuple(dict.fromkeys(name.partition("::")[0] for name in sorted(wanted)))
    return tuple(one for one in assertions_of(rig, tree, files) if one.test in wanted)


def _types(assertions: Sequence[Asserted]) -> dict[str, str]:
    """Function name -> type of the result that the tests expect of it."""
    told = [one for one in assertions if one.returns]
    return {one.call.partition("(")[0].rpartition(".")[2]: type(literal(one.returns)).__name__ for one in told}


def _near(rig: Rig, given: Outside, verdict: Verdict, *, base_tree: str, tree: str) -> list[dict[str, Any]]:
    """What stands near calls of the request and may be unmet; a tree that fails an example is not worth it."""
    if verdict.failed or not given.near:
        return []
    return near_facts(rig, given.near, symbols=given.symbols, base_tree=base_tree, tree=tree)


def _facts(
    verdict: Verdict, again: Sequence[str], hollow: Sequence[str], near: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    held_out = {**verdict.value(), **({"near": [*near]} if near else {})}
    held_out["failed"] += [{"requirement": "", "text": text} for text in again]
    return {"held_out": held_out, "tests_too_weak": _weak(hollow)}
