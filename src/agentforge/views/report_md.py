"""The delivery report as Markdown, for the person who decides whether to merge: assumptions first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentforge.events.state.run_state import RunState
from agentforge.views.run_views import attempt_lines
from agentforge.views.words import rows_of, texts_of

_NONE = "none"
_TESTS_SHOWN = 4


def report_markdown(stage: str, artifact: Mapping[str, object], state: RunState) -> tuple[str, str] | None:
    """The readable form of an artifact that people act on: (file name, text); None for the other stages."""
    if stage == "deliver":
        return "delivery_report.md", delivery_markdown(artifact, state)
    intent = state.work.artifacts.get("intake", {}).get("extracted_intent")
    if stage == "analyze" and isinstance(intent, Mapping) and intent.get("action") == "analyze":
        return "analysis.md", analysis_markdown(artifact, state)
    return None


def analysis_markdown(analysis: Mapping[str, object], state: RunState) -> str:
    """The answer to a request that asked for an analysis alone."""
    places = [
        f"`{item.get('file')}:{item.get('line')}` {item.get('name')}" for item in rows_of(analysis.get("symbols"))
    ]
    risks = [f"{item.get('description')} {item.get('mitigation') or ''}" for item in rows_of(analysis.get("risks"))]
    parts = [
        "# Analysis",
        _quote(state.brief.request),
        _line(analysis.get("summary")),
        _bullets("Findings", analysis.get("findings")),
        _bullets("Places", places),
        _bullets("Risks", risks),
        _bullets("Constraints", analysis.get("constraints")),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def delivery_markdown(report: Mapping[str, object], state: RunState) -> str:
    """Write the report of a delivery; every number in it was measured."""
    title = f"# {_line(report.get('title')) or 'Delivery'}"
    parts = [title, _quote(state.brief.request), *delivery_sections(report, state), _merge(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def delivery_sections(report: Mapping[str, object], state: RunState) -> list[str]:
    """What was delivered and how it was shown, section by section; "" = there is nothing to say."""
    return [
        _assumptions(_rows(report, "assumptions")),
        _line(report.get("untested_line")),
        _answers(_rows(report, "answers")),
        _asks(_rows(report, "asks")),
        _requirements(_rows(report, "requirements")),
        _changes(_rows(report, "changes")),
        _untested(_rows(report, "untested")),
        _bullets("Measured beside tests", report.get("measured")),
        _verification(report.get("verification")),
        _mutation(report.get("mutation")),
        _bullets("Independent attempts", attempt_lines(state)),
        _cost(report.get("cost")),
        _bullets("Limits of what was shown", report.get("limits")),
        _bullets("Notes for the reviewer", [_note(row) for row in _rows(report, "notes")]),
        _bullets("Follow-ups", report.get("follow_ups")),
    ]


def _assumptions(rows: Sequence[Mapping[str, object]]) -> str:
    lines = [f"- **{_line(row.get('question'))}** {_line(row.get('assumption'))}{_otherwise(row)}" for row in rows]
    return "## Assumptions\n\n" + ("\n".join(lines) if lines else "None: nothing had to be assumed.")


def _otherwise(row: Mapping[str, object]) -> str:
    return f" It could mean: {_line(row.get('alternative'))}" if row.get("alternative") else ""


def _answers(rows: Sequence[Mapping[str, object]]) -> str:
    lines = [
        f"- **{_line(row.get('question'))}** {_line(row.get('answer')) or _line(row.get('decision'))} ({_line(row.get('by'))})"
        for row in rows
    ]
    return "## Answers of a human\n\n" + "\n".join(lines) if lines else ""


def _asks(rows: Sequence[Mapping[str, object]]) -> str:
    """The request part by part: what became of it, the tests of that, and how many changed lines these executed."""
    lines = ["| the request says | what became of it | tests | changed lines executed |", "|---|---|---|---|"]
    for row in rows:
        executed = "" if row.get("lines") is None else str(row.get("lines"))
        tests = "<br>".join(f"`{_cell(test)}`" for test in texts_of(row.get("tests"))[:_TESTS_SHOWN])
        more = len(texts_of(row.get("tests"))) - _TESTS_SHOWN
        tests += f"<br>and {more} more" if more > 0 else ""
        told = "; ".join(part for part in (_cell(row.get("becomes")), _cell(row.get("note"))) if part)
        lines.append(f"| {row.get('number')}. {_cell(row.get('text'))} | {told} | {tests} | {executed} |")
    return "## What was asked\n\n" + "\n".join(lines) if rows else ""


def _requirements(rows: Sequence[Mapping[str, object]]) -> str:
    lines = ["| requirement | tests | changed lines |", "|---|---|---|"]
    for row in rows:
        tests = texts_of(row.get("tests"))
        changes = [f"`{item.get('path')}:{item.get('lines')}`" for item in rows_of(row.get("changes"))]
        changes += [_cell(row.get("note"))] if row.get("note") else []
        told = f"**{row.get('id')}** {_cell(row.get('description'))}"
        lines.append(f"| {told} | {'<br>'.join(f'`{_cell(test)}`' for test in tests)} | {'<br>'.join(changes)} |")
    return "## Requirement, tests, changed lines\n\n" + "\n".join(lines)


def _changes(rows: Sequence[Mapping[str, object]]) -> str:
    lines = [
        f"- `{row.get('path')}` +{row.get('lines_added', 0)} -{row.get('lines_removed', 0)}"
        + (f" ({row.get('kind')})" if row.get("kind") else "")
        for row in rows
    ]
    return "## Files\n\n" + "\n".join(lines) if lines else ""


def _verification(value: object) -> str:
    if not isinstance(value, Mapping):
        return ""
    known = texts_of(value.get("failing_at_base"))
    controls = value.get("controls")
    lines = [
        f"- tree `{value.get('tree')}`, measured in a fresh checkout",
        f"- tests run: {value.get('tests_run')}; suite passes: {_yes(value.get('all_tests_pass'))}",
        f"- regressions: {'none' if value.get('no_regressions') else 'yes'}",
        f"- checks clean: {_yes(value.get('conformance_passing'))} ({', '.join(texts_of(value.get('checks'))) or _NONE})",
        f"- controls: {_controls(controls)}",
        f"- failing before this change, and not touched: {', '.join(f'`{item}`' for item in known[:10]) or _NONE}",
    ]
    return "## Verification\n\n" + "\n".join(lines)


def _note(row: Mapping[str, object]) -> str:
    return f"{_line(row.get('stage'))}, {_line(row.get('rule'))}: {_line(row.get('note'))}"


def _untested(rows: Sequence[Mapping[str, object]]) -> str:
    lines = [
        f"- `{row.get('path')}:{row.get('lines')}`"
        + (f" in `{row.get('function')}`" if row.get("function") else "")
        + (" (only refuses, or gives an empty result)" if row.get("inert") else "")
        for row in rows
    ]
    return "## Changed lines that no test executes\n\n" + "\n".join(lines) if lines else ""


def _mutation(value: object) -> str:
    """The score, and each small wrong change that no test noticed."""
    if not isinstance(value, Mapping) or not value.get("run"):
        return ""
    numbers = f"{value.get('killed')} of {value.get('run')}"
    told = f"{numbers} small wrong changes were noticed by the tests (seed {value.get('seed')})."
    lines = []
    for row in rows_of(value.get("survivors")):
        why = (
            f": equivalent, says the author of the tests: {_line(row.get('equivalent'))}"
            if row.get("equivalent")
            else ""
        )
        lines.append(f"- `{_line(row.get('mutant'))}`{why}")
    listed = "\n\nNot noticed:\n\n" + "\n".join(lines) if lines else ""
    return f"## Strength of the tests\n\n{told}{listed}"


def _controls(value: object) -> str:
    """The controls that this runner has, and whether they held; what it cannot have is left out."""
    if not isinstance(value, Mapping) or not value:
        return "none recorded"
    told = {"canary": "canary", "agree": "both result channels agree", "complete": "run complete", "held": "all held"}
    parts = [f"{text}: {_told(value[key])}" for key, text in told.items() if value.get(key) is not None]
    repeats = value.get("repeats")
    return ", ".join([*parts, f"{repeats} repeats in random order"] if repeats else parts)


def _told(value: object) -> str:
    return _yes(value) if isinstance(value, bool) else str(value)


def _cost(value: object) -> str:
    if not isinstance(value, Mapping):
        return ""
    money = value.get("cost_usd")
    return (
        f"## Cost\n\n{value.get('llm_calls')} model calls, {value.get('prompt_tokens')} prompt tokens "
        f"({value.get('cached_tokens')} cached), {value.get('completion_tokens')} completion tokens, "
        f"{'cost unknown' if money is None else f'{money} USD'}, {value.get('duration_s')} s."
    )


def _merge(report: Mapping[str, object]) -> str:
    branch, base = report.get("branch"), str(report.get("base_commit", ""))[:12]
    return f"## Next\n\n    git diff {base} {branch}\n    git merge {branch}"


def _bullets(title: str, value: object) -> str:
    lines = [f"- {_line(item)}" for item in texts_of(value)]
    return f"## {title}\n\n" + "\n".join(lines) if lines else ""


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.strip().splitlines()[:60])


def _rows(report: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    return rows_of(report.get(name))


def _line(value: object) -> str:
    return " ".join(str(value or "").split())


def _cell(value: object) -> str:
    return _line(value).replace("|", "\\|")


def _yes(value: object) -> str:
    return "yes" if value is True else "no"
