"""Runs of RED's tests against stubs: how long they may take, which of them are controls, what survives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentforge.runners.outcome import SuiteRun
from agentforge.runners.plan import COMPILED
from agentforge.runners.rig import Edits, Rig, run_tree, sound
from agentforge.runners.stub_variant import Variant
from agentforge.runners.stubs import stub_compiles, survivors

_STUB_LEAST_S, _STUB_FACTOR = 10.0, 5.0  # a wrong implementation may loop for ever; then no target has passed
_BUILD_S = 120.0  # what does not compile at the base is built for the first time with a stub


def impatient(rig: Rig, run: SuiteRun) -> Rig:
    """A rig that waits for a stub not much longer than for the base; what did not compile there is built for the first time."""
    least = _BUILD_S if rig.plan.runner in COMPILED else _STUB_LEAST_S
    return replace(rig, timeout_s=min(rig.timeout_s, least + _STUB_FACTOR * run.duration_s))


def run_stubs(rig: Rig, red_tree: str, files: Sequence[str], made: Sequence[Variant]) -> dict[str, SuiteRun]:
    """The runs against stubs; without those that a compiler did not take: these show nothing of the tests."""
    runs = {one.name: _run_stub(rig, red_tree, files, one) for one in made}
    kept = (one for one in made if rig.plan.runner not in COMPILED or stub_compiles(runs[one.name], one))
    return {one.name: runs[one.name] for one in kept}


def taken(made: Sequence[Variant], runs: Mapping[str, SuiteRun], rig: Rig) -> tuple[Variant, ...]:
    """The stubs that are controls: what a compiler did not take is none."""
    return tuple(one for one in made if one.name in runs or rig.plan.runner not in COMPILED)


def stubs_held(stub_runs: Mapping[str, SuiteRun], made: Sequence[Variant], rig: Rig) -> bool:
    """Every stub was run, and one run at least is evidence: a stub may break the import of everything else."""
    return len(stub_runs) == len(made) and (not made or any(sound(run, rig.plan) for run in stub_runs.values()))


def surviving(
    stub_runs: Mapping[str, SuiteRun], made: Sequence[Variant], targets: Sequence[str]
) -> list[tuple[str, str]]:
    """The (stub, target) pairs of targets that a wrong implementation satisfies."""
    ran = [variant for variant in made if variant.name in stub_runs]
    return survivors({name: run.passed_ids for name, run in stub_runs.items()}, made=ran, targets=targets)


def stub_note(made: Sequence[Variant], rig: Rig, *, with_stubs: bool) -> str:
    """Why there was no control by stubs; empty when there was."""
    if made:
        return ""
    if not with_stubs:
        return "stub controls were not asked for"
    if rig.plan.language not in ("python", "javascript", "go", "rust", "java"):
        return f"no stub controls for {rig.plan.language}"
    if rig.plan.runner in COMPILED:
        return "no stub of the declared symbols could be made and compiled: a new one needs its signature in the specification"
    return f"the specification declares no new or changed symbol of {rig.plan.language}: no stub controls"


def _run_stub(rig: Rig, red_tree: str, files: Sequence[str], variant: Variant) -> SuiteRun:
    edits = Edits(files={path: text.encode("utf-8", "surrogateescape") for path, text in variant.files.items()})
    return run_tree(rig, red_tree, tests=files, edits=edits)
