"""Grades of models as people read them: each item as it comes, what the model is asked from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.app.grading import Graded
    from agentforge.cli.place import Place


def note_first_use(place: Place, flag: str | None) -> None:
    """Say that a model is about to be graded, where that takes a while and was never done."""
    named = flag or place.settings.text("model.provider")
    if not named.startswith("local") and place.settings.text("model.profile") != "small":
        return
    from agentforge.app.grading import grade_of, is_graded_by_itself
    from agentforge.config.model_choice import choose

    spec = choose(place.settings, place.environ, flag=flag)
    if is_graded_by_itself(spec, place.settings) and not grade_of(spec, environ=place.environ):
        most = place.settings.number("model.grade_s")
        click.echo(
            f"{spec.full_name} is used here for the first time: it is tried on small items, about {most:.0f} s",
            err=True,
        )


def show_grade(place: Place, flag: str | None, *, as_json: bool) -> int:
    """Grade a model anew and show the result.

    Returns:
        The exit code: 0 when it can write functions, else 4.
    """
    from agentforge.app.grading import grade
    from agentforge.cli.form import write_json
    from agentforge.config.model_choice import choose

    def told(row: Graded) -> None:
        mark = "right" if row.passed else f"wrong: {row.note}"
        click.echo(f"{row.kind:9} {row.name}: {mark} ({row.seconds:.0f} s)", err=as_json)

    spec = choose(place.settings, place.environ, flag=flag)
    found = grade(spec, settings=place.settings, environ=place.environ, told=told)
    value = found.value()
    if as_json:
        write_json({"model": found.model, **value})
    else:
        asked = [kind for kind, able in found.abilities.items() if able]
        click.echo(
            f"{found.model}: {value['right']} of {value['answered']} right; it is asked for: {', '.join(asked) or 'nothing'}"
        )
    return 0 if found.abilities.get("function") else 4
