"""A request for speed: what SPEC wants measured is tried at the base, and measured against it on the tree that GREEN made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.contracts.inspection import by_measurement_alone, is_for_speed, measured_rows
from agentforge.errors import ToolchainError
from agentforge.events.fold.delivered import judged
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.model.profile import profile_of
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Json, items, texts

if TYPE_CHECKING:
    from agentforge.verification.roads.speed import Speed, TimedStatement

RULE = "speed-specified"
_MOST = 4
_PYTHON_ALONE = "times are measured of Python alone"


def asked_for(state: RunState) -> bool:
    """Whether INTAKE reads the request as one for less time."""
    return is_for_speed(state.work.artifacts.get("intake", {}))


def statement_facts(state: RunState, draft: Json, runtime: Runtime) -> dict[str, object]:
    """Try at the base what a draft of SPEC wants measured.

    Returns:
        {} where nobody speaks of speed; else {performance: {asked, again, rows: [{number, requirement, statement, ok, reason,
        figures}]}}: `again` says that SPEC was asked for a measurement before.
    """
    given = items(draft.get("measurements"))[:_MOST]
    asked = asked_for(state)
    if not profile_of(state).measures_speed or not (given or asked):
        return {}
    again = any(row.get("rule") == RULE for row in state.review.findings)
    possible = runtime.rig().plan.language == "python" and bool(runtime.rig().plan.interpreter)
    if not possible:
        rows = [_tried(number, one, reason=_PYTHON_ALONE) for number, one in enumerate(given)]
        return {"performance": {"asked": asked, "again": True, "rows": rows, "reason": _PYTHON_ALONE}}
    files = texts(draft.get("files_to_modify"))
    rows = [_looked(number, one, state, runtime, files=files) for number, one in enumerate(given)]
    return {"performance": {"asked": asked, "again": again, "rows": rows}}


def usable(draft: Json, facts: Json) -> dict[str, object]:
    """The draft of SPEC without the measurements that could not be made at the base: the report tells them."""
    if "measurements" not in draft:
        return dict(draft)
    rows = items(_performance(facts).get("rows"))
    good = {row.get("number") for row in rows if row.get("ok") is True}
    kept = [dict(one) for number, one in enumerate(items(draft.get("measurements"))) if number in good]
    rest = {key: value for key, value in draft.items() if key != "measurements"}
    return {**rest, "measurements": kept} if kept else rest


def speed_facts(state: RunState, runtime: Runtime, facts: Json, *, tree: str) -> dict[str, object]:
    """Measure on a tree whose suite passes what the specification wants measured.

    Returns:
        {} where nothing is; else {speed: {rows: [{requirement, statement, verdict, message, nearby, figures}]}}.
    """
    wanted = measured_rows(state.work.artifacts.get("spec", {}))
    if not wanted or not (facts.get("all_tests_pass") and facts.get("no_regressions")):
        return {}
    from agentforge.verification.roads.speed import measure_speed

    rows = []
    for one in wanted:
        statement = _statement(one)
        try:
            found = measure_speed(
                bounded_rig(state, runtime), statement, base_tree=state.work.trees["baseline"], tree=tree
            )
        except ToolchainError as exc:
            rows.append({**_named(one), "verdict": "unmeasured", "message": exc.message})
            continue
        rows.append({**_named(one), **_row(statement, found)})
    return {"speed": {"rows": rows}}


def speed_lines(facts: Json) -> list[str]:
    """The figures of a tree for the report: `REQ-001 f(x): before 12.1 ms, after 1.3 ms (9.3x), 7 rounds`."""
    return [str(row.get("message")) for row in _rows(facts) if row.get("verdict") == "faster"]


def speed_notes(facts: Json) -> list[str]:
    """What a reviewer should know of the figures."""
    noted = ((row.get("statement"), row.get("figures")) for row in _rows(facts))
    return [f"{name}: {told['note']}" for name, told in noted if isinstance(told, dict) and told.get("note")]


def speed_limits(state: RunState) -> list[str]:
    """That a request asks for speed and nothing was measured, and why."""
    told = _performance(state.work.facts.get("spec", {}))
    rows = _rows(judged(state.work.facts, {}))
    out = [
        f"not measured: {row.get('statement')}: {row.get('message')}"
        for row in rows
        if row.get("verdict") == "unmeasured"
    ]
    out += [
        f"not measured: {row.get('statement')}: {row.get('reason')}"
        for row in items(told.get("rows"))
        if not row.get("ok")
    ]
    if told.get("asked") and not any(row.get("verdict") == "faster" for row in rows):
        reason = str(told.get("reason") or "the specification brings no measurement that can be made")
        out.append(f"the request asks for speed, and no time was measured: {reason}")
    return out


def wanted_text(state: RunState) -> str:
    """What SPEC is told where the request asks for speed; "" elsewhere."""
    if not asked_for(state) or not profile_of(state).measures_speed:
        return ""
    return (Path(__file__).parents[1] / "prompts" / "speed.md").read_text("utf-8")


def measured_text(state: RunState) -> str:
    """What RED and GREEN are told of the measurements of the specification; "" where there are none."""
    wanted = measured_rows(state.work.artifacts.get("spec", {}))
    if not wanted:
        return ""
    known = {row.get("statement"): row for row in items(_performance(state.work.facts.get("spec", {})).get("rows"))}
    lines = []
    for one in wanted:
        ratio, most = one.get("ratio"), one.get("at_most_ms")
        bound = f" at least {ratio}x" if ratio else f" at most {most} ms" if most else ""
        told = str(known.get(one.get("statement"), {}).get("told", ""))
        lines.append(
            f"- {one.get('requirement', '')} `{one.get('statement')}` {told}; it must become faster{bound}".replace(
                "  ", " "
            )
        )
    alone = by_measurement_alone(state.work.artifacts.get("spec", {}), state.work.artifacts.get("intake", {}))
    tests = "guards suffice." if alone else "a requirement without a measurement needs a target."
    lines.append(
        f"Results must stay equal to those of the base, for these and for nearby inputs. No test asserts a time; {tests}"
    )
    return "\n".join(lines)


def _looked(number: int, one: Json, state: RunState, runtime: Runtime, *, files: list[str]) -> dict[str, object]:
    from agentforge.verification.roads.speed import duration, look_at_base

    try:
        found = look_at_base(bounded_rig(state, runtime), state.work.trees["baseline"], _statement(one), files=files)
    except ToolchainError as exc:
        return _tried(number, one, reason=exc.message)
    told = {"told": f"takes {duration(found.seconds)} at the base"} if not found.problem else {}
    figures = {"seconds": found.seconds, **told}
    return {**_tried(number, one, reason=found.problem), **told, "figures": figures}


def _tried(number: int, one: Json, *, reason: str) -> dict[str, object]:
    return {"number": number, **_named(one), "ok": not reason, "reason": reason}


def _named(one: Json) -> dict[str, object]:
    return {"requirement": str(one.get("requirement") or ""), "statement": str(one.get("statement") or "")}


def _statement(one: Json) -> TimedStatement:
    from agentforge.verification.roads.speed import TimedStatement

    ratio, most = one.get("ratio"), one.get("at_most_ms")
    return TimedStatement(
        statement=str(one.get("statement") or ""),
        setup=str(one.get("setup") or ""),
        requirement=str(one.get("requirement") or ""),
        ratio=float(ratio) if isinstance(ratio, int | float) else 0.0,
        at_most_ms=float(most) if isinstance(most, int | float) else 0.0,
    )


def _row(one: TimedStatement, found: Speed) -> dict[str, object]:
    from agentforge.verification.roads.speed import duration

    name = f"{one.requirement} `{' '.join(one.statement.split())[:100]}`".strip()
    figures: dict[str, object] = {}
    told = ""
    if found.before:
        before, after = (sorted(values)[len(values) // 2] for values in (found.before, found.after))
        rounds = f"{len(found.before)} rounds"
        spread = f"{duration(min(found.after))} to {duration(max(found.after))}"
        told = f"before {duration(before)}, after {duration(after)} ({found.ratio:.1f}x), {rounds}, after {spread}"
        told += f"; equal results for {found.nearby} nearby inputs" if found.nearby else ""
        figures = {"before_s": list(found.before), "after_s": list(found.after), "first_s": list(found.first)}
    message = f"{name}: {'; '.join(part for part in (told, found.why) if part)}"
    figures |= {"note": found.note} if found.note else {}
    return {"verdict": found.verdict, "message": message, "nearby": found.nearby, "figures": figures}


def _rows(facts: Json) -> list[Json]:
    speed = facts.get("speed")
    return items(speed.get("rows")) if isinstance(speed, dict) else []


def _performance(facts: Json) -> Json:
    told = facts.get("performance")
    return told if isinstance(told, dict) else {}
