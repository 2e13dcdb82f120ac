"""Facts of calls that are repeated on a verified tree: measured dependencies, and results that nobody asked to change.

Whether request and specification speak of something: in sentences, or in the names that they declare.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.canonical import digest_value
from agentforge.errors import ToolchainError
from agentforge.events.state.run_state import RunState
from agentforge.languages.python.source import reached
from agentforge.languages.symbols import Symbol, symbols_of
from agentforge.pipeline.facts.held_out import claims_of
from agentforge.pipeline.facts.impact import within_share
from agentforge.pipeline.facts.source_findings import changed_product, out_of_scope_calls, words_of_people
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import product_symbols
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.safety.text.hygiene import outside
from agentforge.suite import Rig, run_tree
from agentforge.testing.coverage import traced_of
from agentforge.testing.plan import plan_digest
from agentforge.verification.effects.measured_dependencies import PYTHON, MeasuredCall, calls_of, measure_dependencies
from agentforge.verification.effects.recorded_calls import differing, probe_of, recorded_calls
from agentforge.verification.effects.replay_javascript import JAVASCRIPT, node_calls
from agentforge.verification.examples.claims import Claim
from agentforge.verification.stages.plain_process_checks import assertions_of_tests

_VERSION = 4
_LANGUAGES = {"python": PYTHON, "javascript": JAVASCRIPT}
_SHARE, _LEAST_S, _MOST_S = 0.25, 30.0, 90.0
"""What repeating calls may take, as a share of the whole suite's time, and in seconds for a quick and for a slow one."""


def repeated_facts(
    state: RunState, runtime: Runtime, facts: Json, *, tree: str, recorded: Sequence[Json]
) -> dict[str, object]:
    """What repeating the known calls of a tree shows whose suite passes.

    Args:
        facts: of GREEN so far; `out_of_scope` is read.
        recorded: calls that the tests were seen to make.
    Returns:
        {dependencies, out_of_scope}; out_of_scope with the functions that give other results though nobody asked for it.
    """
    tests = [str(row.get("id")) for row in items(state.work.facts.get("red", {}).get("tests"))]
    symbols = symbols_of(product_symbols(state.work.artifacts.get("spec", {})))
    found = dependency_facts(
        state, runtime, tree=tree, tests=tests, claims=claims_of(state), symbols=symbols, recorded=recorded
    )
    other = out_of_scope_calls(state, runtime, recorded, tree=tree) if recorded else []
    told = texts(facts.get("out_of_scope"))
    return {**found, "out_of_scope": [*told, *(one for one in other if one not in told)]}


def dependency_facts(
    state: RunState,
    runtime: Runtime,
    *,
    tree: str,
    tests: Sequence[str],
    claims: Sequence[Claim] = (),
    symbols: Sequence[Symbol] = (),
    recorded: Sequence[Mapping[str, Any]] = (),
) -> dict[str, object]:
    """Repeat what request, specification and tests know of the change under other circumstances.

    Args:
        tests: ids of frozen tests whose assertions are repeated.
        recorded: calls that tests were seen to make (`programs/recorded_calls.py`).
    Returns:
        {dependencies: see measure_dependencies}; {} where there is nothing that could be measured.
    """
    rig, base = runtime.rig(), state.work.trees["baseline"]
    language = _LANGUAGES.get(rig.plan.language)
    if language is None or (rig.plan.language == "python" and not rig.plan.interpreter):
        return {}
    told = outside(words_of_people(state))
    key = _key(rig, base, tree, claims=claims, symbols=symbols, tests=tests, recorded=recorded, told=told)
    known = rig.cache.recall(key) if rig.cache is not None else None
    if known is not None:
        return {"dependencies": known}
    calls = _calls(rig, base, tree, claims=claims, symbols=symbols, tests=tests, recorded=recorded)
    try:
        found = measure_dependencies(
            rig,
            calls,
            base_tree=base,
            tree=tree,
            within_s=seconds_for(state),
            language=language,
            of_time=speaks_of_time(told),
            told=told,
        )
    except ToolchainError:
        return {}
    if rig.cache is not None and not found["stopped"] and not any(row["decides"] for row in found["found"]):
        rig.cache.keep(key, found)
    return {"dependencies": found}


