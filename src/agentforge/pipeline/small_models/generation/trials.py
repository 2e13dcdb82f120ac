"""Samples of one definition tried against the tests in the sandbox; the one that most of them agree with is written."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import cast

from agentforge.context.budget import one_line
from agentforge.errors import ToolchainError
from agentforge.events.fold.workspace_view import ALONE, WRITE_DEFINITION
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.pipeline.facts.impact import near_tests
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import suite_files
from agentforge.pipeline.model.stage import texts
from agentforge.pipeline.small_models.checks.boundary_cases import moved_edge
from agentforge.pipeline.small_models.checks.example_bias import leaned_on
from agentforge.pipeline.small_models.checks.input_neighbours import probes
from agentforge.pipeline.small_models.checks.output_agreement import (
    Agreement,
    Split,
    agreement,
    answers_near,
    calls_of,
    forgotten,
    holds,
    is_confirmed,
    only_answer,
)
from agentforge.pipeline.small_models.generation.callees import is_waiting, rounds_alone, text_beneath
from agentforge.pipeline.small_models.generation.dead_code import TrimmedSample, choose_reached
from agentforge.pipeline.small_models.generation.memory import holds_number, remembers
from agentforge.pipeline.small_models.generation.supplied_tests import tests_wanted
from agentforge.pipeline.small_models.generation.units import Unit, claims_by_unit, units_of
from agentforge.pipeline.small_models.refactoring.splices import (
    Unusable,
    answer_in,
    find_definition,
    same_code,
    spliced,
)
from agentforge.suite import Edits, run_tree
from agentforge.testing.outcome import SuiteRun
from agentforge.tools.base import TEXT, TEXTS, Observation, Tool, ToolContext, failed, takes
from agentforge.workspace.files.file_access import write_bytes

_LONGEST_RUN_S = 30.0
_ENOUGH = 0.6
_ROUNDS_ALONE = 4
"""After so many rounds a person is asked about a sample that nothing agrees with."""
_STUB = {
    False: "def {name}(*args, **kwargs):\n    raise NotImplementedError\n",
    True: "class {name}:\n    def __init__(self, *args, **kwargs):\n        raise NotImplementedError\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCandidate:
    """A file with one sample in it.

    Attributes:
        numbers: the samples that say the same, from 1; 0 is what an earlier step wrote.
        documented: the definition has a docstring.
        wrong: why it is not good enough, "" when it passes.
    """

    text: str
    code: str
    numbers: tuple[int, ...]
    size: int
    documented: bool = False
    wrong: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """All samples of a step.

    Attributes:
        unusable: number of a sample -> why it is none.
    """

    passing: tuple[SampleCandidate, ...]
    failing: tuple[SampleCandidate, ...]
    unusable: Mapping[int, str] = field(default_factory=dict)


def write_definition(state: RunState, runtime: Runtime) -> Tool:
    """The tool that the words of a small model mean; it is never offered by name."""

    def run(arguments: Mapping[str, object], _context: ToolContext) -> Observation:
        samples = [str(item) for item in cast("Sequence[object]", arguments["samples"])]
        return _written(state, runtime, str(arguments["unit"]), samples)

    return Tool(
        name=WRITE_DEFINITION,
        description="Try samples of a definition against the tests; write the best one.",
        parameters=takes("unit samples", unit=TEXT, samples=TEXTS),
        effect="execute",
        does="write",
        run=run,
    )


def _written(state: RunState, runtime: Runtime, name: str, samples: Sequence[str]) -> Observation:
    unit = next((one for one in units_of(state) if one.name == name), None)
    if unit is None:
        return failed(f"{name} is not worked on", error_type="not-found")
    tried = try_samples(state, runtime, unit, samples)
    told = _told(tried, len(samples))
    if not tried.passing:
        return failed(f"none of {len(samples)} samples of {name} passes", error_type="tests-fail", text=told)
    found = agreement(state, runtime, unit, {one.text: one.numbers for one in tried.passing})
    told = f"{told}\n{found.told}".strip()
    unsettled = _unsettled(state, runtime, unit, tried, found, told=told, count=len(samples))
    if unsettled is not None:
        return unsettled
    chosen = _reached(state, runtime, unit, _ranked(tried.passing, found))
    if chosen.missing:
        why = f"wrong: no example reaches this line, so nobody asked for it: {chosen.missing}"
        summary = f"no sample of {name} is without a line that no example reaches"
        return failed(summary, error_type="tests-fail", text=f"{told}\n{why}")
    edge = moved_edge(state, runtime, unit, chosen.text)
    if edge is not None:
        return _open(f"the samples of {name} that pass change an answer that no example speaks of", edge, told)
    lack = forgotten(state, runtime, unit, chosen.text)
    if lack is not None:
        return _open(f"the samples of {name} that pass leave something out", lack, told)
    habit = leaned_on(state, runtime, unit, chosen.text)
    if habit is not None:
        return _open(f"the samples of {name} that pass may lean on what all examples have in common", habit, told)
    _write(runtime, unit, chosen.text)
    left_out = ", without lines that no example reaches" if chosen.trimmed else ""
    return Observation(
        status="success",
        summary=one_line(f"{_count(tried)} of {len(samples)} samples of {name} pass, {found.told}; written{left_out}"),
        text=told,
        artifacts=(unit.file,),
        changed=(unit.file,),
    )


def _unsettled(
    state: RunState, runtime: Runtime, unit: Unit, tried: TrialResult, found: Agreement, *, told: str, count: int
) -> Observation | None:
    """Another round where nothing agrees yet, then a question; None when enough agree, or a person's word stands for that."""
    rounds = rounds_alone(state, unit)
    vouched = bool(state.brief.tests) or is_confirmed(state, unit)
    if found.settled(_ENOUGH) or (rounds and found.split is None and vouched):
        return None
    split = found.split if rounds else None
    last = state.progress.turn.steps_in_attempt >= state.brief.limits.stage_steps
    if split is None and (last or rounds >= _ROUNDS_ALONE):
        split = only_answer(state, runtime, unit, tried.passing[0].text)
    if split is not None:
        return _open(f"the samples of {unit.name} that pass do not agree", split, told)
    _write(runtime, unit, _ranked(tried.passing, found)[0].text)
    return Observation(
        status="error",
        summary=one_line(f"{_count(tried)} of {count} samples of {unit.name} pass; more are drawn to compare"),
        text=told,
        error_type=ALONE,
        changed=(unit.file,),
    )


