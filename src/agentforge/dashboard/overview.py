"""The first page of a task: what waits for you, what was delivered and how that is shown, the timeline, the facts.

What a delivered task shows first: what was assumed, what is proved, and the commands that take it. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agentforge.app.tasks.parts import parts_of
from agentforge.dashboard.ground import Repository
from agentforge.dashboard.run_index import Reading, rows_of
from agentforge.dashboard.timeline import break_rows, stage_rows, totals_line
from agentforge.events.kinds.dependencies import part_label
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.plugins.stage_order import names_of
from agentforge.views.words import texts_of

_LATEST = 8
_KEPT = "Nothing is lost: it goes on where it stood."
_ANOTHER_MODEL = "Resume when that is mended, or go on with another model."
_HINTS = {
    "interrupted": "It was stopped by hand, and goes on where it stood.",
    "no-model": _ANOTHER_MODEL,
    "model-auth": _ANOTHER_MODEL,
    "model-not-found": _ANOTHER_MODEL,
    "rate-limited": "The provider wants fewer requests. Resume later, or go on with another model.",
    "model-unavailable": "The provider does not answer. Resume later, or go on with another model.",
}


def overview_values(reading: Reading, *, standing: str, running: bool) -> dict[str, Any]:
    """Everything that the first page of a task shows below its head; the files of `templates/cards` see it, too."""
    from markupsafe import Markup

    state, timeline = reading.state, reading.timeline
    now = datetime.now(UTC).timestamp() if running else None
    names = list(dict.fromkeys((*names_of(state), *state.progress.stages)))
    rows = stage_rows(timeline, names, state.progress.stages, now=now, ended=bool(state.progress.outcome))
    for row in rows:
        row["bar"] = Markup(row["bar"])  # escaped where it is drawn
    count = len(reading.index)
    latest = [] if state.progress.outcome else list(rows_of(reading, range(count, max(0, count - _LATEST), -1)))
    return {
        "stages": rows,
        "totals": totals_line(rows),
        "breaks": break_rows(timeline),
        "why": why_of(reading, standing=standing),
        "card": card_of(state),
        "analysis": analysis_of(state),
        "plan": _plan(state),
        "parts": _parts(state),
        "used": _used(state),
        "latest": latest,
        "models": sorted({spent.model for spent in state.usage.spending.values()}),
        "cost": state.usage.totals.cost_usd if state.usage.totals.cost_known else None,
        "human_s": sum(one["seconds"] or 0.0 for one in break_rows(timeline) if one["kind"] != "stopped"),
    }


def why_of(reading: Reading, *, standing: str) -> dict[str, str]:
    """Why a task stands where it does, and what helps; {} where the page says it in another place."""
    state, stopped = reading.state, reading.timeline.interrupted
    if standing == "running":
        return {"what": _under_way(reading), "then": ""}
    if standing == "waiting":
        return {
            "what": f"It waits for {', '.join(state.relations.waits_for)}.",
            "then": "It begins by itself when that is delivered.",
        }
    if standing == "queued":
        return {"what": "It waits for a worker.", "then": "Start one with agentforge worker, or resume it from here."}
    if standing != "paused" or state.people.open_escalations:
        return {}
    if stopped:
        slug = str(stopped.get("slug") or "")
        then = _HINTS.get(slug, _KEPT)
        return {"what": "" if slug == "interrupted" else str(stopped.get("reason") or ""), "then": then}
    if not reading.timeline.attempts:
        return {"what": "Nobody has begun to work on it.", "then": "Resume begins it."}
    return {"what": "The process that drove it ended without giving a reason.", "then": _KEPT}


def _under_way(reading: Reading) -> str:
    """What the process that drives a run is about."""
    state, attempts = reading.state, reading.timeline.attempts
    if not attempts:
        return "Its process is starting."
    if not state.progress.stage:
        return f"Between {attempts[-1].stage} and the next stage; {state.usage.totals.steps} steps so far."
    return f"Working on {state.progress.stage}, attempt {attempts[-1].number}; {state.usage.totals.steps} steps so far."


def _plan(state: RunState) -> dict[str, str] | None:
    """The plan that the run is a part of, with its address."""
    plan = state.identity.digests.get("plan")
    if not isinstance(plan, Mapping):
        return None
    return {"repo": part_label(plan), **_address(str(plan.get("path")), str(plan.get("run_id")))}


def _parts(state: RunState) -> list[dict[str, str]]:
    """The tasks that a plan became: where they are and how they stand."""
    if not state.relations.parts:
        return []
    return [
        {"repo": part_label(row), "standing": part.row.outcome, **_address(str(part.path), part.task_id)}
        for part in parts_of(state)
        for row in [{"repo": part.repo, "part": part.name if part.name != part.repo else ""}]
    ]


def _address(path: str, task: str) -> dict[str, str]:
    return {"task_id": task, "href": f"/t/{Repository(name='', path=Path(path)).key}/{quote(task, safe='')}"}


def _used(state: RunState) -> list[tuple[str, float, float | None]]:
    """(what, used, limit) of everything that is bounded."""
    totals, limits = state.usage.totals, state.brief.limits
    return [
        ("steps", totals.steps, limits.max_steps),
        ("tokens", totals.prompt_tokens + totals.completion_tokens, limits.budget_tokens),
        ("USD", round(totals.cost_usd, 4), limits.budget_usd),
        ("seconds", round(state.progress.active_s), limits.deadline_s),
    ]


Row = Mapping[str, Any]


def card_of(state: RunState, *, draft: Row | None = None) -> dict[str, Any] | None:
    """The delivery of a run as people decide about it; None where nothing was delivered. Every number was measured.

    Args:
        draft: the report of a delivery that waits for approval.
    """
    report, delivered = draft or state.work.artifacts.get("deliver"), state.work.delivered or {}
    if not report or not (delivered or draft):
        return None
    base = state.identity.base_commit[:12]
    return {
        "title": _subject(report) or str(report.get("title") or "Delivery"),
        "branch": state.identity.branch,
        "delivered": bool(delivered),
        "commit": str(delivered.get("commit") or ""),
        "look": f"git diff {base} {state.identity.branch}",
        "merge": f"git merge {state.identity.branch}",
        "assumptions": _rows(report, "assumptions"),
        "answers": _rows(report, "answers"),
        "proved": _proved(report),
        "checks": _checks(report),
        "survivors": [row for row in _rows(_mapping(report.get("mutation")), "survivors") if not row.get("equivalent")],
        "untested": _rows(report, "untested"),
        "files": _rows(report, "changes"),
        "limits": texts_of(report.get("limits")),
        "notes": _rows(report, "notes"),
        "follow_ups": texts_of(report.get("follow_ups")),
    }


def _subject(report: Row) -> str:
    commits = _rows(report, "commits")
    return str(commits[0].get("subject") or "") if commits else ""


def _proved(report: Row) -> list[dict[str, Any]]:
    """Each part of the request with the tests that show it; where the request was not taken apart, each requirement."""
    asks = _rows(report, "asks")
    if asks:
        return [
            {
                "text": row.get("text"),
                "then": "; ".join(str(row[name]) for name in ("becomes", "note") if row.get(name)),
                "tests": texts_of(row.get("tests")),
                "lines": row.get("lines"),
            }
            for row in asks
        ]
    return [
        {
            "text": row.get("description"),
            "then": "; ".join(str(row[name]) for name in ("id", "note") if row.get(name)),
            "tests": texts_of(row.get("tests")),
            "lines": None,
        }
        for row in _rows(report, "requirements")
    ]


def _checks(report: Row) -> list[tuple[bool, str]]:
    """(whether it holds, what was measured) for the whole tree."""
    found, score = _mapping(report.get("verification")), _mapping(report.get("mutation"))
    if not found:
        return []
    known, passes = len(texts_of(found.get("failing_at_base"))), found.get("all_tests_pass") is True
    besides = f" but {known} that failed before, too" if known else ""
    ran = f"{found.get('tests_run')} tests ran in a fresh checkout"
    told = [
        (passes, f"{ran}, and all{besides} pass" if passes else f"{ran}, and some fail"),
        (
            found.get("no_regressions") is True,
            "Nothing that worked before is broken"
            if found.get("no_regressions")
            else "A test that passed before fails",
        ),
        (found.get("conformance_passing") is True, f"Checks: {', '.join(texts_of(found.get('checks'))) or 'none'}"),
    ]
    if score.get("run"):
        killed, every = score.get("killed"), score.get("run")
        told.append((killed == every, f"The tests notice {killed} of {every} small wrong changes (mutants)"))
    controls = _mapping(found.get("controls"))
    if "held" in controls:
        held = controls["held"] is True
        told.append((held, "The controls of the measurement held" if held else "A control of the measurement failed"))
    return told


def analysis_of(state: RunState) -> dict[str, Any] | None:
    """What an analysis came to, where the request asked for nothing else."""
    found = state.work.artifacts.get("analyze")
    if state.progress.outcome != "analyzed" or not found:
        return None
    return {
        "summary": str(found.get("summary") or ""),
        "findings": texts_of(found.get("findings")),
        "risks": [str(row.get("description") or "") for row in _rows(found, "risks")],
        "constraints": texts_of(found.get("constraints")),
    }


def _mapping(value: object) -> Row:
    return value if isinstance(value, Mapping) else {}


def _rows(value: Row, name: str) -> list[Row]:
    found = value.get(name)
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, Sequence) else []
