"""The measurements of the pipeline by one name: base line, RED, GREEN, and the report for the agent."""

from __future__ import annotations

from agentforge.suite import AgentReport, Rig, report_for_agent
from agentforge.testing.cache import ResultCache
from agentforge.verification.stages.baseline import measure_baseline
from agentforge.verification.stages.green import Promise, honest_edits, measure_green
from agentforge.verification.stages.plain_process_checks import Outside, measure_outside, unmeasured
from agentforge.verification.stages.red import measure_red
from agentforge.verification.stages.red_suite import Suite

__all__ = [
    "AgentReport",
    "Outside",
    "Promise",
    "ResultCache",
    "Rig",
    "Suite",
    "honest_edits",
    "measure_baseline",
    "measure_green",
    "measure_outside",
    "measure_red",
    "report_for_agent",
    "unmeasured",
]