def _open(why: str, split: Split, told: str) -> Observation:
    """A question that only a person can answer."""
    return Observation(
        status="error",
        summary=one_line(f"{why}: {split.question}"),
        text=told,
        error_type="disagreement",
        payload={"question": split.question, "options": list(split.options), "about": split.call},
    )


def try_samples(state: RunState, runtime: Runtime, unit: Unit, samples: Sequence[str]) -> TrialResult:
    """Run the tests with each different sample, and with what an earlier step left where it was alone."""
    base = text_beneath(state, runtime, unit)
    candidates, unusable = _candidates(base, unit, samples)
    held = _held(state, runtime, unit, base)
    if held is not None:
        known = candidates.get(held.code)
        numbers = (*known.numbers, 0) if known else (0,)
        candidates[held.code] = SampleCandidate(text=held.text, code=held.code, numbers=numbers, size=held.size)
    wanted = tests_wanted(state, runtime, unit)
    tree = runtime.guard.tree()
    judged = [_judged(one, state, runtime, unit, tree=tree, wanted=wanted) for one in candidates.values()]
    return TrialResult(
        passing=tuple(one for one in judged if not one.wrong),
        failing=tuple(one for one in judged if one.wrong),
        unusable=unusable,
    )


def _candidates(base: str, unit: Unit, samples: Sequence[str]) -> tuple[dict[str, SampleCandidate], dict[int, str]]:
    found: dict[str, SampleCandidate] = {}
    unusable: dict[int, str] = {}
    for number, sample in enumerate(samples, 1):
        try:
            text = spliced(base, unit, answer_in(sample, unit))
        except Unusable as exc:
            unusable[number] = str(exc)
            continue
        code = same_code(text)
        known = found.get(code)
        numbers = (*known.numbers, number) if known else (number,)
        found[code] = SampleCandidate(
            text=known.text if known else text,
            code=code,
            numbers=numbers,
            size=len(text),
            documented=_documented(text, unit),
        )
    return found, unusable


def _documented(text: str, unit: Unit) -> bool:
    node = find_definition(ast.parse(text), unit.name)
    return node is not None and ast.get_docstring(node) is not None


def _held(state: RunState, runtime: Runtime, unit: Unit, base: str) -> SampleCandidate | None:
    """What stands in the workspace because it passed alone in an earlier step of this attempt."""
    if not is_waiting(state, unit):
        return None
    file = runtime.worktree / unit.file
    text = file.read_text("utf-8") if file.is_file() else ""
    if not text or text == base or find_definition(ast.parse(text), unit.name) is None:
        return None
    return SampleCandidate(text=text, code=same_code(text), numbers=(0,), size=len(text))


