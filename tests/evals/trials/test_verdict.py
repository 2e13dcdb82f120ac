"""Verdicts: what a run came to against what was expected of it."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.evals.trials.task import EvalTask
from agentforge.evals.trials.verdict import Ending, TrialQuestion, judge

QUESTION = TrialQuestion(kind="question", text="A percentage or an amount?")


def _judged(expected: str, outcome: str, **more: Any) -> tuple[str, str]:
    task = EvalTask(
        name="a",
        request="b",
        expected=expected,
        repository={},
        mentions=("tax.py", "Half Up"),
        about=("percent",),  # type: ignore[arg-type]
    )
    found = judge(task, Ending(outcome=outcome, stage="green", **more))
    return found.verdict, found.lost_in


@pytest.mark.parametrize(
    ("expected", "outcome", "more", "verdict"),
    [
        ("right", "delivered", {"hidden": ()}, ("right", "")),
        ("right", "delivered", {"hidden": ("test_a failed",)}, ("wrong", "red")),
        ("right", "delivered", {"hidden": None}, ("failed", "deliver")),
        ("right", "analyzed", {}, ("wrong", "intake")),
        ("right", "escalated", {"asked": (TrialQuestion(kind="stuck", text="how?"),)}, ("escalated", "green")),
        ("right", "escalated", {"asked": (QUESTION,)}, ("escalated", "green")),
        ("right", "paused", {"detail": "limit"}, ("failed", "green")),
        ("right", "escalated", {"asked": (TrialQuestion(kind="model", text="key?"),)}, ("failed", "green")),
        ("right", "error", {}, ("failed", "green")),
        ("right", "delivered", {"hidden": (), "peeked": True}, ("failed", "green")),
        ("must-ask", "escalated", {"asked": (QUESTION,)}, ("right", "")),
        (
            "must-ask",
            "escalated",
            {"asked": (TrialQuestion(kind="question", text="Which colour?"),)},
            ("escalated", "green"),
        ),
        ("must-ask", "escalated", {"asked": (TrialQuestion(kind="stuck", text="percent"),)}, ("escalated", "green")),
        ("must-ask", "delivered", {"hidden": ()}, ("wrong", "intake")),
        ("must-escalate", "escalated", {"asked": (TrialQuestion(kind="stuck", text="how?"),)}, ("right", "")),
        ("must-escalate", "delivered", {"hidden": ()}, ("wrong", "intake")),
        ("must-escalate", "paused", {}, ("failed", "green")),
        ("analyzed", "analyzed", {"report": "TAX.PY rounds half up"}, ("right", "")),
        ("analyzed", "analyzed", {"report": "tax.py"}, ("wrong", "analyze")),
        ("analyzed", "delivered", {"hidden": ()}, ("wrong", "intake")),
    ],
)
def test_a_run_is_judged(expected: str, outcome: str, more: dict[str, Any], verdict: tuple[str, str]) -> None:
    assert _judged(expected, outcome, **more) == verdict
