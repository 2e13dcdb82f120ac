"""`agentforge init`: provider, model, key; three questions at most, valid files for any answer."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from agentforge.app.setup.setup_run import Setup, set_up
from agentforge.cli.runs.first_choice import choose_model
from agentforge.cli.startup.command_context import folder_of, open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.config.paths import project_tops
from agentforge.config.settings import load
from agentforge.config.stage_names import stage_files
from agentforge.errors import UsageError
from agentforge.local import default_entry
from agentforge.models import PROVIDERS

_MAY_DO_WITHOUT = ("custom", "bedrock")
"""Their servers may want no key, or have other ways to it."""
_KEEPING_A_KEY = "agentforge init --key-from-stdin"
_NEXT = 'Next: `agentforge doctor` checks everything. Then run `agentforge start "..."`, or `agentforge` to talk to the agent.'


@click.command(
    epilog="""\b
Examples:
  agentforge init
  agentforge init --provider anthropic --model claude-sonnet-5-5
  agentforge init --provider custom --base-url http://127.0.0.1:8080/v1 --model local/model --project
"""
)
@click.option(
    "--provider", default=None, help="openrouter, openai, anthropic, custom, local, or a server on this machine."
)
@click.option("--model", default=None, metavar="NAME", help="The provider's name of the model.")
@click.option("--base-url", default="", metavar="URL", help="Address of an OpenAI-compatible server.")
@click.option("--key-from-stdin", is_flag=True, help="Read the key from standard input instead of asking.")
@click.option("--project", is_flag=True, help="Write the project's settings; keys always go to your own file.")
@cwd_option
@json_option
def init(
    provider: str | None,
    model: str | None,
    base_url: str,
    key_from_stdin: bool,
    project: bool,
    cwd: str | None,
    as_json: bool,
) -> int:
    """Choose a model: by an API key, on this machine, or at a server's address.

    AgentForge writes all of it, or nothing. On a terminal, it asks you, and tries your choice before it writes anything.
    With --provider, it asks only for what is missing.
    """
    folder = folder_of(cwd)
    now = load(folder, os.environ)
    terminal = sys.stdin.isatty() and not as_json
    if provider is None and terminal:
        return _offer(cwd, project=folder if project else None)
    chosen = provider or now.text("model.provider") or _keyed()
    if not chosen:
        raise UsageError(
            "nobody is at a terminal to choose a model, and no API key is set",
            hint="name a provider: agentforge init --provider NAME, with --key-from-stdin for its key",
        )
    known = PROVIDERS.get(chosen)
    if known is None:
        raise UsageError(f"there is no provider {chosen!r}", hint="one of " + ", ".join(PROVIDERS))
    usual = now.text("model.name") if chosen == now.text("model.provider") else ""
    name = model if model is not None else _model(usual or known.name or _own(chosen), terminal=terminal)
    kept = now.text("model.base_url") if chosen == now.text("model.provider") else ""
    address = base_url or kept
    if chosen == "custom" and not address and not os.environ.get("BASE_URL"):
        address = _address(terminal=terminal)
    key = ""
    if key_from_stdin:
        key = sys.stdin.readline().strip()
    elif terminal and known.key and not os.environ.get(known.key) and chosen != "custom":
        key = click.prompt(
            f"{known.key} (leave empty to set it later)", default="", show_default=False, hide_input=True
        ).strip()
    setup = Setup(
        provider=chosen, model=name.strip(), base_url=address.strip(), key=key, project=folder if project else None
    )
    written = set_up(setup, os.environ)
    wanted = "" if key or chosen in _MAY_DO_WITHOUT else known.key
    missing = "" if open_place(cwd).environ.get(wanted) else wanted
    _told(written, stages=_stages_brought(folder), missing=missing, as_json=as_json)
    return 0


def _stages_brought(folder: Path) -> tuple[str, ...]:
    """The files that add stages to the tasks of this project."""
    return tuple(str(file) for file in stage_files(project_tops(folder, os.environ), os.environ))


def _told(written: tuple[Path, ...], *, stages: tuple[str, ...], missing: str, as_json: bool) -> None:
    if as_json:
        write_json({"written": [str(file) for file in written], "stages": list(stages), "missing_key": missing or None})
        return
    for file in written:
        click.echo(f"wrote {file}")
    for name in stages:
        click.echo(f"{name} adds a stage to every task of this project (see agentforge stages)")
    if missing:
        click.echo(f"{missing} is not set. Export it, or have AgentForge keep it: {_KEEPING_A_KEY} < FILE")
    click.echo(_NEXT)


def _offer(cwd: str | None, *, project: Path | None) -> int:
    """Let the person choose; what is chosen is carried out."""
    if not choose_model(open_place(cwd), project=project):
        return UsageError.exit_code
    click.echo(_NEXT)
    return 0


def _keyed() -> str:
    """The first provider that has a key in the environment; "" where none has."""
    return next((name for name, one in PROVIDERS.items() if one.key and os.environ.get(one.key)), "")


def _own(provider: str) -> str:
    """The catalogue's own model for this machine."""
    if provider != "local":
        return ""

    return default_entry().name


def _model(default: str, *, terminal: bool) -> str:
    return str(click.prompt("Model", default=default or None)) if terminal else default


def _address(*, terminal: bool) -> str:
    return str(click.prompt("Address", default="http://127.0.0.1:8080/v1")) if terminal else ""
