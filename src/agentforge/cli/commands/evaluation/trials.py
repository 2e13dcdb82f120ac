"""`agentforge eval run | list | show | export`: task sets played through the whole pipeline and judged by hidden tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from agentforge import __version__
from agentforge.app.composition.assembly import Models
from agentforge.canonical import digest_value
from agentforge.cli.output.terminal import Style, cut, printable, style_for
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option, limit_options, limits_of, plain
from agentforge.config.paths import data_dir
from agentforge.errors import UsageError, VerificationFailed
from agentforge.evals.trials.export import export
from agentforge.evals.trials.page import report_html
from agentforge.evals.trials.play import variant_of
from agentforge.evals.trials.report import report_lines, report_value, row_line
from agentforge.evals.trials.results import Results, TrialPlan, begin, find, held, kept, load
from agentforge.evals.trials.task import EvalTask
from agentforge.evals.trials.task_pool import digests_of, playable, run_missing
from agentforge.evals.trials.task_sets import TaskSet, chosen, known_sets, load_set
from agentforge.store.log.records import utc_now

_MARKS = {"right": ("done", "green"), "wrong": ("failed", "red")}

only_option = click.option(
    "--only",
    multiple=True,
    metavar="TASK",
    help="A name, a pattern, action=fix, tag=WORD, expected=must-ask. Repeatable.",
)
first_option = click.option("--first", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks of those.")
against_option = click.option(
    "--against", metavar="REPORT", help="Compare with this earlier evaluation: a name or a folder."
)
html_option = click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the report as one HTML file."
)


@click.command(
    epilog="""\b
Examples:
  agentforge eval run own --model scripted
  agentforge eval run own --model openai/gpt-5.5 --parallel 4 --html report.html
  agentforge eval run impossible --model scripted --model scripted:cheating
  agentforge eval run humaneval --first 20 --deadline 10m
  agentforge eval run own --only action=fix --only "add-*" --against own-20261122-0915
  agentforge eval run quixbugs:QuixBugs --resume
