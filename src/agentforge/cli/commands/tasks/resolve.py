"""`agentforge resolve`: a human's decision on an escalation."""

from __future__ import annotations

from typing import Any, Literal

import click

from agentforge.app.composition import task_queries as looking
from agentforge.app.tasks import answers
from agentforge.cli.commands.tasks.resume import drive_on
from agentforge.cli.runs.follow import settle, show_result, somebody_is_here, user_name
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import Form
from agentforge.cli.startup.options import cwd_option, form_of, form_options
from agentforge.errors import UsageError
from agentforge.pipeline.stages import ALIASES

Decision = Literal["answer", "approve", "reject", "abort"]


@click.command(
    epilog="""\b
Examples:
  agentforge resolve
  agentforge resolve E1 --answer "Keep the old name as an alias"
  agentforge resolve task-20261121-slugify.E2 --approve --resume
  agentforge resolve E2 --reopen spec --answer "Empty text gives an error, not ''" --resume
  agentforge resolve E2 --reject "REQ-002 misses the empty string" --resume
"""
)
@click.argument("escalation_id", metavar="[ESCALATION_ID]", required=False)
@click.option("--answer", metavar="TEXT", help="Answer the question.")
@click.option(
    "--reopen",
    default="",
    metavar="STAGE",
    help="With --answer: do this earlier stage again with your answer. AgentForge measures the later stages again.",
)
@click.option("--approve", is_flag=True, help="Approve the work, raise the limit, or have it tried again.")
@click.option(
    "--reject",
    is_flag=False,
    flag_value="",
    metavar="[REASON]",
    help="Send the work back; the stage reads your reason.",
)
@click.option("--abort", is_flag=True, help="End the task.")
@click.option("--resume", is_flag=True, help="Continue the task at once.")
@cwd_option
@form_options
def resolve(escalation_id: str | None, resume: bool, output_format: Form, as_json: bool, **given: Any) -> int:
    """Record a decision on ESCALATION_ID: exactly one of --answer, --approve, --reject, --abort.

    Without an id, on a terminal, it asks you every open question, records your answers, and offers to continue.
    """
    if escalation_id is None:
        return _ask_everything(given, form=form_of(output_format, as_json=as_json))

    decision, text = decision_of(given)
    if given["reopen"] and decision != "answer":
        raise UsageError("--reopen goes with an answer", hint='add --answer "what is to be different"')
    place = open_place(given["cwd"])
    form = form_of(output_format, as_json=as_json)
    result = answers.resolve(
        place.cwd,
        escalation_id,
        decision=decision,
        text=text,
        by=user_name(place),
        reopen=ALIASES.get(given["reopen"], given["reopen"]),
        settings=place.settings,
        environ=place.environ,
    )
    if resume:
        return drive_on(result.state.identity.run_id, limits={}, place=place, form=form)
    if form != "text":
        show_result(result, place=place, form=form)
    else:
        word = "end it" if decision == "abort" else "go on"
        click.echo(f"recorded; {word} with: agentforge resume {result.state.identity.run_id}")
    return 0


def _ask_everything(given: dict[str, Any], *, form: Form) -> int:
    """Ask the person at the terminal all open questions of the repository, task by task.

    Raises:
        UsageError: a decision without the question that it is about, or nobody sits at a terminal.
    """
    if any(given[name] not in (None, "", False) for name in ("answer", "approve", "reject", "abort", "reopen")):
        raise UsageError("a decision was given, but no question", hint="see: agentforge escalations list")
    if not somebody_is_here(form):
        raise UsageError(
            "without an id the questions are asked on a terminal, and there is none",
            hint="see: agentforge escalations list --json; then: agentforge resolve ID --answer TEXT --resume",
        )
    place = open_place(given["cwd"])
    tasks = list(dict.fromkeys(row.task_id for row in answers.pending(place.cwd)))
    if not tasks:
        click.echo("nothing waits for you")
    code = 0
    for task in tasks:
        limits = settle(looking.load(place.cwd, task), place=place)
        if limits is None:
            click.echo(f"left for later; go on with: agentforge resolve, or agentforge resume {task}")
        elif click.confirm(f"Go on with {task} now?", default=True):
            code = max(code, drive_on(task, limits=limits, place=place, form=form))
        else:
            click.echo(f"recorded; go on with: agentforge resume {task}")
    return code


def decision_of(given: dict[str, Any]) -> tuple[Decision, str]:
    """Pick the one decision that was given.

    Raises:
        UsageError: none, or more than one.
    """
    found: list[tuple[Decision, str]] = []
    if given["answer"] is not None:
        found.append(("answer", given["answer"]))
    if given["approve"]:
        found.append(("approve", ""))
    if given["reject"] is not None:
        found.append(("reject", given["reject"]))
    if given["abort"]:
        found.append(("abort", ""))
    if len(found) != 1:
        raise UsageError(
            f"{len(found)} decisions were given" if found else "no decision was given",
            hint="pass one of --answer, --approve, --reject, --abort",
        )
    return found[0]