def repaired_facts(state: RunState, runtime: Runtime, *, tree: str) -> dict[str, object]:
    """The same of a tree in which violations were repaired: calls come from the guards, and from tests near to the repair.

    A repair changes no behaviour as a rule: recorded calls that give another plain value than at the base are told.

    Returns:
        {dependencies}, with a row for each such call; {} where there is nothing that could be measured.
    """
    rig, base = runtime.rig(), state.work.trees["baseline"]
    guards = [str(row.get("id")) for row in items(state.work.facts.get("guard", {}).get("tests"))]
    changed = [path for path in changed_product(state, rig, tree) if path.endswith(".py")]
    near = _near(state, runtime, changed, tree=tree)
    recorded: Sequence[Mapping[str, Any]] = ()
    if rig.plan.language == "python" and changed and (near or guards):
        run = run_tree(
            bounded_rig(state, runtime), tree, tests=(*guards, *near), trace=True, traced_files=changed, calls=True
        )
        recorded = traced_of(run).calls
    found = dependency_facts(state, runtime, tree=tree, tests=guards, recorded=recorded)
    told = {str(row["source"]): str(row["told"]) for row in recorded}
    probes = [probe_of(row) for row in recorded]
    rows = [
        {"call": call, "circumstance": "than at the base", "before": before, "after": after, "contradicts": False,
         "decides": False}
        for call, before, after in differing(rig, base, tree, probes, told=told)
    ]  # fmt: skip
    measured = found.get("dependencies")
    return {"dependencies": {**measured, "found": [*measured["found"], *rows]}} if isinstance(measured, dict) else {}


def _near(state: RunState, runtime: Runtime, changed: Sequence[str], *, tree: str) -> tuple[str, ...]:
    """Tests of the base in files that import a changed file, as many as take a share of the suite's time."""
    rig, digest = runtime.rig(), state.work.evidence.get("baseline")
    passed = json.loads(runtime.blobs.get(digest)).get("passed_ids", ()) if digest else ()
    present, read = frozenset(rig.git.list_files(tree)), rig.read(tree)
    files = {str(one).partition("::")[0] for one in passed}
    near = {one for one in files if set(changed) & reached([one], present=present, roots=rig.plan.roots, read=read)}
    return within_share(state, runtime, [str(one) for one in passed if str(one).partition("::")[0] in near])


def seconds_for(state: RunState) -> float:
    """How long calls may be repeated: a share of the time that the suite takes at the base."""
    whole = state.work.facts.get("baseline", {}).get("duration_s")
    return min(_MOST_S, _LEAST_S + _SHARE * float(whole if isinstance(whole, (int, float)) else 0.0))


def _calls(
    rig: Rig, base: str, tree: str, *, claims: Sequence[Claim], symbols: Sequence[Symbol], tests: Sequence[str],
    recorded: Sequence[Mapping[str, Any]],
) -> tuple[MeasuredCall, ...]:  # fmt: skip
    if rig.plan.language == "javascript":
        return node_calls(claims, tests, symbols=symbols, rig=rig, tree=tree)
    seen = recorded_calls(rig, recorded, base_tree=base, tree=tree)
    return calls_of(claims, assertions_of_tests(rig, tests, tree), seen, symbols=symbols, rig=rig, tree=tree)


def _key(
    rig: Rig, base: str, tree: str, *, claims: Sequence[Claim], symbols: Sequence[Symbol], tests: Sequence[str],
    recorded: Sequence[Mapping[str, Any]], told: str,
) -> dict[str, object]:  # fmt: skip
    key = {
        "repeated": _VERSION, "base": base, "tree": tree, "plan": plan_digest(rig.plan), "sandbox": rig.confinement,
        "claims": [one.text for one in claims], "hidden": [one.hidden for one in claims], "tests": sorted(tests),
        "symbols": [[one.name, one.file, one.signature] for one in symbols], "recorded": [dict(one) for one in recorded],
        "told": told,
    }  # fmt: skip
    return {"repeated": digest_value(key)}  # what is held out stands in no file but the log


_NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z0-9]+)+|[A-Za-z]*[a-z][A-Z][A-Za-z]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_OF_TIME = re.compile(
    r"(?i)\b(?:clocks?|dat(?:e|ed|es|etimes?)|days?|daily|daytime|today\w*|tomorrow|yesterday|now|hour\w*|minutes?|seconds?|weeks?|weekly"
    r"|week(?:day|end)s?|month\w*|year\w*|time\w*|timing|mornings?|\w*noon|evenings?|nights?|midnight|expir\w*|deadlines?|season\w*|leap"
    r"|birth\w*|ages?|aged|utc|schedul\w*|recent\w*|elapsed|durations?|ttl|calend\w*|quarter\w*|fiscal|centur\w+|decades?|ago"
    r"|stale\w*|outdated|overdue|due|sunday|monday|tuesday|wednesday|thursday|friday|saturday|holidays?|era|epoch|moment|january|february|march|april|june|july"
    r"|august|september|october|november|december|spring|summer|autumn|winter|christmas|easter|new year|(?:19|20)\d\d)\b"
)


def with_parts_of_names(told: str) -> str:
    """Add the words that names are made of: `is_weekend` and `isWeekend` speak of a weekend."""
    parts = [" ".join(_PART.findall(name)) for name in _NAME.findall(told)]
    return "\n".join([told, *dict.fromkeys(parts)])


def speaks_of_time(told: str) -> bool:
    """Whether words speak of time, so that a result may be another one later; they excuse, and never refuse."""
    return _OF_TIME.search(with_parts_of_names(told)) is not None
