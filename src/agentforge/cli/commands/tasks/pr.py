"""`agentforge pr` and `agentforge continue`: the pull request of a delivered task, and what others say of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from agentforge.app.pull_requests.request import PullOptions, pull
from agentforge.app.pull_requests.review import Found, Wanted, ci_result, find, pull_record, request_of
from agentforge.app.tasks.runs import start as start_task
from agentforge.app.tasks.start_options import StartOptions
from agentforge.cli.output.phrases import ci_lines, left_out_lines, pull_lines
from agentforge.cli.output.terminal import printable
from agentforge.cli.runs.follow import follow
from agentforge.cli.runs.trust_prompt import ensure_trust
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import Form, write_json
from agentforge.cli.startup.options import (
    Duration,
    cwd_option,
    form_of,
    form_options,
    json_option,
    limit_options,
    limit_settings,
    limits_of,
    log_option,
    plain,
    trust_option,
)
from agentforge.errors import UsageError

_CI_EXITS = {"passed": 0, "none": 0, "failed": 4, "pending": 6}


@click.command(
    epilog="""\b
Examples:
  agentforge pr task-20261121-slugify
  agentforge pr task-20261121-slugify --base release/2 --draft --json
  agentforge pr task-20261121-slugify --no-push
  agentforge pr task-20261121-slugify --checks --wait 30m

\b
Exit code: 0 done; 7 the forge refuses; 8 somebody else has committed to the branch.
With --checks: 0 passed, or nobody has reported; 4 refused; 6 not finished.
"""
)
@click.argument("task_id", metavar="ID")
@click.option(
    "--base",
    default="",
    metavar="BRANCH",
    help="Merge into this branch; the default is the one from which the task started.",
)
@click.option("--draft", is_flag=True, help="Open it as a draft.")
@click.option("--no-push", is_flag=True, help="Only write the patch and the body, for somebody who sends them.")
@click.option("--checks", is_flag=True, help="Do not open anything; ask what CI says about the delivered commit.")
@click.option("--wait", type=Duration(), default=None, metavar="TIME", help="With --checks: ask until CI has finished.")
@click.option("--remote", default="", metavar="NAME", help="The git remote; the default is forge.remote, else origin.")
@cwd_option
@json_option
def pr(task_id: str, cwd: str | None, as_json: bool, **given: Any) -> int:
    """Push the branch of task ID and open its pull request (GitLab: merge request), or bring the open one up to date.

    It goes through gh or glab where they are logged in, else to the REST API with GH_TOKEN or GITLAB_TOKEN, else patch and
    body are written into .agentforge/pulls. The body is the delivery report with its proof.
    """
    place = open_place(cwd)
    if given["checks"]:
        return _checks(task_id, place, given, as_json=as_json)
    if given["wait"] is not None:
        raise UsageError("--wait goes with --checks", hint="agentforge pr ID --checks --wait 30m")

    options = PullOptions(base=given["base"], remote=given["remote"], draft=given["draft"], push=not given["no_push"])
    made = asdict(pull(place.cwd, task_id, options, settings=place.settings, environ=place.environ))
    if as_json:
        write_json(made)
    else:
        click.echo("\n".join(pull_lines(made)))
    return 0


@click.command(
    name="continue",
    epilog="""\b
Examples:
  agentforge continue task-20261121-slugify --from-review
  agentforge continue task-20261121-slugify --from-review --from-ci --max-steps 60
  agentforge continue task-20261121-slugify --from-ci --json
  agentforge continue task-20261121-slugify --from-review --reviewer review-bot --dry-run

\b
The exit codes are those of start; 0 also means that there was nothing to answer.
""",
)
@click.argument("task_id", metavar="ID")
@click.option("--from-review", is_flag=True, help="Answer the comments of the pull request.")
@click.option("--from-ci", is_flag=True, help="Answer the checks that refused the delivered commit.")
@click.option(
    "--reviewer", "reviewers", multiple=True, metavar="NAME",
    help="Also answer comments of this author, who has no write access; repeatable.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show what would be answered.")
@click.option("--remote", default="", metavar="NAME", help="The git remote; the default is forge.remote, else origin.")
@click.option("--model", metavar="PROVIDER/NAME", help="Ask this model.")
@limit_options
@trust_option
@log_option
@cwd_option
@form_options
def go_on(task_id: str, output_format: Form, as_json: bool, **given: Any) -> int:
    """Answer what reviewers and CI found in the pull request of task ID: a new task goes on from the delivered commit.

    The new task passes through all stages, with tests for the findings. AgentForge adds its commit to the same branch
    and pushes it. The findings are text by other people: AgentForge fences them, and they cannot widen what the task
    may change. It answers each finding once.
    """
    form = form_of(output_format, as_json=as_json)
    if not given["from_review"] and not given["from_ci"]:
        raise UsageError("no source was named", hint="--from-review, --from-ci, or both")

    limits = limits_of(given)
    flags = {**limit_settings(limits), "telemetry.log_format": given["log_format"]}
    place = open_place(given["cwd"], flags=flags, trusting=given["trust"], asks=True)
    wanted = Wanted(
        review=given["from_review"], ci=given["from_ci"], reviewers=given["reviewers"], remote=given["remote"]
    )
    found = find(place.cwd, task_id, wanted, settings=place.settings, environ=place.environ)
    if given["dry_run"] or not found.findings:
        return _tell(found, form=form)
    return _answer(found, place, given, form=form)


def _checks(task_id: str, place: Place, given: dict[str, Any], *, as_json: bool) -> int:
    wait = given["wait"]
    result = ci_result(
        place.cwd,
        task_id,
        settings=place.settings,
        environ=place.environ,
        remote=given["remote"],
        wait_s=float("inf") if wait == "none" else float(wait or 0),
    )
    if as_json:
        write_json(asdict(result))
    else:
        click.echo("\n".join(ci_lines(result)))
    return _CI_EXITS[result.standing]


def _tell(found: Found, *, form: Form) -> int:
    """Show what would be answered, or that there is nothing."""
    if form != "text":
        value = {
            "task_id": found.last.state.identity.run_id,
            "outcome": "found" if found.findings else "nothing",
            "findings": [asdict(item) for item in found.findings],
            "later": found.later,
            "left_out": list(found.strangers),
            "ci": found.ci or None,
        }
        write_json(value, form=form)
        return 0
    lines = [f"{item.source} of {printable(item.by)}: {printable(item.text)[:200]}" for item in found.findings]
    click.echo("\n".join([*(lines or ["there is nothing to answer"]), *left_out_lines(found)]))
    return 0


def _answer(found: Found, place: Place, given: dict[str, Any], *, form: Form) -> int:
    """Start the task that answers, and follow it."""
    place = ensure_trust(place, given=given["trust"])
    last = found.last.state
    options = StartOptions(
        request=request_of(found),
        cwd=place.cwd,
        mode=last.brief.mode,  # type: ignore[arg-type] # a run has one of the modes
        approve=last.brief.approve,
        model=given["model"] or (last.brief.model if "/" in last.brief.model and "+" not in last.brief.model else None),
        limits=plain(limits_of(given)),
        base=str((last.work.delivered or {}).get("commit")),
        pull=pull_record(found),
    )
    if form == "text":
        count = len(found.findings)
        click.echo("\n".join([f"{count} finding{'s' if count != 1 else ''} to answer", *left_out_lines(found)]))
    return follow(
        lambda watch: start_task(options, settings=place.settings, environ=place.environ, watch=watch),
        place=place,
        form=form,
    )
