"""The changing part of a step's context: what the last steps found, what failed, what the workspace looks like now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from agentforge.agent import WARN_AFTER, repetitions
from agentforge.context.budget import bounded, one_line, short_error
from agentforge.context.printed import WAYS_TO_SEE
from agentforge.context.render import render
from agentforge.context.sections import NEWEST, Level, Piece, Section, Want, view_of
from agentforge.events.fold.revisits import draft_kept
from agentforge.events.fold.verification import refusals
from agentforge.events.kinds import ToolFinished
from agentforge.events.state.attempt import FinishedStep
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.context.moved_code import with_moves
from agentforge.pipeline.model.revisits import attempts_allowed
from agentforge.pipeline.model.stage import Stage
from agentforge.safety.text.hygiene import unwrap
from agentforge.workspace.files.file_access import BinaryFile, TooLarge, digest_file, read_text

_RESULT_SHARE, _OLD_RESULT_SHARE, _DIFF_SHARE, _FAILURE_SHARE = 20, 5, 35, 35
"""Percent of the room that such a text may take while other things that were asked for wait."""
_NEWEST_SHARE = 60
"""The same for all that the last step of a stage without files printed: what was read before it gives way to what it found."""
_NOTE, _FINDING = 800, 2400  # characters
_SEND_AGAIN = "send only the fields and list entries that change, the rest stays"
_WAITING = (
    "{number} of your calls wait for {stage}; send them again, behind submit_artifact, only if they have to change."
)
_CALLS = 2 * NEWEST
"""More than the results of one step and the listed tests behind them."""
_LISTING = ("grep", "find_symbol", "outline", "glob", "list_dir")
_WITH_OUTPUT = ("exit-code", "timeout", "no-match")
"""What a program that failed had printed by then, and what stands in a file instead, is a result, no message of ours."""
_WRITING = ("write_file", "append_file", "edit", "apply_patch", "move_file", "refactor")


def situation(state: RunState, stage: Stage, *, worktree: Path, diff: str) -> list[Section]:
    """The changing sections, most important first.

    Args:
        diff: of the workspace since the stage's product files were last verified, "" when nothing changed.
    """
    law = {
        "attention": _attention(state),
        "answers of a human": "\n".join(f"- {answer}" for answer in state.people.answers),
        "findings to repair (measured)": _findings(state, stage),
        _name_of_rejected(state): render(state.review.rejected) if state.review.rejected is not None else "",
    }
    return [
        *(Piece(name=name, text=text, level=Level.LAW) for name, text in law.items() if text),
        *_texts(state, diff=diff),
        *_views(state, worktree),
        *_results(state, diff=diff, newest=_NEWEST_SHARE if stage.writes == "none" else _RESULT_SHARE),
    ]


def _texts(state: RunState, *, diff: str) -> list[Piece]:
    """What the model noted, what the tests said, and what was changed."""
    failures = Piece(
        name="failing tests (measured)",
        text=_failures(state),
        level=Level.ASKED,
        foreign=True,
        printed=True,
        share=_FAILURE_SHARE,
        note="run_tests with one of these tests shows its failure",
    )
    changes = Piece(
        name="your changes so far",
        text=with_moves(diff),
        level=Level.ASKED,
        share=_DIFF_SHARE,
        note="read_file shows the files",
    )
    notes = Piece(name="your notes", text=_notes(state), level=Level.ASKED)
    return [piece for piece in (notes, failures, changes) if piece.text]


def _notes(state: RunState) -> str:
    """What the model wrote beside its last calls."""
    said = [(step.step, " ".join(step.said.split())) for step in state.progress.turn.recent if step.results]
    return "\n".join(f"- step {number}: {bounded(text, limit=_NOTE)}" for number, text in said if text)


def _name_of_rejected(state: RunState) -> str:
    """What the last submission is: refused, or the stage's own earlier result, which an answer or a finding wants changed."""
    if state.review.held:
        return f"your last submission, kept and not measured ({_SEND_AGAIN}; {{}} if nothing does)"
    earlier = state.review.rejected is not None and state.review.rejected is draft_kept(state, state.progress.stage)
    return (
        "what you had handed in before; change what has to change, keep the rest"
        if earlier
        else f"your last submission, refused ({_SEND_AGAIN})"
    )


def recent_actions(state: RunState) -> list[Mapping[str, object]]:
    """The last three steps as single lines."""
    return [_action(step) for step in state.progress.turn.recent]


def verification_status(state: RunState) -> dict[str, object]:
    """Checks of the last verdict of this stage, and what is left to use."""
    known = state.progress.stages.get(state.progress.stage)
    results = known.results if known else ()
    failing = len(refusals(results))
    attempt = known.attempt if known else 1
    last = max(
        attempt, attempts_allowed(state, state.progress.stage, by_model=True)
    )  # a rejection is worked on beyond the last
    return {
        "checks_passing": sum(1 for item in results if item.get("passed")),
        "checks_failing": failing,
        "ready_for_completion": state.review.verdict is not None and state.review.verdict.passed,
        "attempt": f"{attempt} of {last}",
    }


def _attention(state: RunState) -> str:
    turn = state.progress.turn
    lines = []
    if turn.silent_steps:
        lines.append(
            "Your last reply called no tool, so nothing happened. Answer with tool calls; end with submit_artifact."
        )
    if turn.recent and turn.finish == "length":
        lines.append("Your last reply was cut off at the output limit: do less in one reply.")
    if repetitions(turn.loop) >= WARN_AFTER:
        lines.append("You repeat the same calls with the same results. Do something else, or submit, or ask.")
    for stage, calls in state.review.behind.items():
        lines.append(_WAITING.format(number=len(calls), stage=stage.upper()))
    return "\n".join(lines)


