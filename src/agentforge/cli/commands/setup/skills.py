"""`agentforge skills`: what the agent can be told about kinds of work, and whether a skill is written by the rules."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from agentforge.app.sessions.skill_activation import look_for_skills
from agentforge.cli.output.terminal import printable, style_for, table
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.skills import FILE, SkillInvalid, problems, read_skill

_NOT_BY_THE_RULES = 4


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge skills list
  agentforge skills validate .agentforge/skills/tdd
""",
)
def skills() -> None:
    """List skills, or check one that you write."""


@skills.command(name="list", epilog="\b\nExamples:\n  agentforge skills list\n  agentforge skills list --json")
@cwd_option
@json_option
def list_skills(cwd: str | None, as_json: bool) -> int:
    """List the skills that a session here would know, and those that are skipped."""
    place = open_place(cwd)
    catalogue, notices = look_for_skills(place.cwd, settings=place.settings, environ=place.environ)
    found = list(catalogue.skills.values())
    if as_json:
        rows = [{"name": one.name, "description": one.description, "file": str(one.file)} for one in found]
        skipped = [{"file": str(one.file), "reason": one.reason} for one in catalogue.skipped]
        write_json({"skills": rows, "skipped": skipped, "notices": list(notices)})
        return 0
    cells = [(printable(one.name), printable(one.description[:80]), printable(str(one.file))) for one in found]
    style = style_for(sys.stdout, os.environ)
    lines = table(cells, head=("SKILL", "WHAT FOR", "FILE"), style=style) if cells else ["no skills"]
    told = [f"skipped: {printable(one.reason)}" for one in catalogue.skipped] + [printable(one) for one in notices]
    click.echo("\n".join([*lines, *told]))
    return 0


@skills.command(
    epilog="\b\nExamples:\n  agentforge skills validate tdd/SKILL.md\n  agentforge skills validate tdd --json"
)
@click.argument("path")
@json_option
def validate(path: str, as_json: bool) -> int:
    """Check the skill at PATH (its folder or its SKILL.md) by the specification; exit code 4 when something is wrong."""
    given = Path(path).expanduser().absolute()
    file = given / FILE if given.is_dir() else given
    try:
        found = problems(read_skill(file))
    except SkillInvalid as exc:
        found = (f"{exc.message} - {exc.hint}",)
    if as_json:
        write_json({"file": str(file), "ok": not found, "problems": list(found)})
    else:
        click.echo("\n".join(printable(one) for one in found) or f"{printable(str(file))} is valid")
    return _NOT_BY_THE_RULES if found else 0
