"""`agentforge fix`: violations are repaired on verified branches, by the checks themselves or by a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentforge.app.composition.run_result import RunResult, exit_code, result_value
from agentforge.app.conformance.fix_run import FixPlan, FixTarget, plan
from agentforge.app.tasks.runs import start
from agentforge.app.tasks.start_options import StartOptions
from agentforge.cli.runs.follow import Begin, follow, show_result
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import Form, result_line, write_json
from agentforge.cli.startup.options import (
    cwd_option,
    form_of,
    form_options,
    limit_options,
    limit_settings,
    limits_of,
    plain,
)
from agentforge.errors import UsageError
from agentforge.pipeline.stages import FIX_ORDER

if TYPE_CHECKING:
    pass


@click.command(
    epilog="""\b
Examples:
  agentforge fix V-1a2b3c4d5e
  agentforge fix --rule ruff/F401
  agentforge fix --all --max-steps 60 --json
  agentforge fix V-1a2b --model anthropic/claude-sonnet-4-5 --approve change
"""
)
@click.argument("violation_ids", nargs=-1, metavar="[VIOLATION_ID]...")
@click.option("--all", "every", is_flag=True, help="Repair every open violation; one branch per rule.")
@click.option("--rule", metavar="RULE", help="Every open violation of a rule: an id, check/id, or a pattern.")
@click.option("--baselined", is_flag=True, help="With --all or --rule: those of the baseline, too.")
@click.option("--supervised", "mode", flag_value="supervised", help="Ask for approval after every stage.")
@click.option("--interactive", "mode", flag_value="interactive", help="Also ask before every change.")
@click.option(
    "--approve",
    multiple=True,
    metavar="STAGE",
    help="Ask for approval after this stage; repeatable: analyze, guard, change, verify, deliver.",
)
@click.option("--model", metavar="PROVIDER/NAME", help="Ask this model for what no check can repair.")
@limit_options
@click.option("--base", metavar="REV", help="Start from this revision instead of HEAD.")
@click.option("--include-dirty", is_flag=True, help="Start from the files as they are, uncommitted changes included.")
@click.option(
    "--apply", is_flag=True, help="At the end, merge the branch into your checkout if that is a fast-forward."
)
@cwd_option
@form_options
def fix(violation_ids: tuple[str, ...], output_format: Form, as_json: bool, **given: Any) -> int:
    """Repair violations; the ids are those of `agentforge conformance check`.

    The checks repair what they can themselves (ruff, ruff format, eslint, prettier, a contract's own `fix:`), and a
    model repairs the rest. AgentForge verifies both in the same way: in a fresh checkout, with the whole suite; there
    may be no new finding, and nothing else may change. An id becomes one branch; --all and --rule make one branch per
    rule. If a violation is gone, the command says so and closes it.
    Exit codes: 0 done, 3 a human is asked, 5 model, 6 limit, 130 interrupted.
    """
    _refuse_mixtures(violation_ids, given)
    form = form_of(output_format, as_json=as_json)
    limits = limits_of(given)
    place = open_place(given["cwd"], flags=limit_settings(limits))
    target = FixTarget(ids=violation_ids, rule=given["rule"], all=given["every"], baselined=given["baselined"])
    options = StartOptions(
        request="",
        cwd=place.cwd,
        mode=given["mode"] or "autonomous",
        approve=_stage_names(given["approve"]),
        model=given["model"],
        limits=plain(limits),
        base=given["base"],
        include_dirty=given["include_dirty"],
        apply=given["apply"] or place.settings.flag("deliver.apply"),
    )
    planned = plan(target, options, settings=place.settings, environ=place.environ)
    return _carry_out(planned, place=place, form=form, single=len(violation_ids) == 1)


def _refuse_mixtures(ids: tuple[str, ...], given: dict[str, Any]) -> None:
    wide = given["every"] or given["rule"] is not None
    if bool(ids) == wide:
        raise UsageError("say what to fix", hint="ids of violations, or --all, or --rule RULE")
    if given["baselined"] and not wide:
        raise UsageError("--baselined goes with --all or --rule", hint="an id needs no such flag")


def _stage_names(words: tuple[str, ...]) -> tuple[str, ...]:
    for word in words:
        if word.lower() not in FIX_ORDER:
            raise UsageError(f"--approve {word}: no such stage of a fix", hint="one of " + ", ".join(FIX_ORDER))
    return tuple(name for name in FIX_ORDER if name in {word.lower() for word in words})


def _carry_out(planned: FixPlan, *, place: Place, form: Form, single: bool) -> int:
    """Drive the tasks one after the other; the exit code is the first that is not 0."""
    values: list[dict[str, object]] = []

    def show(result: RunResult) -> int:
        if form != "json" or single:
            return show_result(result, place=place, form=form)

        values.append(result_value(result))
        return exit_code(result)

    codes = []
    _tell_gone(planned, form=form)
    for options in planned.options:
        codes.append(follow(_beginning(options, place), place=place, form=form, show=show))
    if form == "json" and not (single and planned.options):
        write_json({"tasks": values, "gone": list(planned.gone)})
    return next((code for code in codes if code), 0)


def _beginning(options: StartOptions, place: Place) -> Begin:
    return lambda watch: start(options, settings=place.settings, environ=place.environ, watch=watch)


def _tell_gone(planned: FixPlan, *, form: Form) -> None:
    if form == "stream-json":
        for violation_id in planned.gone:
            write_json(result_line({"violation_id": violation_id, "outcome": "gone"}, form=form), form=form)
    if form != "text":
        return
    for violation_id in planned.gone:
        click.echo(f"{violation_id} is gone: nothing to do, it was closed")
    if not planned.options and not planned.gone:
        click.echo("no such violation is open")