def _findings(state: RunState, stage: Stage) -> str:
    """Each failed rule with its message; what the harness fills in itself is left out, for other rules say why it is wrong."""
    lines = []
    told = [item for item in state.review.findings if not _is_of_harness(item)]
    for item in told or state.review.findings:
        if (
            item.get("rule") == "schema"
            and str(item.get("path")).split(".")[0] in stage.omit
            and len(state.review.findings) > 1
        ):
            continue
        path = f"{item.get('path')}: " if item.get("path") else ""
        lines.append(f"- [{item.get('rule', '')}] {path}{bounded(str(item.get('message', '')), limit=_FINDING)}")
    known = state.progress.stages.get(stage.name)
    mended = [row for row in (known.repairs if known and lines else ()) if row.get("repair") == "symbol"]
    lines += [f"- [mended by the harness] {bounded(str(row.get('message', '')), limit=_NOTE)}" for row in mended]
    return "\n".join(lines)


def _failures(state: RunState) -> str:
    """Messages and tracebacks of the tests that the last measurement of this stage saw failing."""
    told = {str(item.get("rule")) for item in state.review.findings}
    if not told & {"suite-passes", "no-regressions"}:
        return ""
    return str(state.work.facts.get(state.progress.stage, {}).get("failing_text") or "")


def _is_of_harness(item: Mapping[str, object]) -> bool:
    """A field that the harness writes, and that another rule explains."""
    return item.get("rule") == "schema" and str(item.get("path", "")).startswith("verification.")


def _results(state: RunState, *, diff: str, newest: int) -> list[Piece]:
    """Results of the last steps, newest first; a file that was read is shown as it is now, what was written by the diff.

    Args:
        newest: percent of the room that the results of the last step may take together.
    """
    pieces = []
    for age, step in enumerate(reversed(state.progress.turn.recent)):
        told = [one for one in step.results if one.name != "submit_artifact"]
        alone = max(_RESULT_SHARE, newest // max(1, len(told)))
        for result in step.results:
            if result.view is not None and result.status == "success":
                continue
            success = result.status == "success" and not result.next_actions
            if (success and diff and result.name in _WRITING) or not result.text or result.name == "submit_artifact":
                continue
            share = _OLD_RESULT_SHARE if age else alone
            pieces.append(_result(step, result, order=age * _CALLS, share=share))
    return pieces


def _result(step: FinishedStep, result: ToolFinished, *, order: int, share: int) -> Piece:
    """One result; a short one is whole, a long one gives way to what was read in the same step."""
    hint = f"next: {'; '.join(result.next_actions)}" if result.next_actions else ""
    name = f"{result.name} (step {step.step}): {result.summary}"
    try:
        text, foreign = unwrap(result.text), True
    except ValueError:
        text, foreign = result.text, False
    if result.status != "success" and result.error_type not in _WITH_OUTPUT:
        return Piece(
            name=name,
            text="\n".join(filter(None, (short_error(text), hint))),
            level=Level.ASKED,
            order=order,
            foreign=foreign,
        )
    return Piece(
        name=" - ".join(filter(None, (name, hint))),
        text=text,
        level=Level.ASKED,
        order=order,
        foreign=foreign,
        ends=result.name in _LISTING,
        printed=result.name in WAYS_TO_SEE,
        note=WAYS_TO_SEE.get(result.name, "ask again for the part that matters"),
        share=share,
        beyond=Level.SKETCH,  # hundreds of hits say less than the source of the likely places
    )


def _views(state: RunState, worktree: Path) -> list[Section]:
    """The parts of files that the model asked for, as they are now, one view per file."""
    wants: dict[str, list[Want]] = {}
    for path, view in reversed(state.progress.turn.views):
        offset = max(1, int(cast("int", view.get("offset") or 1)))
        last = offset - 1 + int(cast("int", view.get("limit") or 400))
        order = _urgency(state, view)
        wants.setdefault(path, []).append(
            Want(first=offset, last=last, level=Level.ASKED, order=order, why="the model asked for it")
        )
    sections: list[Section] = []
    for path, ranges in wants.items():
        try:
            text, digest = read_text(worktree / path).text, digest_file(worktree / path)
        except (OSError, ValueError):
            sections.append(Piece(name=path, text="(no longer there)", level=Level.ASKED))
            continue
        except (BinaryFile, TooLarge):
            sections.append(Piece(name=path, text="(no longer a text that can be shown)", level=Level.ASKED))
            continue
        sections.append(view_of(path, text, ranges, digest=digest, state="as it is now"))
    return sections


def _urgency(state: RunState, view: Mapping[str, object]) -> int:
    """The place of a part of a file among what was asked for: newest step first, in a step as the model wrote its calls.

    Those before the last steps are equally old.
    """
    recent = state.progress.turn.recent
    for age, step in enumerate(reversed(recent)):
        for place, result in enumerate(step.results):
            if result.view == view:
                return age * _CALLS + place
    return len(recent) * _CALLS


def _action(step: FinishedStep) -> dict[str, object]:
    bad = [result for result in step.results if result.status != "success"]
    summary = "; ".join(one_line(result.summary, limit=120) for result in step.results)
    return {
        "step": step.step,
        "action": ", ".join(result.name for result in step.results) or "none",
        "result": bad[0].error_type or bad[0].status if bad else "success",
        "summary": one_line(summary or step.said or "no tool call", limit=320),
    }
