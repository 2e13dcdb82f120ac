"""The changing part of a context: bounded, fresh, and only of this stage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.context.packer import fill
from agentforge.context.sections import Piece
from agentforge.events import kinds
from agentforge.events.kinds import ToolFinished
from agentforge.events.state.attempt import FinishedStep, Turn, Verdict
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.context.step_context import recent_actions, situation, verification_status
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import fold, inside

STAGES = load_stages()


def result(name: str, text: str = "out", status: str = "success", **values: Any) -> ToolFinished:
    return ToolFinished(
        step=1, index=0, call_id="c", name=name, status=status, summary=f"{name} said", text=text, **values
    )  # type: ignore[arg-type]


def shown(state: RunState, root: Path = Path("/none"), diff: str = "", stage: str = "green") -> dict[str, str]:
    sections = situation(state, STAGES[stage], worktree=root, diff=diff)
    return {
        one.name if isinstance(one, Piece) else one.path: one.text
        if isinstance(one, Piece)
        else fill([one], room=2000).text
        for one in sections
    }


def with_turn(**values: Any) -> RunState:
    return inside("green", turn=Turn(step=4, **values))


def test_a_fresh_stage_has_nothing_to_tell() -> None:
    assert shown(inside("green")) == {}
    assert recent_actions(inside("green")) == []


def test_findings_answers_refused_draft_and_diff_come_in_this_order() -> None:
    findings = ({"rule": "holds", "path": "a.b", "message": "no"}, {"rule": "human", "message": "too wide"})
    state = inside("green", findings=findings, answers=("Which? -> a",), rejected={"goal": "x"})
    pieces = shown(state, diff="+new")
    assert list(pieces) == [
        "answers of a human",
        "findings to repair (measured)",
        "your last submission, refused (send only the fields and list entries that change, the rest stays)",
        "your changes so far",
    ]
    assert pieces["findings to repair (measured)"] == "- [holds] a.b: no\n- [human] too wide"
    assert (
        pieces["answers of a human"],
        pieces["your last submission, refused (send only the fields and list entries that change, the rest stays)"],
    ) == ("- Which? -> a", "goal: x")


@pytest.mark.parametrize(
    ("turn", "word"),
    [
        ({"silent_steps": 1}, "called no tool"),
        ({"finish": "length", "recent": (FinishedStep(step=3, said="", results=()),)}, "cut off"),
        ({"loop": ("a", "a", "a")}, "repeat the same calls"),
    ],
)
def test_what_goes_wrong_in_the_loop_is_told(turn: dict[str, Any], word: str) -> None:
    assert word in shown(with_turn(**turn))["attention"]


def test_an_open_file_is_shown_as_it_is_now(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old\n")
    state = with_turn(views=(("a.py", {"path": "a.py", "offset": 2, "limit": 2}),))
    (tmp_path / "a.py").write_text("one\ntwo\nthree\nfour\n")
    assert "2 two\n3 three" in shown(state, tmp_path)["a.py"]
    assert "## a.py (of 4 lines; as it is now)" in shown(state, tmp_path)["a.py"]
    (tmp_path / "a.py").unlink()
    assert shown(state, tmp_path) == {"a.py": "(no longer there)"}


def test_an_open_file_that_became_binary_or_huge_does_not_break_the_run(tmp_path: Path) -> None:
    state = with_turn(views=(("a.py", {"path": "a.py"}),))
    for data in (b"PK\0\0", b"x" * (2**24)):
        (tmp_path / "a.py").write_bytes(data)
        assert shown(state, tmp_path) == {"a.py": "(no longer a text that can be shown)"}


def test_the_last_view_comes_first(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("x\n")
    views = tuple((name, {"path": name}) for name in ("a.py", "b.py"))
    assert [name.split()[0] for name in shown(with_turn(views=views), tmp_path)] == ["b.py", "a.py"]


def test_results_of_the_last_steps_are_shown_newest_first_and_reading_is_left_to_the_views() -> None:
    old = FinishedStep(step=2, said="", results=(result("grep", "old"),))
    new = FinishedStep(
        step=3, said="", results=(
            result("run_tests", "new", next_actions=("look",)), result("read_file", "text", view={"path": "a"}),
            result("read_file", "E" * 900, status="error", error_type="not-found"), result("submit_artifact", "x"), result("edit", ""),
        ),
    )  # fmt: skip
    pieces = shown(with_turn(recent=(old, new)))
    assert list(pieces) == [
        "run_tests (step 3): run_tests said - next: look",
        "read_file (step 3): read_file said",
        "grep (step 2): grep said",
    ]
    assert pieces["run_tests (step 3): run_tests said - next: look"] == "new"
    assert len(pieces["read_file (step 3): read_file said"]) == 500


@pytest.mark.parametrize(
    ("stage", "calls", "whole"), [("analyze", 1, True), ("analyze", 3, False), ("green", 1, False)]
)
def test_what_the_last_step_of_a_reading_stage_found_is_not_cut_for_what_was_read_before(
    stage: str, calls: int, whole: bool, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text(
        "".join(f"value_{number} = [{number}, {number}, {number}]\n" for number in range(500))
    )
    printed = "".join(f"input {number} gave {number * 7}\n" for number in range(180))
    newest = (result("shell", printed), *(result("grep", f"hit {number}") for number in range(calls - 1)))
    turn = Turn(step=4, views=(("a.py", {"path": "a.py"}),), recent=(FinishedStep(step=3, said="", results=newest),))
    sections = situation(inside(stage, turn=turn), STAGES[stage], worktree=tmp_path, diff="")
    page = fill(sections, room=4500)
    assert ("lines omitted" not in page.text) is whole
    assert "value_20 = [20, 20, 20]" in page.text  # what was read before stays as far as there is room


def test_a_step_is_one_line_that_names_the_first_failure() -> None:
    good = FinishedStep(step=1, said="I look.", results=(result("grep"),))
    bad = FinishedStep(step=2, said="", results=(result("edit"), result("edit", status="error", error_type="no-match")))
    mute = FinishedStep(step=3, said="", results=())
    assert recent_actions(with_turn(recent=(good, bad, mute))) == [
        {"step": 1, "action": "grep", "result": "success", "summary": "grep said"},
        {"step": 2, "action": "edit, edit", "result": "no-match", "summary": "edit said; edit said"},
        {"step": 3, "action": "none", "result": "success", "summary": "no tool call"},
    ]


def test_a_long_step_is_still_one_bounded_line() -> None:
    step = FinishedStep(step=1, said="", results=(replace(result("grep"), summary="s\n" * 400),) * 20)
    (row,) = recent_actions(with_turn(recent=(step,)))
    assert len(str(row["summary"])) <= 320 and "\n" not in str(row["summary"])


def test_the_status_counts_the_checks_of_the_last_verdict() -> None:
    state = inside("green", attempt=2)
    results = ({"passed": True}, {"passed": False}, {"passed": False})
    state = with_fields(
        state, stages={**state.progress.stages, "green": replace(state.progress.stages["green"], results=results)}
    )
    assert verification_status(state) == {
        "checks_passing": 1, "checks_failing": 2, "ready_for_completion": False, "attempt": "2 of 5",
    }  # fmt: skip


def test_a_verdict_that_a_human_rejected_is_not_ready() -> None:
    verdict = Verdict(passed=True, attempt=1, results=(), artifact={}, artifact_digest="d")
    assert verification_status(inside("spec", verdict=verdict))["ready_for_completion"] is True
    assert verification_status(inside("spec"))["ready_for_completion"] is False


def test_nothing_of_one_stage_reaches_the_next() -> None:
    raised = kinds.EscalationRaised(escalation_id="E1", stage="spec", kind="question", reason="", question="Which?")
    state = fold(
        kinds.StageStarted(stage="spec", attempt=1),
        kinds.ModelCalled(step=1, stage="spec", attempt=1, model="m", request="r", context_tokens=1),
        kinds.ModelReplied(
            step=1, text="SECRET", tool_calls=({"call_id": "c", "name": "grep", "arguments": "{}"},), finish="length", usage={}, model="m"
        ),
        replace(result("grep", "SECRET"), view={"path": "SECRET"}),
        kinds.StepFinished(step=1, stage="spec", summary="SECRET"),
        raised,
        kinds.EscalationResolved(escalation_id="E1", decision="answer", text="SECRET"),
        kinds.ArtifactSubmitted(stage="spec", attempt=1, draft={"x": "SECRET"}, by="model"),
        kinds.StageVerified(
            stage="spec", attempt=1, passed=True, contract="", contract_digest="", artifact={}, artifact_digest="",
            results=({"passed": True},),
        ),
        kinds.StagePassed(stage="spec", artifact_digest="d"),
        kinds.StageStarted(stage="red", attempt=1),
    )  # fmt: skip
    assert shown(state, stage="red") == {}
    assert (recent_actions(state), state.progress.turn.step) == ([], 1)


@pytest.mark.parametrize("error", ["exit-code", "timeout"])
def test_what_a_failing_command_printed_is_no_error_message_and_its_cut_says_how_to_see_the_rest(error: str) -> None:
    printed = "".join(f"line {number} of what it printed\n" for number in range(1, 401))
    failing = result("shell", printed, status="error", error_type=error)
    state = with_turn(recent=(FinishedStep(step=3, said="", results=(failing,)),))
    (piece,) = situation(state, STAGES["green"], worktree=Path("/none"), diff="")
    assert isinstance(piece, Piece) and piece.text == printed
    marker = next(line for line in fill([piece], room=600).text.splitlines() if "lines omitted" in line)
    first, last = (int(number) for number in marker.partition("(")[2].partition(" of 400)")[0].split("-"))
    assert f"sed -n '{first},{last}p'" in marker
    shown_lines = fill([piece], room=600).text
    assert f"line {first - 1} of" in shown_lines and f"line {first} of" not in shown_lines
    assert f"line {last + 1} of" in shown_lines and f"line {last} of" not in shown_lines


def test_an_error_a_finding_and_a_note_that_are_cut_say_how_much_is_missing() -> None:
    bad = result("edit", "E" * 900, status="error", error_type="os-error")
    finding = {"rule": "holds", "message": "m" * 3000}
    state = with_turn(recent=(FinishedStep(step=3, said="n" * 1000, results=(bad,)),))
    pieces = shown(with_fields(state, findings=(finding,)))
    for name, letter, length in (("edit (step 3): edit said", "E", 900), ("findings to repair (measured)", "m", 3000),
                                 ("your notes", "n", 1000)):  # fmt: skip
        kept = max(len(run) for run in pieces[name].replace("no", "").split(" ") if set(run) == {letter})
        assert f" ... {length - kept} more characters" in pieces[name]


def test_a_submission_that_waits_for_a_call_is_told_apart_from_a_refused_one() -> None:
    state = with_fields(with_turn(), rejected={"goal": "x"})
    refused, kept = (list(shown(one)) for one in (state, with_fields(state, held=True)))
    assert len(refused) == len(kept) == 1
    assert "refused" in refused[0] and "kept and not measured" in kept[0]
