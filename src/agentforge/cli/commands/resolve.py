"""`agentforge resolve`: a human's decision on an escalation."""

from __future__ import annotations

from typing import Any, Literal

import click

from agentforge.cli.form import Form
from agentforge.cli.options import cwd_option, form_of, form_options
from agentforge.cli.place import open_place
from agentforge.errors import UsageError

Decision = Literal["answer", "approve", "reject", "abort"]


@click.command(
    epilog="""\b
Examples:
  agentforge resolve E1 --answer "Keep the old name as an alias"
  agentforge resolve task-20261121-slugify.E2 --approve --resume
  agentforge resolve E2 --reopen spec --answer "Empty text gives an error, not ''" --resume
  agentforge resolve E2 --reject "REQ-002 misses the empty string" --resume
"""
)
@click.argument("escalation_id", metavar="ESCALATION_ID")
@click.option("--answer", metavar="TEXT", help="Answer the question.")
@click.option(
    "--reopen",
    default="",
    metavar="STAGE",
    help="With --answer: do this earlier stage again with the answer, and all that follow: spec.",
)
@click.option("--approve", is_flag=True, help="Approve what is shown.")
@click.option(
    "--reject", is_flag=False, flag_value="", metavar="[REASON]", help="Send it back; the reason goes into the stage."
)
@click.option("--abort", is_flag=True, help="End the task.")
@click.option("--resume", is_flag=True, help="Go on with the task at once.")
@cwd_option
@form_options
def resolve(escalation_id: str, resume: bool, output_format: Form, as_json: bool, **given: Any) -> int:
    """Record a decision on ESCALATION_ID: exactly one of --answer, --approve, --reject, --abort."""
    from agentforge.app import answers
    from agentforge.cli.commands.resume import drive_on
    from agentforge.cli.following import show_result, user_name
    from agentforge.pipeline.stages import ALIASES

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
    )
    if resume:
        return drive_on(result.state.run_id, limits={}, place=place, form=form)
    if form != "text":
        show_result(result, place=place, form=form)
    else:
        word = "end it" if decision == "abort" else "go on"
        click.echo(f"recorded; {word} with: agentforge resume {result.state.run_id}")
    return 0


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
