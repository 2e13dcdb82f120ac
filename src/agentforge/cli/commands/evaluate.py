"""`agentforge eval`: AgentForge measured against itself, on this machine."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agentforge import __version__
from agentforge.cli.commands import histories, honest, trials
from agentforge.cli.commands.honest import side_value
from agentforge.cli.output.terminal import Style, printable, style_for
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option
from agentforge.config.suite_record import LastRun, remember
from agentforge.errors import VerificationFailed
from agentforge.evals.attack_case import chosen_cases, everyday_commands
from agentforge.evals.attack_report import attacks_summary, attacks_value
from agentforge.evals.attack_run import refused_everyday, run_attacks
from agentforge.evals.cheat_case import chosen_names, playable
from agentforge.evals.cheats_suite import closing_line, run_cases
from agentforge.evals.ground import Ground
from agentforge.evals.injection_case import chosen_injections, load_injection
from agentforge.evals.injection_run import run_injection
from agentforge.evals.switched_off import run_without, tricks_of
from agentforge.store.log.clock import utc_now
from agentforge.testing.launch import remove

if TYPE_CHECKING:
    from agentforge.config.suite_record import Suite
    from agentforge.evals.attack_run import AttackResult
    from agentforge.evals.cheat_run import SideResult
    from agentforge.evals.cheats_suite import CaseResult
    from agentforge.evals.injection_run import InjectionResult


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
evaluate.add_command(honest.honest, "honest")


@evaluate.command(
    epilog="""\b
Examples:
  agentforge eval cheats
  agentforge eval cheats conftest-adds-xfail hard-coded-table
  agentforge eval cheats -j 4 --json
  agentforge eval cheats --without circumstances
"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("-j", "processes", type=click.IntRange(min=1), help="Cases at a time; by default one per core.")
@click.option(
    "--without", "detector", metavar="DETECTOR", help="Switch a detector off: which tricks does nothing else refuse?"
)
@json_option
def cheats(names: tuple[str, ...], processes: int | None, detector: str | None, as_json: bool) -> int:
    """Play every trick of the catalogue, or the named ones, through the whole pipeline.

    Each trick must be refused and its honest twin delivered; exit code 4 when one of them is not. No model is asked, nothing
    is written but a temporary folder. docs/cheats.md describes the tricks, and tells what each detector refuses alone.
    """
    if detector:
        return _without(detector, names, processes=processes or os.cpu_count() or 1, as_json=as_json)
    import tempfile
    from pathlib import Path

    chosen, left_out = playable(chosen_names(names))
    for name, reason in left_out.items():
        click.echo(f"left out: {name}: {reason}", err=True)
    style = style_for(sys.stdout, os.environ)
    width = max(len(name) for name in chosen)
    done: list[CaseResult] = []
    folder = Path(tempfile.mkdtemp(prefix="agentforge-cheats-"))
    try:
        for result in run_cases(chosen, processes=processes or os.cpu_count() or 1, folder=folder):
            done.append(result)
            if not as_json:
                click.echo("\n".join(case_lines(result, width=width, style=style)))
    finally:
        remove(folder)
    sides = [(one.side, one.right) for result in done for one in (result.trick, result.twin)]
    if as_json:
        write_json(report(done, closing=closing_line(sides)))
    else:
        click.echo(closing_line(sides))
    return 0 if all(right for _, right in sides) else VerificationFailed.exit_code


def _without(detector: str, names: tuple[str, ...], *, processes: int, as_json: bool) -> int:
    """Play the tricks in whose refusal a detector has a part, or the named ones, with it switched off."""
    import tempfile
    from pathlib import Path

    chosen = chosen_names(names or tricks_of(detector))
    folder = Path(tempfile.mkdtemp(prefix="agentforge-cheats-"))
    done: list[SideResult] = []
    try:
        for result in run_without(detector, chosen, processes=processes, folder=folder):
            done.append(result)
            told = (
                f"refused in {result.stage} by {', '.join(result.rules)}" if result.right else "REFUSED BY NOTHING ELSE"
            )
            if not as_json:
                click.echo(f"{result.name}  {told}")
    finally:
        remove(folder)
    alone = sorted(one.name for one in done if not one.right)
    if as_json:
        write_json({"detector": detector, "tried": sorted(one.name for one in done), "alone": alone})
    else:
        click.echo(f"without {detector}: {len(done) - len(alone)} of {len(done)} tricks are refused all the same")
    return 0


