"""What stands on the screen when a run ends or waits: what came of it, on which evidence, at what cost, what next.

The parts of a split request in lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from agentforge.app.sessions.display import cost_text
from agentforge.app.tasks.parts import SplitPart, parts_of
from agentforge.cli.output.overview import standing_words
from agentforge.cli.output.phrases import counted
from agentforge.cli.output.terminal import Style, cut_words, printable, printable_lines, width_of, wrapped
from agentforge.config.durations import show_duration
from agentforge.events.fold.verification import to_repair
from agentforge.events.kinds.dependencies import part_label
from agentforge.events.state.run_state import Escalation, RunState
from agentforge.fleet import Queued
from agentforge.pipeline.delivery.assumptions import assumptions
from agentforge.pipeline.ledger.shown import ask_lines
from agentforge.views.run_views import attempt_lines
from agentforge.views.words import choice_lines, rows_of

_ANALYSIS = "artifacts/phases/analyze/analysis.md"
_LISTED = 8
_WIDTH = 160
_INDENT = 11
_NARROW = 20


def summary_lines(
    state: RunState, *, folder: Path, duration_s: float, style: Style, error: bool = True, queued: Queued | None = None
) -> list[str]:
    """Describe a run that ended, or that waits for a human, in a screenful.

    Args:
        queued: where it stands in the queue, None = it does not.
        error: with what went wrong; False where that is told elsewhere.
    """
    sign, word = ("note", queued.words) if queued else _verdict(state)
    colour = {"done": "green", "failed": "red"}.get(sign, "yellow")
    head = f"{style.sign(sign)} {word}"
    lines = ["", f"{style.paint(head, colour)}  {state.identity.run_id}  in {show_duration(duration_s)}"]
    lines += _rows(style, "assumed", [one.line for one in assumptions(state)])
    if state.work.delivered:
        lines += _rows(style, "branch", [_branch(state)])
    if state.progress.outcome == "analyzed":
        lines += _rows(style, "found", findings(state))
        lines += _rows(style, "report", [str(folder / _ANALYSIS)])
    lines += _rows(style, "asked", ask_lines(state))
    lines += _rows(style, "proved" if state.work.delivered else "wanted", requirements(state))
    lines += _rows(style, "checked", checks(state))
    lines += _rows(style, "untested", untested(state))
    if state.progress.error and error:
        hint = f" - {state.progress.error['hint']}" if state.progress.error.get("hint") else ""
        lines += _rows(
            style, "error", [f"{state.progress.error.get('slug')}: {state.progress.error.get('message')}{hint}"]
        )
    if state.work.attested:
        lines += _rows(
            style, "signed", [str(state.work.attested.get("key_id")) or "no: there is no key (agentforge keys init)"]
        )
    lines += _rows(style, "plan", _plan(state))
    lines += _rows(style, "parts", _parts(state))
    lines += _rows(style, "model", [_model(state)])
    lines += _rows(style, "tried", attempt_lines(state))
    lines += _rows(
        style, "kin", [*([f"forked from {state.identity.parent}"] if state.identity.parent else []), *_forks(state)]
    )
    lines += _rows(style, "marked", [f"{item['mark']} {item['note']}".rstrip() for item in state.people.marks])
    lines += _rows(style, "record", [str(folder)])
    return lines + (["", f"  {queued.next_step(state.identity.run_id)}"] if queued else _next(state))


def escalation_lines(item: Escalation, *, task_id: str, style: Style) -> list[str]:
    """Show a question with the commands that answer it."""
    address = f"{task_id}.{item.escalation_id}"
    lines = ["", style.paint(f"{style.sign('asked')} {item.kind} {address}  {printable(item.reason)}", "yellow")]
    lines += [f"  {part}" for line in printable_lines(item.question) for part in _fitting(line, style)]
    if item.shown:
        lines += [f"    {part}" for line in printable_lines(item.shown) for part in _fitting(line, style)]
    lines.append("")
    for line in choice_lines(item, task_id=task_id):
        told = [printable(line)] if line.startswith(" ") else _fitting(printable(line), style)  # a command stays whole
        lines += [f"  {part}" for part in told]
    return lines


def findings(state: RunState) -> list[str]:
    """What an analysis came to, and what it found."""
    analysis = state.work.artifacts.get("analyze", {})
    found = analysis.get("findings")
    texts = [analysis.get("summary"), *(found if isinstance(found, (list, tuple)) else ())]
    return [str(text) for text in texts if text]


def requirements(state: RunState) -> list[str]:
    """Each requirement with the tests that prove it."""
    mapping = state.work.artifacts.get("red", {}).get("coverage_mapping")
    lines = []
    for item in rows_of(state.work.artifacts.get("spec", {}).get("requirements")):
        name = str(item.get("id"))
        tests = mapping.get(name, []) if isinstance(mapping, Mapping) else []
        tests = [str(test) for test in tests] if isinstance(tests, (list, tuple)) else []
        more = f" and {len(tests) - 2} more" if len(tests) > 2 else ""
        shown = ", ".join(tests[:2]) + more if tests else "no test"
        lines.append(f"{name} {cut_words(printable(str(item.get('description', ''))), 60)} <- {shown}")
    return lines


def checks(state: RunState) -> list[str]:
    """The last verdict of the stages that measure code, rule by rule counted."""
    lines = []
    writing = [str(row.get("name")) for row in state.brief.added if row.get("writes") == "product"]
    for name in ("red", "green", *writing, "refactor", "guard", "change", "verify", "deliver"):
        known = state.progress.stages.get(name)
        if known is None or not known.results:
            continue
        wrong = [str(item.get("message") or item.get("rule")) for item in to_repair(known.results)]
        held = (
            f"{sum(bool(item.get('passed')) for item in known.results)} of {counted(len(known.results), 'rule')} hold"
        )
        lines.append(f"{name}: {held}" + "".join(f"; {text}" for text in wrong[:2]))
    return lines


def untested(state: RunState) -> list[str]:
    """What the tests of a delivery do not show, in one line."""
    told = str(state.work.artifacts.get("deliver", {}).get("untested_line") or "").removeprefix("Untested: ")
    return [told] if told else []


def _verdict(state: RunState) -> tuple[str, str]:
    if state.progress.outcome in ("delivered", "analyzed"):
        return "done", state.progress.outcome
    if state.progress.outcome:
        return "failed", state.progress.outcome
    if state.people.open_escalations:
        return "asked", "waits for you"
    if state.relations.waits_for:
        return "asked", "waits for other tasks, and goes on by itself"
    return "note", f"stopped in {state.progress.stage}" if state.progress.stage else "stopped"


def _branch(state: RunState) -> str:
    delivered = state.work.delivered or {}
    base = (
        f"{state.identity.base_ref} {state.identity.base_commit[:10]}"
        if state.identity.base_ref
        else state.identity.base_commit[:10]
    )
    applied = ", applied to your checkout" if delivered.get("applied") else ""
    return f"{delivered.get('branch')} at {str(delivered.get('commit'))[:10]}, from {base}{applied}"


def _model(state: RunState) -> str:
    totals = state.usage.totals
    if not totals.llm_calls:
        return "was not called"
    cached = f" ({totals.cached_tokens:,} cached)" if totals.cached_tokens else ""
    return (
        f"{state.brief.model}: {counted(totals.llm_calls, 'call')}, {totals.prompt_tokens:,} prompt tokens{cached}, "
        f"{totals.completion_tokens:,} completion tokens, {cost_text(totals.cost_usd, known=totals.cost_known)}"
    )


def _plan(state: RunState) -> list[str]:
    """The plan that a run is a part of."""
    plan = state.identity.digests.get("plan")
    if not isinstance(plan, Mapping):
        return []

    return [f"the part of {part_label(plan)} in {plan.get('run_id')}"]


def _parts(state: RunState) -> list[str]:
    if not state.relations.parts:
        return []

    return part_lines(state)


def _forks(state: RunState) -> list[str]:
    return [f"step {item['step']} was forked to {item['child']}" for item in state.relations.forks]


def _next(state: RunState) -> list[str]:
    if state.progress.outcome == "delivered":
        branch = quote(str((state.work.delivered or {}).get("branch")))
        base = quote(state.identity.base_ref or state.identity.base_commit[:10])
        merge = [] if (state.work.delivered or {}).get("applied") else [f"  git merge {branch}"]
        return ["", f"  git diff {base}...{branch}", *merge]
    if not state.progress.outcome and not state.people.open_escalations and state.identity.run_id:
        return ["", f"  agentforge resume {state.identity.run_id}"]
    return []


def _rows(style: Style, label: str, texts: list[str]) -> list[str]:
    """Rows under a label; on a terminal that is narrower they go on below, broken between words."""
    shown = [cut_words(printable(text), _WIDTH) for text in texts[:_LISTED]]
    if len(texts) > _LISTED:
        shown.append(f"and {len(texts) - _LISTED} more, see the report")
    if style.columns:
        shown = [line for text in shown for line in wrapped(text, max(style.columns - _INDENT, _NARROW))]
    return [f"  {label if number == 0 else '':<8} {text}" for number, text in enumerate(shown)]


def _fitting(line: str, style: Style) -> list[str]:
    """A line as it is where it fits below an indent of two, else broken between words."""
    room = style.columns - 2
    return [line] if room <= 0 or width_of(line) <= room else wrapped(line, max(room, _NARROW))


def part_lines(state: RunState) -> list[str]:
    """How the parts of a plan stand, a line each."""
    return [f"{label_of(part)}: {part.task_id} {standing_words(part.row)}" for part in parts_of(state)]


def label_of(part: SplitPart) -> str:
    """What a part is called among the parts of its plan."""
    return part_label({"repo": part.repo, "part": part.name if part.name != part.repo else ""})
