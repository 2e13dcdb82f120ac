"""What exit codes and outputs of a hook mean, in both dialects."""

from __future__ import annotations

import json

import pytest

from agentforge.hooks.hook import HookAnswer, read_answer
from agentforge.workspace.processes.process import Completed


def answered(
    code: int = 0,
    out: str | dict[str, object] = "",
    err: str = "",
    *,
    omitted: int = 0,
    late: bool = False,
    talks: bool = False,
) -> HookAnswer:
    text = out if isinstance(out, str) else json.dumps(out)
    done = Completed(
        exit_code=code, output=text.encode(), stderr=err.encode(), omitted_bytes=omitted, timed_out=late, duration_s=0.0
    )
    return read_answer(done, timeout_s=2, talks=talks)


def special(**words: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **words}}


@pytest.mark.parametrize(
    ("code", "out", "err", "verdict", "reason"),
    [
        (0, "", "", "pass", ""),
        (0, "fine", "noise", "pass", ""),
        (2, "", "not on Fridays\n", "deny", "not on Fridays"),
        (2, "told on stdout", "", "deny", "told on stdout"),
        (2, "", "", "deny", "it gave no reason"),
        (1, "", "Traceback", "failed", "it ended with 1: Traceback"),
        (137, "", "", "failed", "it ended with 137"),
        (127, "", "bash: nope: not found", "failed", "it cannot be run: bash: nope: not found"),
        (0, "{broken", "", "failed", "its answer is not JSON"),
        (0, "{" * 100_000, "", "failed", "its answer is not JSON"),
        (0, '{"hookSpecificOutput": 3}', "", "failed", "not an object"),
        (0, '{"hookSpecificOutput": {"permissionDecision": "perhaps"}}', "", "failed", "none of allow, ask, deny"),
        (0, '{"hookSpecificOutput": {"permissionDecision": ["deny"]}}', "", "failed", "none of allow, ask, deny"),
        (0, '{"hookSpecificOutput": {"updatedInput": []}}', "", "failed", "updatedInput is not an object"),
        (0, '{"decision": "block", "reason": "old way"}', "", "deny", "old way"),
        (0, '{"continue": false, "stopReason": "enough"}', "", "deny", "enough"),
        (0, '{"continue": true}', "", "pass", ""),
    ],
)
def test_exit_codes_and_answers(code: int, out: str, err: str, verdict: str, reason: str) -> None:
    answer = answered(code, out, err)
    assert answer.verdict == verdict
    assert reason in answer.reason and bool(reason) == bool(answer.reason)


@pytest.mark.parametrize("verdict", ["allow", "ask", "deny"])
def test_a_decision_with_its_reason(verdict: str) -> None:
    answer = answered(out=special(permissionDecision=verdict, permissionDecisionReason="so be it"))
    assert (answer.verdict, answer.reason) == (verdict, "so be it")


def test_new_arguments_and_words_for_the_model() -> None:
    answer = answered(out=special(updatedInput={"path": "a.py"}, additionalContext="mind \x1b[31mthe gap"))
    assert (answer.verdict, answer.updated, answer.context) == ("pass", {"path": "a.py"}, "mind the gap")


def test_plain_text_is_for_the_model_only_where_a_message_comes_in() -> None:
    assert answered(out="today is Monday", talks=True).context == "today is Monday"
    assert answered(out="today is Monday").context == ""


def test_a_hook_that_is_late_or_says_too_much_failed() -> None:
    assert answered(124, late=True) == HookAnswer(verdict="failed", reason="it did not end within 2 s")
    assert answered(out=special(), omitted=50_000_000).verdict == "failed"
    assert answered(out="noise " * 100, omitted=50_000_000).verdict == "pass"
