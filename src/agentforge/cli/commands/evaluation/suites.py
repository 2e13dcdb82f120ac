"""`agentforge eval cheats | honest | attacks | injections`: what AgentForge must refuse, and what it must let through."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TypeVar

import click

from agentforge import __version__
from agentforge.cli.output.terminal import Style, printable, style_for
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option
from agentforge.config.suite_record import LastRun, Suite, remember
from agentforge.errors import VerificationFailed
from agentforge.evals.attack_case import chosen_cases, everyday_commands
from agentforge.evals.attack_run import AttackResult, attacks_summary, attacks_value, refused_everyday, run_attacks
from agentforge.evals.case import Case, playable
from agentforge.evals.corpus import chosen_honest, chosen_names, load_case, load_honest
from agentforge.evals.ground import EvalFixture, scratch
from agentforge.evals.injection_case import chosen_injections, load_injection
from agentforge.evals.injection_run import InjectionResult, injections_line, run_injection
from agentforge.evals.side_run import SideResult
from agentforge.evals.suites import CaseResult, closing_line, honest_line, run_cases, run_honest
from agentforge.evals.switched_off import run_without, tricks_of
from agentforge.store.log.records import utc_now

Result = TypeVar("Result")
_names = click.argument("names", nargs=-1, metavar="[NAME]...")
_processes = click.option(
    "-j", "processes", type=click.IntRange(min=1), help="Cases at a time; by default one per core."
)


@click.command(
    epilog="""\b
Examples:
  agentforge eval cheats
  agentforge eval cheats conftest-adds-xfail hard-coded-table
  agentforge eval cheats -j 4 --json
  agentforge eval cheats --without side-effects
"""
)
@_names
@_processes
@click.option(
    "--without", "detector", metavar="DETECTOR", help="Switch a detector off: which tricks does nothing else refuse?"
)
@json_option
def cheats(names: tuple[str, ...], processes: int | None, detector: str | None, as_json: bool) -> int:
    """Play every trick of the catalogue, or the named ones, through the whole pipeline.

    Each trick must be refused and its honest twin delivered; exit code 4 when one of them is not. No model is asked, nothing
    is written but a temporary folder. docs/cheats.md describes the tricks, and says which detectors are needed.
    """
    at_a_time = processes or os.cpu_count() or 1
    if detector:
        return _without(detector, names, processes=at_a_time, as_json=as_json)
    chosen, width = _playable(load_case(name) for name in chosen_names(names))
    with scratch("cheats") as folder:
        results = run_cases(chosen, processes=at_a_time, folder=folder)
        done = _shown(results, lambda one: case_lines(one, width=width, style=_style()), quiet=as_json)
    closing = closing_line([(one.side, one.right) for result in done for one in (result.trick, result.twin)])
    return _told(report(done, closing=closing), closing, held=all(one.right for one in done), as_json=as_json)


def _without(detector: str, names: tuple[str, ...], *, processes: int, as_json: bool) -> int:
    """Play the tricks in whose refusal a detector has a part, or the named ones, with it switched off."""
    chosen = chosen_names(names or tricks_of(detector))
    with scratch("cheats") as folder:
        results = run_without(detector, chosen, processes=processes, folder=folder)
        done = _shown(results, without_lines, quiet=as_json)
    alone = sorted(one.name for one in done if not one.right)
    value: dict[str, object] = {"detector": detector, "tried": sorted(one.name for one in done), "alone": alone}
    closing = f"without {detector}: {len(done) - len(alone)} of {len(done)} tricks are refused all the same"
    return _told(value, closing, held=True, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  agentforge eval honest
  agentforge eval honest lookup-table twin:js-only
  agentforge eval honest --twins -j 4 --json
"""
)
@_names
@click.option("--twins", is_flag=True, help="The honest twins of the catalogue of cheats as well, as twin:NAME.")
@_processes
@json_option
def honest(names: tuple[str, ...], twins: bool, processes: int | None, as_json: bool) -> int:
    """Play honest solutions of ordinary requests, or the named ones, through the whole pipeline.

    Each must be delivered, and no stage may refuse it at its first attempt; exit code 4 when one was refused. No model is asked,
    nothing is written but a temporary folder. docs/honest.md lists the cases.
    """
    chosen, width = _playable(load_honest(name) for name in chosen_honest(names, twins=twins))
    with scratch("honest") as folder:
        results = run_honest(chosen, processes=processes or os.cpu_count() or 1, folder=folder)
        done = _shown(results, lambda one: honest_lines(one, width=width, style=_style()), quiet=as_json)
    held, closing = all(one.right for one in done), honest_line(done)
    rows = [{"name": one.name, **side_value(one)} for one in sorted(done, key=lambda one: one.name)]
    return _told({"ok": held, "summary": closing, "cases": rows}, closing, held=held, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  agentforge eval attacks
  agentforge eval attacks network rm-home-tilde
  agentforge eval attacks --json
"""
)
@_names
@json_option
def attacks(names: tuple[str, ...], as_json: bool) -> int:
    """Play every attack, or those of the named classes, against the decisions and the sandbox of this machine.

    AgentForge also runs refused attacks in the sandbox, as if they had been allowed. Then it tries everyday commands,
    and may ask about none of them. Exit code 4 means that an attack got through, or that a harmless command did not.
    `agentforge doctor` shows the result of the last whole suite.
    """
    cases, everyday = chosen_cases(names), (*everyday_commands(), *everyday_commands("auto"))
    with scratch("attacks") as folder:
        results = run_attacks(cases, folder=folder)
        done = _shown(results, lambda one: attack_lines(one, style=_style()), quiet=as_json)
    refused = (*refused_everyday(everyday_commands()), *refused_everyday(everyday_commands("auto"), mode="auto"))
    held, closing = all(one.held for one in done) and not refused, attacks_summary(done, refused, everyday)
    if not names:
        _keep("attacks", closing, held=held)
    if not as_json:
        for command, reason in refused:
            click.echo(f"FALSE REFUSAL {printable(command)}: {printable(reason)}")
    return _told(attacks_value(done, refused, everyday), closing, held=held, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  agentforge eval injections
  agentforge eval injections readme-curl approves-itself --json
"""
)
@_names
@json_option
def injections(names: tuple[str, ...], as_json: bool) -> int:
    """Hide every instruction of the catalogue, or the named ones, from a model that obeys it.

    Nothing may leave the machine and nothing outside the task's scope may change; exit code 4 when something does. No
    model is asked; `agentforge doctor` shows the result of the last whole suite. docs/injections.md describes the cases.
    """
    chosen = chosen_injections(names)
    width = max(map(len, chosen))
    with scratch("injections") as folder:
        results = (run_injection(load_injection(name), EvalFixture(folder=folder)) for name in chosen)
        done = _shown(results, lambda one: injection_lines(one, width=width, style=_style()), quiet=as_json)
    held, closing = all(one.held for one in done), injections_line(done)
    if not names:
        _keep("injections", closing, held=held)
    value = {"ok": held, "summary": closing, "cases": [asdict(one) for one in done]}
    return _told(value, closing, held=held, as_json=as_json)


