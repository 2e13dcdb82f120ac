"""Held-out checks of a task: examples of request and specification, split by a recorded seed into shown and hidden ones.

Hidden examples stay in the artifact and the log; no later stage sees them in a context, a tool result or a file.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from types import ModuleType

from agentforge.canonical import digest_value
from agentforge.events.state.run_state import RunState
from agentforge.languages.symbols import symbols_of
from agentforge.pipeline.engine.disputes import refuted, rulings
from agentforge.pipeline.engine.rulings import counts
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.ledger.entries import context_of, ledger_of
from agentforge.pipeline.ledger.placement import standing_examples
from agentforge.pipeline.ledger.promises import chosen_results, claims_of_asks, decided, near_groups
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import product_symbols
from agentforge.pipeline.model.stage import Json, items, texts
from agentforge.suite import Edits
from agentforge.verification.examples import claims, claims_javascript
from agentforge.verification.examples.claims import Claim, contradictions, distinct, outcome, spelling
from agentforge.verification.examples.near_results import NearGroup
from agentforge.verification.stages.plain_process_checks import Outside, measure_outside, unmeasured

_WRONG = ("wrong", "raises")  # the stubs of RED that are like the wrong bodies that GREEN's functions get
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")


def split_facts(state: RunState, draft: Json) -> dict[str, object]:
    """Check the examples of a specification, and choose which are held out.

    An example is held out only when the request and the criteria do not tell it; of these, half for each callable.

    Returns:
        {seed, rows: [{number, call, ok, reason, hidden}]}; the seed follows from the run and the draft.
    """
    rows = _checked(state, draft)
    seed = int(digest_value([state.identity.run_id, [dict(item) for item in items(draft.get("examples"))]])[:8], 16)
    hidden = _hidden(state, draft, rows, seed=seed)
    return {"seed": seed, "rows": [{**row, "hidden": row["number"] in hidden} for row in rows]}


def unusable_examples(state: RunState, draft: Json) -> list[tuple[int, str]]:
    """List the examples of a specification that nothing can check: the number of each, and why."""
    return [(number, str(row["reason"])) for number, row in enumerate(_checked(state, draft)) if row["ok"] is not True]


def _checked(state: RunState, draft: Json) -> list[dict[str, object]]:
    """Each example of a specification, and whether it is a call of something declared with one result that can be compared."""
    reader = _reader(draft)
    rows: list[dict[str, object]] = []
    claims: list[Claim] = []
    declared = {str(item.get("name", "")).split(".")[0] for item in product_symbols(draft)}
    ids = {str(item.get("id", "")) for item in items(draft.get("requirements"))}
    known = all(str(item.get("file", "")).endswith((".py", *_JAVASCRIPT)) for item in product_symbols(draft))
    for number, example in enumerate(items(draft.get("examples"))):
        row: dict[str, object] = {"number": number, "call": str(example.get("call", "")), "ok": True, "reason": ""}
        try:
            claim = reader.claim_of(example)
            claims.append(claim)
            if not {*reader.names_of(claim.call)} & {*declared, *_module_names(draft)}:
                row |= {"ok": False, "reason": f"{claim.call!r} calls nothing that the specification declares"}
            elif claim.requirement and claim.requirement not in ids:
                row |= {"ok": False, "reason": f"{claim.requirement} of {claim.call!r} is not in the specification"}
        except ValueError as exc:
            row |= {"ok": not known, "reason": str(exc)}
        rows.append(row)
    twice = contradictions(claims)
    for row in rows:
        if row["call"] in twice:
            row |= {"ok": False, "reason": f"{row['call']!r} is given two different results"}
    return rows


def claims_of(state: RunState) -> tuple[Claim, ...]:
    """Everything that request and specification claim of single calls; not what a human's answer dropped.

    The request may give one call two results, today's and the new one; what it says of a call goes before the specification.
    """
    spec = state.work.artifacts.get("spec", {})
    reader = _reader(spec)
    asks = ledger_of(state)
    found: list[Claim] = [*claims_of_asks(state, reader), *chosen_results(state)]
    for text in standing_examples(state):
        requirement = _requirement_of(text, spec)
        found += [
            decided(
                state, replace(context_of(one, state.brief.request, asks, reader), requirement=requirement, asked=True)
            )
            for one in reader.claims_in(text)
        ]
    hidden = {row.get("number") for row in _rows(state) if row.get("hidden")}
    answers = [
        item.resolution.text for item in state.people.escalations.values() if item.resolution and item.kind == "stuck"
    ]
    dropped = _squeezed("\n".join(answers))
    wrong = {spelling(call) for call in refuted(state)}
    for number, example in enumerate(items(spec.get("examples"))):
        try:
            one = reader.claim_of(example)
        except ValueError:
            continue  # another language: said when the specification was judged
        if _squeezed(one.call) in dropped:
            continue
        requirement = one.requirement or _requirement_of(one.call, spec)
        found.append(
            Claim(
                call=one.call, returns=one.returns, raises=one.raises, requirement=requirement, hidden=number in hidden
            )
        )
    counted = [one for one in found if counts(one, state) and spelling(one.call) not in wrong]
    asked = {outcome(one): one for one in reversed(counted) if one.asked}
    said = {spelling(one.call) for one in asked.values()}
    return (
        *reversed(asked.values()),
        *distinct(one for one in counted if not one.asked and spelling(one.call) not in said),
    )


def shown_examples(state: RunState) -> str:
    """The examples of the specification that are not held out, one in a line."""
    hidden = {row.get("number") for row in _rows(state) if row.get("hidden")}
    lines = []
    for number, item in enumerate(items(state.work.artifacts.get("spec", {}).get("examples"))):
        if number not in hidden:
            result = f"raises {item.get('raises')}" if item.get("raises") else f"-> {item.get('returns')}"
            lines.append(f"{item.get('requirement', '')} {item.get('call')} {result}".strip())
    return "\n".join(lines)


def outside_facts(
    state: RunState, runtime: Runtime, *, tree: str, edits: Edits, passing: bool, seed: int
) -> dict[str, object]:
    """Measure a tree outside the test runner; a tree whose suite fails is not worth it.

    Args:
        edits: what the runs of the suite got instead of the tree's own files.
        passing: whether the suite passed.
    """
    if not passing:
        return unmeasured("the tests do not pass yet")
    red = state.work.facts.get("red", {})
    tests = items(red.get("tests"))
    rig = bounded_rig(state, runtime)
    given = Outside(
        claims=claims_of(state),
        symbols=symbols_of(product_symbols(state.work.artifacts.get("spec", {}))),
        targets=[str(row.get("id")) for row in tests if row.get("kind") == "target"],
        guards=[str(row.get("id")) for row in tests if row.get("kind") != "target"],
        content=[str(row.get("id")) for row in items(red.get("stubs_noticed")) if row.get("stub") in _WRONG],
        edits=edits,
        request=state.brief.request,
        seed=seed,
        near=_near(state, claims if rig.plan.language == "python" else claims_javascript),
    )
    return measure_outside(rig, given, base_tree=state.work.trees["baseline"], tree=tree)


def _near(state: RunState, reader: ModuleType) -> list[NearGroup]:
    """What stands together in the request, without calls whose result a human has decided."""
    decided_by_human = {one.call for one in rulings(state)}
    return [
        group
        for group in near_groups(state, reader)
        if not any(spelling(call) in decided_by_human for one in group.calls for call in (one.text, one.source))
    ]


def mentioned(value: object) -> Iterator[str]:
    """Every text inside a value, such as a specification."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from mentioned(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from mentioned(item)