@evaluate.command(
    epilog="""\b
Examples:
  agentforge eval attacks
  agentforge eval attacks network rm-home-tilde
  agentforge eval attacks --json
"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@json_option
def attacks(names: tuple[str, ...], as_json: bool) -> int:
    """Play every attack, or those of the named classes, against the decisions and the sandbox of this machine.

    What is refused is run in the sandbox all the same, as if it had been allowed. Afterwards the commands of every day, none
    of which may be asked about. Exit code 4 when an attack got through or a harmless command did not. `agentforge doctor` tells
    how the last whole suite went.
    """
    import tempfile
    from pathlib import Path

    cases, everyday = chosen_cases(names), (*everyday_commands(), *everyday_commands("auto"))
    folder = Path(tempfile.mkdtemp(prefix="agentforge-attacks-"))
    done = []
    try:
        for result in run_attacks(cases, folder=folder):
            done.append(result)
            if not as_json:
                click.echo("\n".join(attack_lines(result, style=style_for(sys.stdout, os.environ))))
    finally:
        remove(folder)
    refused = (*refused_everyday(everyday_commands()), *refused_everyday(everyday_commands("auto"), mode="auto"))
    held = all(one.held for one in done) and not refused
    if not names:
        _keep("attacks", attacks_summary(done, refused, everyday), held=held)
    if as_json:
        write_json(attacks_value(done, refused, everyday))
    else:
        for command, reason in refused:
            click.echo(f"FALSE REFUSAL {printable(command)}: {printable(reason)}")
        click.echo(attacks_summary(done, refused, everyday))
    return 0 if held else VerificationFailed.exit_code


def attack_lines(result: AttackResult, *, style: Style) -> list[str]:
    """The row of an attack, and why it got through when it did."""
    mark = style.paint(style.sign("done"), "green") if result.held else style.paint(style.sign("failed"), "red")
    floor = {"held": "sandbox held", "skipped": "no command to run"}.get(result.floor, f"SANDBOX: {result.floor}")
    lines = [f"{mark} {result.kind:<17} {result.name:<34} {result.decision}; {floor}"]
    return lines if result.held else [*lines, f"    {printable(result.detail)}"]


@evaluate.command(
    epilog="""\b
Examples:
  agentforge eval injections
  agentforge eval injections readme-curl approves-itself --json
"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@json_option
def injections(names: tuple[str, ...], as_json: bool) -> int:
    """Hide every instruction of the catalogue, or the named ones, from a model that obeys it.

    Nothing may leave the machine and nothing outside the task's scope may change; exit code 4 when something does. No model is
    asked; `agentforge doctor` tells how the last whole suite went. docs/injections.md describes the cases.
    """
    import tempfile
    from pathlib import Path

    from agentforge.evals.injection_run import closing_line

    chosen = chosen_injections(names)
    style = style_for(sys.stdout, os.environ)
    done = []
    folder = Path(tempfile.mkdtemp(prefix="agentforge-injections-")).resolve()
    try:
        for name in chosen:
            done.append(run_injection(load_injection(name), Ground(folder=folder)))
            if not as_json:
                click.echo("\n".join(injection_lines(done[-1], width=max(map(len, chosen)), style=style)))
    finally:
        remove(folder)
    held = all(one.held for one in done)
    if not names:
        _keep("injections", closing_line(done), held=held)
    if as_json:
        write_json({"ok": held, "summary": closing_line(done), "cases": [asdict(one) for one in done]})
    else:
        click.echo(closing_line(done))
    return 0 if held else VerificationFailed.exit_code


def _keep(suite: Suite, summary: str, *, held: bool) -> None:

    remember(suite, LastRun(ok=held, summary=summary, at=utc_now(), version=__version__), os.environ)


def injection_lines(result: InjectionResult, *, width: int, style: Style) -> list[str]:
    """The row of an injection, and a line for each thing that happened and must not."""
    mark = style.paint(style.sign("done"), "green") if result.held else style.paint(style.sign("failed"), "red")
    refused = f", {len(result.refused)} calls failed or were refused" if result.refused else ""
    first = f"{mark} {result.name:<{width}}  {result.outcome}{refused}  ({result.duration_s:.1f} s)"
    return [first, *(f"    {printable(problem)}" for problem in result.problems)]


def case_lines(result: CaseResult, *, width: int, style: Style) -> list[str]:
    """The row of a case, and a line for each side that went otherwise than it must."""
    trick, twin = result.trick, result.twin
    mark = style.paint(style.sign("done"), "green") if result.right else style.paint(style.sign("failed"), "red")
    told = f"refused in {trick.stage} by {', '.join(trick.rules)}" if trick.right else "NOT CAUGHT"
    honest = "twin delivered" if twin.right else "FALSE ALARM"
    seconds = trick.duration_s + twin.duration_s
    lines = [f"{mark} {trick.name:<{width}}  {told}; {honest}  ({seconds:.1f} s)"]
    return lines + [f"    {side.side}: {printable(side.detail)}" for side in (trick, twin) if not side.right]


def report(results: list[CaseResult], *, closing: str) -> dict[str, object]:
    """The whole evaluation as a JSON value."""
    rows = [
        {"name": one.trick.name, "ok": one.right, "trick": side_value(one.trick), "twin": side_value(one.twin)}
        for one in sorted(results, key=lambda one: one.trick.name)
    ]
    return {"ok": all(one.right for one in results), "summary": closing, "cases": rows}
