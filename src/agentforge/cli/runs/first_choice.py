"""No model yet: three short ways to one are offered at the terminal; the chosen one is carried out, or nothing is written.

What is said before a model on this machine is used for the first time: that it is graded once, and how long that takes.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

import click

from agentforge.app.models.grade import grade_of, is_graded_by_itself
from agentforge.app.setup.first_choice import checked, offer_of, provider_of
from agentforge.app.setup.setup_run import Setup, set_up
from agentforge.cli.commands.setup.model import pull_model
from agentforge.cli.runs.follow import somebody_is_here
from agentforge.cli.startup.command_context import Place
from agentforge.cli.startup.form import Form
from agentforge.config.model_choice import choose, explain, running_server
from agentforge.config.paths import local_dir
from agentforge.errors import AgentForgeError, ModelAuthError, ModelNotConfigured
from agentforge.installation import command_for
from agentforge.local import default_entry
from agentforge.models import PROVIDERS

_KEYED = ("openrouter", "openai", "anthropic")
_NOBODYS = "none"
_MOST_NAMES = 20


def with_model(place: Place, flag: str | None, *, form: Form, again: Callable[[], Place]) -> Place:
    """See to it that a model can be asked; where none is configured, the person at the terminal chooses one.

    Args:
        flag: `PROVIDER/NAME` of the command line.
        again: opens the place anew, with what was written.
    Returns:
        The place, with the settings that hold now.
    Side effects: prompts, settings, a download; nothing where nobody is at the terminal or something is configured.
    """
    if flag or not somebody_is_here(form) or _is_configured(place):
        return place
    try:
        explain(place.settings, place.environ)
    except ModelNotConfigured:
        click.echo("No model is configured yet.")
        return again() if choose_model(place) else place
    return place


def choose_model(place: Place, *, project: Path | None = None) -> bool:
    """Offer the ways to a model until one has been carried out.

    Args:
        project: whose settings are written; None = the user's own.
    Returns:
        False where the person leaves without one; nothing was written then.
    """
    entry = default_entry()
    size = f"{entry.bytes / 1e9:.1f} GB"
    click.echo(
        "  1  Use an API key of OpenRouter, OpenAI or Anthropic. You paste it, and AgentForge tries and keeps it."
    )
    click.echo(
        f"  2  Use a model on this machine. AgentForge downloads {size} once. It needs no key and does small tasks."
    )
    click.echo("  3  Use a server with an OpenAI-compatible address: Ollama, LM Studio, vLLM, ...")
    ways = {"1": _by_key, "2": _on_this_machine, "3": _by_address}
    while True:
        word = (
            str(click.prompt("Which one? Type 1, 2, 3, or q to leave", default="q", show_default=False)).strip().lower()
        )
        if word in ("q", "quit", "exit"):
            click.echo("Nothing was written. `agentforge init` asks this again; `agentforge demo` needs no model.")
            return False
        way = ways.get(word)
        try:
            setup = way(place, project) if way is not None else None
        except AgentForgeError as exc:
            click.echo(f"{exc}\nNothing was written.", err=True)
            continue
        if setup is not None:
            for file in set_up(setup, place.environ):
                click.echo(f"wrote {file}")
            return True


def _is_configured(place: Place) -> bool:
    """Whether somebody chose a model; that choice may be wrong, and the error then says how."""
    named = place.settings.get("model.provider") or place.settings.get("model.name")
    stages: Mapping[str, object] = place.settings.table("stages")
    return bool(named) or any("model" in table for table in stages.values() if isinstance(table, Mapping))


def _by_key(place: Place, project: Path | None) -> Setup | None:
    """A key that its provider takes; None where none is pasted."""
    while key := str(
        click.prompt(
            "Paste the key (it is not shown; leave it empty to go back)",
            default="",
            show_default=False,
            hide_input=True,
        )
    ).strip():
        provider = provider_of(key) or _whose()
        if provider == _NOBODYS:
            continue
        setup = Setup(provider=provider, model=PROVIDERS[provider].name, key=key, project=project)
        if _answers(setup, place):
            return setup
    return None


def _whose() -> str:
    """The provider of a key that does not show it; `none` where it was pasted by mistake."""
    return str(
        click.prompt("The key does not show whose it is. Which provider?", type=click.Choice((*_KEYED, _NOBODYS)))
    )


def _on_this_machine(place: Place, project: Path | None) -> Setup | None:
    """The catalogue's own model, downloaded, with what serves it."""
    if find_spec("xllamacpp") is None:
        command = command_for("local")
        if not click.confirm(
            f"The library that serves the model is not installed. Run this command now?\n  {command}\n", default=True
        ):
            return None
        if subprocess.run(shlex.split(command), check=False).returncode:
            click.echo(f"The command failed. Run it yourself, and then: {Path(sys.argv[0]).name} init", err=True)
            return None
    pull_model("", place=place)
    return Setup(provider="local", model=default_entry().name, project=project)


def _by_address(place: Place, project: Path | None) -> Setup | None:
    """A server that answers, and one of its models."""
    found = running_server()
    usual = found.base_url if found is not None else "http://127.0.0.1:8080/v1"
    address, key = str(click.prompt("Address", default=usual)), ""
    try:
        offer = offer_of(address)
    except ModelAuthError:
        key = str(click.prompt("The server wants a key. Paste it (it is not shown)", hide_input=True)).strip()
        offer = offer_of(address, key=key)
    for number, name in enumerate(offer.names[:_MOST_NAMES], start=1):
        click.echo(f"  {number}  {name}")
    chosen = _named(offer.names)
    setup = Setup(provider="custom", model=chosen, base_url=offer.base_url, key=key, project=project)
    return setup if _answers(setup, place) else None


def _named(names: tuple[str, ...]) -> str:
    """One of the names of a server: the only one, or the one that is typed, by number or by name."""
    if len(names) == 1:
        return names[0]
    typed = str(click.prompt("Which model? Type its number or its name", default="1")).strip()
    return names[int(typed) - 1] if typed.isdecimal() and 0 < int(typed) <= len(names) else typed


def _answers(setup: Setup, place: Place) -> bool:
    """Have the model say one word, and tell what came of it."""
    click.echo(f"AgentForge asks {setup.provider}/{setup.model} for one word ...")
    problem = checked(setup, place.cwd, place.environ)
    if problem:
        click.echo(f"{problem}\nNothing was written.", err=True)
    return not problem


def tell_of_grading(place: Place, flag: str | None) -> None:
    """Say on standard error that a model will be graded, where a run would do that before anything else.

    Args:
        flag: `PROVIDER/NAME` of the command line.
    Side effects: prints; nothing where no model was ever pulled.
    """
    if not (local_dir(place.environ) / "models").is_dir():
        return

    spec = choose(place.settings, place.environ, flag=flag)
    if spec.profile != "small":
        return

    if is_graded_by_itself(spec, place.settings) and not grade_of(spec, environ=place.environ):
        most = place.settings.number("model.grade_s")
        click.echo(
            f"AgentForge first tries {spec.full_name} on twelve small tasks, once and for at most {most:.0f} seconds "
            "(`model.grade = off` skips this).",
            err=True,
        )
