"""The measurements of the pipeline by one name: base line, RED, GREEN, and the report for the agent."""

from __future__ import annotations

from agentforge.runners.agent_report import AgentReport, report_for_agent
from agentforge.runners.cache import ResultCache
from agentforge.runners.measure_baseline import measure_baseline
from agentforge.runners.measure_green import Promise, honest_edits, measure_green
from agentforge.runners.measure_red import measure_red
from agentforge.runners.outside import Outside, measure_outside, unmeasured
from agentforge.runners.red_suite import Suite
from agentforge.runners.rig import Rig

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