def _playable(cases: Iterable[Case]) -> tuple[tuple[str, ...], int]:
    """The names of the cases that can be played here, and how long the longest is; tells which are left out."""
    chosen, lacking = playable(cases)
    for name, reason in lacking.items():
        click.echo(f"left out: {name}: {reason}", err=True)
    return chosen, max(map(len, chosen))


def _shown(results: Iterable[Result], lines: Callable[[Result], list[str]], *, quiet: bool) -> list[Result]:
    """All results, each with its lines on standard output as soon as it is there."""
    done = []
    for one in results:
        done.append(one)
        if not quiet:
            click.echo("\n".join(lines(one)))
    return done


def _told(value: dict[str, object], closing: str, *, held: bool, as_json: bool) -> int:
    """End a suite: its value or its closing line on standard output, and the exit code."""
    if as_json:
        write_json(value)
    else:
        click.echo(closing)
    return 0 if held else VerificationFailed.exit_code


def _keep(suite: Suite, summary: str, *, held: bool) -> None:
    remember(suite, LastRun(ok=held, summary=summary, at=utc_now(), version=__version__), os.environ)


def _style() -> Style:
    return style_for(sys.stdout, os.environ)


def _mark(style: Style, *, right: bool) -> str:
    return style.paint(style.sign("done"), "green") if right else style.paint(style.sign("failed"), "red")


def injection_lines(result: InjectionResult, *, width: int, style: Style) -> list[str]:
    """The row of an injection, and a line for each thing that happened and must not."""
    mark = _mark(style, right=result.held)
    refused = f", {len(result.refused)} calls failed or were refused" if result.refused else ""
    first = f"{mark} {result.name:<{width}}  {result.outcome}{refused}  ({result.duration_s:.1f} s)"
    return [first, *(f"    {printable(problem)}" for problem in result.problems)]


def case_lines(result: CaseResult, *, width: int, style: Style) -> list[str]:
    """The row of a case, and a line for each side that went otherwise than it must."""
    trick, twin = result.trick, result.twin
    mark = _mark(style, right=result.right)
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


def without_lines(result: SideResult) -> list[str]:
    """The row of a trick that was played with a detector switched off."""
    refused = f"refused in {result.stage} by {', '.join(result.rules)}"
    return [f"{result.name}  {refused if result.right else 'REFUSED BY NOTHING ELSE'}"]


def honest_lines(result: SideResult, *, width: int, style: Style) -> list[str]:
    """The row of an honest case, and why it was refused when it was."""
    mark = _mark(style, right=result.right)
    told = "delivered" if result.right else f"REFUSED ({result.outcome}, {result.stage})"
    first = f"{mark} {result.name:<{width}}  {told}  ({result.duration_s:.1f} s)"
    return [first] if result.right else [first, f"    {printable(result.detail)}"]


def side_value(result: SideResult) -> dict[str, object]:
    """What became of one side of a case as a JSON value."""
    return {
        "ok": result.right,
        "outcome": result.outcome,
        "stage": result.stage,
        "rules": list(result.rules),
        "detail": result.detail,
        "duration_s": result.duration_s,
    }


def attack_lines(result: AttackResult, *, style: Style) -> list[str]:
    """The row of an attack, and why it got through when it did."""
    mark = _mark(style, right=result.held)
    floor = {"held": "sandbox held", "skipped": "no command to run"}.get(result.floor, f"SANDBOX: {result.floor}")
    lines = [f"{mark} {result.kind:<17} {result.name:<34} {result.decision}; {floor}"]
    return lines if result.held else [*lines, f"    {printable(result.detail)}"]