def _reader(spec: Json) -> ModuleType:
    """What reads claims: in JavaScript where all declared symbols are written in it, else in Python."""
    files = [str(item.get("file", "")) for item in product_symbols(spec)]
    return claims_javascript if files and all(one.endswith(_JAVASCRIPT) for one in files) else claims


def _rows(state: RunState) -> list[Json]:
    split = state.work.facts.get("spec", {}).get("claims")
    return items(split.get("rows")) if isinstance(split, dict) else []


def _hidden(state: RunState, draft: Json, rows: list[dict[str, object]], *, seed: int) -> set[object]:
    """Half (rounded up) of the examples of each callable that nobody can read elsewhere."""
    reader = _reader(draft)
    told = {key: value for key, value in draft.items() if key != "examples"}
    known = _squeezed("\n".join([state.brief.request, *mentioned(told)]))
    groups: dict[str, list[object]] = {}
    for row in rows:
        if row["ok"] and _squeezed(str(row["call"])) not in known:
            groups.setdefault("".join(reader.names_of(str(row["call"]))[:1]), []).append(row["number"])
    chance = random.Random(seed)
    return {number for group in groups.values() for number in chance.sample(group, (len(group) + 1) // 2)}


def _requirement_of(text: str, spec: Json) -> str:
    """The requirement in whose criteria an example stands; the first one when none holds it."""
    wanted = _squeezed(text)
    rows = items(spec.get("requirements"))
    for row in rows:
        if wanted in _squeezed("\n".join(texts(row.get("acceptance_criteria")))):
            return str(row.get("id", ""))
    return str(rows[0].get("id", "")) if rows else ""


def _module_names(draft: Json) -> set[str]:
    files = [str(PurePosixPath(str(item.get("file", ""))).with_suffix("")) for item in product_symbols(draft)]
    return {part for file in files for part in file.split("/")}


def _squeezed(text: str) -> str:
    return "".join(text.split()).replace('"', "'")
