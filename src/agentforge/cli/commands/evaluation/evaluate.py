"""`agentforge eval`: AgentForge measured against itself, on this machine."""

from __future__ import annotations

import click

from agentforge.cli.commands.evaluation import histories, suites, trials


@click.group(
    "eval",
    epilog="""\b
Examples:
  agentforge eval run own --model scripted
  agentforge eval show --html report.html
  agentforge eval from-history . --last 50 --out mytasks
  agentforge eval replay . --last 20 --out replays
  agentforge eval cheats
  agentforge eval cheats conftest-adds-xfail --json
  agentforge eval honest --twins
  agentforge eval attacks
  agentforge eval injections
""",
)
def evaluate() -> None:
    """Measure AgentForge itself: what it delivers right, what it refuses and what it lets through."""


evaluate.add_command(trials.run_set, "run")
evaluate.add_command(trials.list_sets, "list")
evaluate.add_command(trials.show_evaluation, "show")
evaluate.add_command(trials.export_set, "export")
evaluate.add_command(histories.from_history, "from-history")
evaluate.add_command(histories.replay, "replay")
evaluate.add_command(suites.cheats, "cheats")
evaluate.add_command(suites.honest, "honest")
evaluate.add_command(suites.attacks, "attacks")
evaluate.add_command(suites.injections, "injections")
