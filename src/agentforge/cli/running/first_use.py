"""What is said before a model on this machine is used for the first time: that it is graded once, and how long that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentforge.app.models.grade import grade_of, is_graded_by_itself
from agentforge.config.model_choice import choose
from agentforge.config.paths import local_dir

if TYPE_CHECKING:
    from agentforge.cli.startup.command_context import Place


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
            f"{spec.full_name} is graded on this machine first: once, about {most:.0f} seconds (model.grade = off leaves it out)",
            err=True,
        )
