"""The test suite of a project: finding it, running it in its environment, and counting what it reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.suite.agent_report import failing_text, report_for_agent
    from agentforge.suite.baseline_causes import causes_of, keeps_away
    from agentforge.suite.detection import detect
    from agentforge.suite.test_counts import Counted, count_tests
    from agentforge.suite.test_environment import NO_EDITS, Edits, Rig, controls, fresh_checkout, run_tree, sound
    from agentforge.suite.used_checkouts import age
else:
    __getattr__ = front(
        __name__,
        {
            "agent_report": ("failing_text", "report_for_agent"),
            "baseline_causes": ("causes_of", "keeps_away"),
            "detection": ("detect",),
            "test_counts": ("Counted", "count_tests"),
            "test_environment": ("NO_EDITS", "Edits", "Rig", "controls", "fresh_checkout", "run_tree", "sound"),
            "used_checkouts": ("age",),
        },
    )

__all__ = [
    "NO_EDITS",
    "Counted",
    "Edits",
    "Rig",
    "age",
    "causes_of",
    "controls",
    "count_tests",
    "detect",
    "failing_text",
    "fresh_checkout",
    "keeps_away",
    "report_for_agent",
    "run_tree",
    "sound",
]
