"""The changing part of a step's context: what the last steps found, what failed, what the workspace looks like now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from agentforge.agent.repetition import WARN_AFTER, repetitions
from agentforge.context.budget import Piece, one_line, short_error
from agentforge.context.render import render
from agentforge.events.state import FinishedStep, RunState
from agentforge.pipeline.attempts import attempts_allowed
from agentforge.pipeline.stage import Stage

_VIEW_TOKENS = 1500
_RESULT_TOKENS = 1000
_FINDINGS_TOKENS = 1100
_DIFF_TOKENS = 1000
_DRAFT_TOKENS = 1100
_FAILURE_TOKENS = 650
_WRITING = ("write_file", "append_file", "edit", "apply_patch")


def situation(state: RunState, stage: Stage, *, worktree: Path, diff: str) -> list[Piece]:
    """The changing pieces, most important first.

    Args:
        diff: of the workspace since the stage's product files were last verified, "" when nothing changed.
    """
    pieces = [
        Piece(name="attention", text=_attention(state)),
        Piece(name="answers of a human", text="\n".join(f"- {answer}" for answer in state.answers), limit=600),
        Piece(name="findings to repair (measured)", text=_findings(state, stage), limit=_FINDINGS_TOKENS),
        Piece(name="failing tests (measured)", text=_failures(state), limit=_FAILURE_TOKENS, foreign=True),
    ]
    if state.rejected is not None:
        pieces.append(Piece(name="your last submission, refused", text=render(state.rejected), limit=_DRAFT_TOKENS))
    pieces.append(Piece(name="your changes so far", text=diff, limit=_DIFF_TOKENS, note="read_file shows the files"))
    pieces += _results(state, diff=diff)
    pieces += [_view(worktree, path, view) for path, view in reversed(state.turn.views)]
    return pieces


def recent_actions(state: RunState) -> list[Mapping[str, object]]:
    """The last three steps as single lines (seed 001 section 3.4)."""
    return [_action(step) for step in state.turn.recent]


def verification_status(state: RunState) -> dict[str, object]:
    """Checks of the last verdict of this stage, and what is left to use."""
    known = state.stages.get(state.stage)
    results = known.results if known else ()
    failing = sum(1 for item in results if not item.get("passed"))
    attempt = known.attempt if known else 1
    last = max(attempt, attempts_allowed(state, state.stage, by_model=True))  # a rejection is worked on beyond the last
    return {
        "checks_passing": len(results) - failing,
        "checks_failing": failing,
        "ready_for_completion": state.verdict is not None and state.verdict.passed,
        "attempt": f"{attempt} of {last}",
    }


def _attention(state: RunState) -> str:
    turn = state.turn
    lines = []
    if turn.silent_steps:
        lines.append(
            "Your last reply called no tool, so nothing happened. Answer with tool calls; end with submit_artifact."
        )
    if turn.recent and turn.finish == "length":
        lines.append("Your last reply was cut off at the output limit: do less in one reply.")
    if repetitions(turn.loop) >= WARN_AFTER:
        lines.append("You repeat the same calls with the same results. Do something else, or submit, or ask.")
    return "\n".join(lines)


def _findings(state: RunState, stage: Stage) -> str:
    """Each failed rule with its message; what the harness fills in itself is left out, for other rules say why it is wrong."""
    lines = []
    told = [item for item in state.findings if not _is_of_harness(item)]
    for item in told or state.findings:
        if (
            item.get("rule") == "schema"
            and str(item.get("path")).split(".")[0] in stage.omit
            and len(state.findings) > 1
        ):
            continue
        path = f"{item.get('path')}: " if item.get("path") else ""
        lines.append(f"- [{item.get('rule', '')}] {path}{_bounded(str(item.get('message', '')))}")
    return "\n".join(lines)


def _failures(state: RunState) -> str:
    """Messages and tracebacks of the tests that the last measurement of this stage saw failing."""
    told = {str(item.get("rule")) for item in state.findings}
    if not told & {"suite-passes", "no-regressions"}:
        return ""
    return str(state.facts.get(state.stage, {}).get("failing_text") or "")


def _is_of_harness(item: Mapping[str, object]) -> bool:
    """A field that the harness writes, and that another rule explains."""
    return item.get("rule") == "schema" and str(item.get("path", "")).startswith("verification.")


def _bounded(text: str) -> str:
    return text if len(text) <= 2400 else f"{text[:2400]} ..."


def _results(state: RunState, *, diff: str) -> list[Piece]:
    """Results of the last steps, newest first; a file that was read is shown as it is now, what was written by the diff."""
    pieces = []
    for step in reversed(state.turn.recent):
        for result in step.results:
            if result.view is not None and result.status == "success":
                continue
            success = result.status == "success" and not result.next_actions
            if (success and diff and result.name in _WRITING) or not result.text or result.name == "submit_artifact":
                continue
            text = result.text if result.status == "success" else short_error(result.text)
            hint = f"\nnext: {'; '.join(result.next_actions)}" if result.next_actions else ""
            pieces.append(
                Piece(
                    name=f"{result.name} (step {step.step}): {result.summary}", text=text + hint, limit=_RESULT_TOKENS
                )
            )
    return pieces


def _view(worktree: Path, path: str, view: Mapping[str, object]) -> Piece:
    from agentforge.workspace.files import read_text

    try:
        lines = read_text(worktree / path).text.split("\n")
    except (OSError, ValueError):
        return Piece(name=f"{path}", text="(no longer there)")
    if lines[-1:] == [""]:
        lines.pop()  # a line end ends a line, it begins none
    offset = max(1, int(cast("int", view.get("offset") or 1)))
    limit = int(cast("int", view.get("limit") or 400))
    part = lines[offset - 1 : offset - 1 + limit]
    width = len(str(offset + len(part)))
    text = "\n".join(f"{number:>{width}} {line}" for number, line in enumerate(part, start=offset))
    name = f"{path} lines {offset}-{offset + len(part) - 1} of {len(lines)}"
    return Piece(name=name, text=text, limit=_VIEW_TOKENS, note=f"read_file path={path} offset=N limit=M", foreign=True)


def _action(step: FinishedStep) -> dict[str, object]:
    bad = [result for result in step.results if result.status != "success"]
    summary = "; ".join(one_line(result.summary, limit=120) for result in step.results)
    return {
        "step": step.step,
        "action": ", ".join(result.name for result in step.results) or "none",
        "result": bad[0].error_type or bad[0].status if bad else "success",
        "summary": one_line(summary or step.said or "no tool call", limit=320),
    }