def _judged(
    one: SampleCandidate, state: RunState, runtime: Runtime, unit: Unit, *, tree: str, wanted: frozenset[str]
) -> SampleCandidate:
    rig = runtime.rig()
    edits = Edits(files=_with_stubs(state, runtime, unit, one.text))
    tests = tuple(dict.fromkeys([*suite_files(state), *near_tests(state)]))
    try:
        run = run_tree(replace(rig, timeout_s=min(rig.timeout_s, _LONGEST_RUN_S)), tree, tests=tests, edits=edits)
    except ToolchainError as exc:
        return replace(one, wrong=one_line(str(exc)))
    wrong = _failures(run, state, wanted) or holds(state, runtime, unit, one.text)
    return replace(one, wrong=wrong or _remembered(one.text, state, runtime, unit))


def _remembered(text: str, state: RunState, runtime: Runtime, unit: Unit) -> str:
    """Whether a sample that passes knows the numbers of the examples instead of computing them."""
    node, claims = find_definition(ast.parse(text), unit.name), claims_by_unit(state)[unit.name]
    if node is None or not holds_number(node, claims, request=state.brief.request):
        return ""
    near = probes(calls_of(state, runtime, unit))
    given = answers_near(state, runtime, unit, text, near)
    return "it gives the numbers of the examples whatever it is asked" if remembers(claims, given) else ""


def _with_stubs(state: RunState, runtime: Runtime, unit: Unit, text: str) -> dict[str, bytes | None]:
    """The file with a sample, and raising stubs of what is written later: a test file that imports all of it can be collected."""
    files = {unit.file: text}
    for other in units_of(state):
        if other.change != "new" or other.owner or other.name in (unit.name, *state.progress.turn.written):
            continue
        source = files.get(other.file)
        if source is None:
            place = runtime.worktree / other.file
            source = place.read_text("utf-8") if place.is_file() else ""
        if find_definition(ast.parse(source), other.name) is None:
            source = f"{source}\n\n{_STUB[other.kind == 'class'].format(name=other.name)}"
        files[other.file] = source
    return {path: source.encode() for path, source in files.items()}


def _failures(run: SuiteRun, state: RunState, wanted: frozenset[str]) -> str:
    """The first test that fails with a sample though it must pass, in its own words; "" when none does."""
    base = state.work.facts.get("baseline", {})
    bad = {*texts(base.get("failing")), *texts(base.get("flaky"))}
    if run.timed_out:
        return "it does not end in time"
    for error in run.collection_errors:
        return one_line(f"{error.id} cannot be collected: {error.text[-200:]}")
    own = {name for name in run.outcomes if name.partition("[")[0] in wanted}
    if not {name.partition("[")[0] for name in own} >= wanted:
        return "some of the tests never ran"
    ours = {str(row) for row in suite_files(state)}
    for name, outcome in run.outcomes.items():
        required = name in own or (name.partition("::")[0] not in ours and name not in bad)
        if required and not outcome.passed:
            return one_line(
                f"{name.rpartition('::')[2]}: {outcome.failure.message if outcome.failure else outcome.outcome}"
            )
    return "" if run.complete else "the run of the tests did not end well"


def _ranked(passing: Sequence[SampleCandidate], found: Agreement) -> list[SampleCandidate]:
    """Of those that most agree with: first one with a docstring, then what was said most often, then the shortest."""
    inside = [one for one in passing if one.text in found.largest] or list(passing)
    return sorted(inside, key=lambda one: (not one.documented, -len(one.numbers), one.size))


def _reached(state: RunState, runtime: Runtime, unit: Unit, ranked: Sequence[SampleCandidate]) -> TrimmedSample:
    """The best sample without a line that no example reaches; where other units follow, or it is allowed, the best one."""
    later = [one for one in units_of(state) if one.name not in (unit.name, *state.progress.turn.written)]
    if later or runtime.verification.get("untested"):
        return TrimmedSample(text=ranked[0].text)
    near = probes(calls_of(state, runtime, unit))
    return choose_reached(
        state,
        runtime,
        unit,
        [one.text for one in ranked],
        base=text_beneath(state, runtime, unit),
        answers=lambda text: answers_near(state, runtime, unit, text, near),
    )


def _count(tried: TrialResult) -> int:
    return sum(1 for one in tried.passing for number in one.numbers if number)


def _write(runtime: Runtime, unit: Unit, text: str) -> None:
    file = runtime.worktree / unit.file
    file.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(file, text.encode())


def _told(tried: TrialResult, count: int) -> str:
    rows = [f"{_count(tried)} of {count} samples pass, {len(tried.passing)} of them different"]
    rows += [f"wrong: {one.wrong}" for one in tried.failing]
    rows += [f"unusable: {reason}" for reason in dict.fromkeys(tried.unusable.values())]
    return "\n".join(rows)
