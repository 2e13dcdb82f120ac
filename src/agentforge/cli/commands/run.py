"""`agentforge run`: one prompt, one answer; for scripts, pipes and people in a hurry."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from agentforge.cli.form import Form
from agentforge.cli.options import cwd_option, form_of, form_options
from agentforge.cli.place import open_place
from agentforge.cli.terminal import printable
from agentforge.errors import EXIT_INTERRUPTED, UsageError

if TYPE_CHECKING:
    from agentforge.app.chat import TurnResult

_MODES = ("on-request", "on-failure", "auto", "auto-edit", "never", "yolo")
_EXIT = {"completed": 0, "limit": 6, "stuck": 6, "interrupted": EXIT_INTERRUPTED, "blocked": 4, "failed": 5}


@click.command(
    epilog="""\b
Examples:
  agentforge run "explain the agent loop of this project"
  git diff | agentforge run - --mode plan
  agentforge run "make the tests pass" --approval auto --max-turns 30 --json
"""
)
@click.argument("prompt", required=False)
@click.option("--model", metavar="PROVIDER/NAME", help="Ask this model.")
@click.option("--mode", "work_mode", type=click.Choice(["build", "plan"]), default="build", help="plan only looks.")
@click.option("--approval", type=click.Choice(_MODES), default=None, help="How much it may do without a question.")
@click.option("--resume", "session", metavar="ID", default="", help="Go on with this session.")
@click.option("--max-turns", type=click.IntRange(min=1), default=None, help="Model calls for this prompt.")
@cwd_option
@form_options
def run(prompt: str | None, output_format: Form, as_json: bool, **given: Any) -> int:
    """Give PROMPT to the agent and print its answer; "-", or no PROMPT, reads it from standard input."""
    from agentforge.app.chat import Chat, ChatOptions
    from agentforge.app.person import Nobody

    text = _prompt(prompt)
    place = open_place(given["cwd"])
    form = form_of(output_format, as_json=as_json)
    options = ChatOptions(
        cwd=place.cwd,
        session=given["session"],
        model=given["model"],
        approval=given["approval"] or "",
        work_mode=given["work_mode"],
        max_turns=given["max_turns"] or 0,
    )
    with Chat.open(options, Nobody(), settings=place.settings, environ=place.environ) as chat:
        result = chat.say(text)
        for notice in chat.notices:
            sys.stderr.write(f"note: {printable(notice)}\n")
    del form
    return _shown(result)


def _shown(result: TurnResult) -> int:
    if result.text:
        sys.stdout.write(result.text.rstrip("\n") + "\n")
    if result.outcome != "completed":
        sys.stderr.write(f"{result.outcome}: {result.reason}\n")
    return result.error.exit_code if result.error is not None else _EXIT[result.outcome]


def _prompt(prompt: str | None) -> str:
    text = prompt
    if prompt is None or prompt == "-":
        if prompt is None and sys.stdin.isatty():
            raise UsageError("there is no prompt", hint='agentforge run "explain this project"')
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    assert text is not None
    if not text.strip():
        raise UsageError("the prompt is empty", hint='agentforge run "explain this project"')
    return text
