"""`agentforge replay`: the recorded run once more, or its changes on another commit."""

from __future__ import annotations

from dataclasses import asdict

import click

from agentforge.app.history.replay import Replayed, replay_run, replay_session, replayed_value
from agentforge.app.history.transplant import Transplanted, transplant_run, transplanted_value
from agentforge.cli.output.terminal import cut, printable
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.config.paths import data_dir
from agentforge.errors import UsageError
from agentforge.store.sessions.folders import session_ids

_DIFFERS = 4
_VALUE = 200


@click.command(
    epilog="""\b
Examples:
  agentforge replay task-20261121-slugify
  agentforge replay task-20261121-slugify --actions-only --onto release-2
  agentforge replay task-20261121-slugify --actions-only --onto release-2 --branch slugify-for-2
"""
)
@click.argument("task_id", metavar="ID")
@click.option("--actions-only", is_flag=True, help="Only apply the recorded changes of files, step by step.")
@click.option(
    "--onto", metavar="REV", help="With --actions-only: the commit to apply them to, not the task's own base."
)
@click.option("--branch", metavar="NAME", help="With --actions-only: make this branch with the result.")
@cwd_option
@json_option
def replay(
    task_id: str, actions_only: bool, onto: str | None, branch: str | None, cwd: str | None, as_json: bool
) -> int:
    """Drive task or session ID again from its record, and name the first difference; no model is asked.

    This program computes anew what was sent, decided, written and judged, with its own prompts and contracts, and
    compares it record by record. It runs no command and changes nothing. Exit codes: 0 the same, 4 a difference or a conflict.
    """
    if (onto or branch) and not actions_only:
        raise UsageError("--onto and --branch belong to --actions-only", hint="add --actions-only")
    place = open_place(cwd)
    if _is_session(place, task_id):
        return _session(place, task_id, actions_only=actions_only, as_json=as_json)
    if actions_only:
        return _actions(task_id, onto, branch, place=place, as_json=as_json)

    result = replay_run(place.cwd, task_id, settings=place.settings, environ=place.environ)
    if as_json:
        write_json(replayed_value(result))
    else:
        click.echo("\n".join(_told(result)))
    return _DIFFERS if result.divergence else 0


def _is_session(place: Place, text: str) -> bool:
    return sum(name.startswith(text) for name in session_ids(data_dir(place.environ))) == 1


def _session(place: Place, text: str, *, actions_only: bool, as_json: bool) -> int:
    if actions_only:
        raise UsageError("--actions-only is for tasks", hint="/restore and /undo bring the files of a session back")
    result = replay_session(text, settings=place.settings, environ=place.environ)
    if as_json:
        write_json({"ok": result.difference is None, **asdict(result)})
    elif result.difference is None:
        click.echo(f"{result.session_id}: all {result.records} records, {result.requests} requests: the same")
    else:
        found = result.difference
        click.echo(
            f"{result.session_id}: differs at record {found.seq}, step {found.step}: {found.event}.{found.field}"
        )
        click.echo(f"  recorded {cut(printable(found.recorded), _VALUE)}")
        click.echo(f"  now      {cut(printable(found.now), _VALUE)}")
    return _DIFFERS if result.difference else 0


def _told(result: Replayed) -> list[str]:
    lines = [f"changed since the run began: {', '.join(result.changed)}"] if result.changed else []
    found = result.divergence
    if found is None:
        return [*lines, f"{result.task_id}: all {result.records} records, {result.steps} steps: the same"]
    where = f"record {found.seq}, step {found.step}, stage {found.stage or '-'}"
    lines += [f"{result.task_id}: differs at {where}", f"  {found.event}.{found.field}"]
    lines += [f"  because of {name}" for name in result.names]
    lines += [
        f"  recorded {cut(printable(str(found.recorded)), _VALUE)}",
        f"  now      {cut(printable(str(found.now)), _VALUE)}",
    ]
    return [*lines, *(f"    {cut(printable(line), _VALUE)}" for line in result.detail)]


def _actions(task_id: str, onto: str | None, branch: str | None, *, place: Place, as_json: bool) -> int:
    result = transplant_run(place.cwd, task_id, onto=onto, branch=branch)
    if as_json:
        write_json(transplanted_value(result))
    else:
        click.echo("\n".join(_told_actions(result)))
    return _DIFFERS if result.conflicts else 0


def _told_actions(result: Transplanted) -> list[str]:
    lines = [
        f"conflict: {item.path} in {'step ' + str(item.step) if item.step else 'the supplied tests'}: {item.reason}"
        for item in result.conflicts
    ]
    lines.append(f"{result.task_id}: {result.steps} steps with changes onto {result.onto[:12]}: tree {result.tree}")
    if result.same_base:
        lines.append("the same tree as the task's own" if result.same_tree else "not the tree of the task's own")
    if result.branch:
        lines.append(f"branch {result.branch} at {result.commit[:12]}")
    else:
        lines.append(f"  git diff {result.onto[:12]} {result.tree[:12]}")
    return lines