"""
)
@click.argument("set_", metavar="SET")
@click.option(
    "--model", "models", multiple=True, metavar="PROVIDER/NAME", help="Ask this model; repeatable. scripted: no model."
)
@only_option
@first_option
@click.option("--parallel", type=click.IntRange(min=1), default=1, show_default=True, help="Tasks at a time.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Keep results and trails here."
)
@click.option(
    "--resume", is_flag=True, help="Go on with the evaluation in --out, or the last one of this set and models."
)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting for every task; repeatable.")
@click.option("--min-right", type=click.IntRange(0, 100), metavar="PERCENT", help="Exit code 4 when fewer are right.")
@limit_options
@against_option
@html_option
@json_option
def run_set(set_: str, models: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Play the tasks of SET through the whole pipeline and judge each by tests that the run never sees.

    SET is own, impossible, humaneval[:FILE], quixbugs:DIR, exercism:DIR or a folder of tasks (docs/evals.md). A task is right,
    wrong, escalated or failed; every row names the folder with its repository and trail. `--model scripted` plays the answers
    that come with the tasks, `--model scripted:wrong` their wrong ones. Exit codes: 0 done, 4 something wrong was delivered.
    """
    against = find(given["against"], _home()) if given["against"] else None
    loaded = load_set(set_)
    results, tasks = _opened(loaded, _asked_models(models), given)
    done = _played(results, tasks, processes=given["parallel"], quiet=as_json)
    value = report_value(done, against=against)
    code = _shown(value, html=given["html"], as_json=as_json)
    return code or _enough(value["models"], given["min_right"], as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  agentforge eval list
  agentforge eval list own
  agentforge eval list --json
"""
)
@click.argument("set_", metavar="[SET]", required=False)
@json_option
def list_sets(set_: str | None, as_json: bool) -> int:
    """List the task sets and the evaluations that are kept, or the tasks of SET."""
    if set_ is not None:
        return _listed_tasks(load_set(set_), as_json=as_json)
    evaluations = [_kept_value(one) for one in kept(_home())]
    if as_json:
        write_json({"sets": [asdict(one) for one in known_sets()], "evaluations": evaluations})
        return 0
    for known in known_sets():
        click.echo(f"{known.name:<10} {known.title}: {known.where}")
    none = "No evaluation is kept in the data folder; one that was made with --out DIR: agentforge eval show DIR"
    click.echo("\nEvaluations, newest first:" if evaluations else f"\n{none}")
    for one in evaluations:
        click.echo(
            f"{one['name']:<28} {one['played']}/{one['tasks']} played, {one['right']} right, {one['wrong']} wrong"
        )
    return 0


@click.command(
    epilog="""\b
Examples:
  agentforge eval show
  agentforge eval show own-20261122-0915 --html report.html
  agentforge eval show own-20261122-0915 --against own-20261120-1801 --json
"""
)
@click.argument("evaluation", metavar="[EVALUATION]", required=False)
@against_option
@html_option
@json_option
def show_evaluation(evaluation: str | None, against: str | None, html: Path | None, as_json: bool) -> int:
    """Show an evaluation again, the last one by default: figures, rows, and what changed since another one."""
    results = find(evaluation, _home())
    value = report_value(results, against=find(against, _home()) if against else None)
    if not as_json:
        width = max((len(str(row["task"])) for row in results.rows), default=1)
        for row in results.rows:
            click.echo(printable(row_line(row, width=width)))
    return _shown(value, html=html, as_json=as_json)


@click.command(
    epilog="""\b
Examples:
  agentforge eval export own --to inspect exported
  agentforge eval export own --to harbor exported --only action=fix
  agentforge eval export humaneval:HumanEval.jsonl.gz --to harbor exported --first 20
"""
)
@click.argument("set_", metavar="SET")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--to", "form", type=click.Choice(("inspect", "harbor")), required=True, help="For which program.")
@only_option
@first_option
def export_set(set_: str, folder: Path, form: Any, only: tuple[str, ...], first: int | None) -> int:
    """Write the tasks of SET into DIR, new or empty, in the form of another evaluation program.

    Inspect: inspect eval DIR/tasks.py --model PROVIDER/NAME. Harbor: harbor run --path DIR --agent NAME.
    """
    loaded = load_set(set_)
    tasks = chosen(loaded.tasks, only=only, limit=first)
    count = export(tasks, folder, form=form, set_name=loaded.name)
    click.echo(f"{folder}: {len(tasks)} tasks, {count} files")
    return 0


def _opened(loaded: TaskSet, models: tuple[str, ...], given: Mapping[str, Any]) -> tuple[Results, dict[str, EvalTask]]:
    """The evaluation to be played: a new one, or one that was broken off."""
    tasks = playable(chosen(loaded.tasks, only=given["only"], limit=given["first"]), models)
    digests = digests_of(tasks)
    plan = TrialPlan(
        name=loaded.name,
        digest=digest_value(digests),
        digests=digests,
        models=models,
        tasks=tuple(task.name for task in tasks),
        at=utc_now(),
        version=__version__,
        settings=_settings(given["settings"]),
        limits=plain(limits_of(given)),
    )
    folder = given["out"]
    if given["resume"]:
        results = load(folder) if folder else _unfinished(plan)
        if (results.plan.digest, results.plan.models) != (plan.digest, plan.models):
            raise UsageError(
                f"{results.folder} holds an evaluation of other tasks or models",
                hint="resume with the same SET and flags",
            )
        return results, {task.name: task for task in tasks}
    folder = folder or _home() / f"{loaded.name}-{plan.at[:16].replace('-', '').replace(':', '').replace('T', '-')}"
    begin(folder, plan)
    return load(folder), {task.name: task for task in tasks}


def _unfinished(plan: Any) -> Results:
    for one in kept(_home()):
        if (one.plan.digest, one.plan.models) == (plan.digest, plan.models) and not one.complete:
            return one
    raise UsageError(
        "no evaluation of these tasks and models was interrupted",
        hint="leave --resume out, or name its folder with --out",
    )


def _played(results: Results, tasks: Mapping[str, EvalTask], *, processes: int, quiet: bool) -> Results:
    style = style_for(sys.stdout, os.environ)
    width = max(len(name) for name in tasks)
    if not quiet:
        click.echo(f"{len(results.missing())} tasks, kept in {results.folder}")
    with held(results.folder):
        for row in run_missing(load(results.folder), tasks, processes=processes):
            if not quiet:
                click.echo(f"{_mark(str(row['verdict']), style)} {printable(row_line(row, width=width))}")
    return load(results.folder)


def _mark(verdict: str, style: Style) -> str:
    sign, colour = _MARKS.get(verdict, ("asked", "yellow"))
    return style.paint(style.sign(sign), colour)


def _shown(value: Mapping[str, Any], *, html: Path | None, as_json: bool) -> int:
    if html is not None:
        try:
            html.write_text(report_html(value, beside=html.absolute().parent), "utf-8")
        except OSError as exc:
            raise UsageError(f"{html} cannot be written: {exc.strerror}", hint="name another file") from exc
    if as_json:
        write_json(value)
    else:
        click.echo("\n".join(["", *(printable(line) for line in report_lines(value))]))
    return 0 if value["ok"] else VerificationFailed.exit_code


def _enough(models: list[dict[str, Any]], percent: int | None, *, as_json: bool) -> int:
    """0 when every model has enough right."""
    few = [one for one in models if percent is not None and 100 * (one["right"]["rate"] or 0) < percent]
    if few and not as_json:
        names = ", ".join(f"{one['model']} {one['right']['n']} of {one['tasks']}" for one in few)
        click.echo(f"fewer than {percent} % are right: {names}")
    return VerificationFailed.exit_code if few else 0


def _listed_tasks(loaded: TaskSet, *, as_json: bool) -> int:
    if as_json:
        rows = [
            {name: part for name, part in task.value.items() if name not in ("hidden", "answers")}
            for task in loaded.tasks
        ]
        write_json({"set": loaded.name, "tasks": rows})
        return 0
    width = max(len(task.name) for task in loaded.tasks)
    for task in loaded.tasks:
        first = task.request.splitlines()[0]
        click.echo(cut(printable(f"{task.name:<{width}}  {task.action:<8} {task.expected:<13} {first}"), 120))
    return 0


def _kept_value(results: Results) -> dict[str, Any]:
    verdicts = [row["verdict"] for row in results.rows]
    return {
        "name": results.folder.name,
        "set": results.plan.name,
        "models": list(results.plan.models),
        "at": results.plan.at,
        "tasks": len(results.plan.tasks) * len(results.plan.models),
        "played": len(verdicts),
        "right": verdicts.count("right"),
        "wrong": verdicts.count("wrong"),
        "folder": str(results.folder),
    }


def _settings(words: tuple[str, ...]) -> dict[str, Any]:
    """KEY=VALUE words; a value is read as YAML: 3, true, [a, b], text."""
    import yaml

    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        try:
            found[key] = yaml.safe_load(value)
        except yaml.YAMLError as exc:
            raise UsageError(f"--set {word}: the value cannot be read", hint="write KEY=VALUE") from exc
        if not equals or not key:
            raise UsageError(f"--set {word}: no value", hint="write KEY=VALUE, such as verification.mutants=0")
    return found


def _asked_models(names: tuple[str, ...]) -> tuple[str, ...]:
    """The models that are asked, by their full names; without names the one of the user's settings.

    Raises:
        ModelNotConfigured: there is none.
        ConfigError: a name that means no model, before anything is played.
    """
    place = open_place(None)
    found = []
    for name in names or (None,):
        if name is not None and variant_of(name) is not None:
            found.append(name)
            continue
        models = Models(settings=place.settings, environ=place.environ, flag=name)
        try:
            found.append(models.of_stage("").name)
        finally:
            models.close()
    return tuple(dict.fromkeys(found))


def _home() -> Path:
    """The folder of kept evaluations."""
    return data_dir(os.environ) / "evals"
