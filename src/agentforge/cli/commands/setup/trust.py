"""`agentforge trust`: what of a project may be loaded and run; bound to the bytes that were looked at."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from agentforge.cli.output.terminal import printable, shown_table
from agentforge.cli.runs.trust_prompt import show, tops_of
from agentforge.cli.startup.command_context import Place, open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option
from agentforge.config.trust import Trust, grant, require_trust, revoke as forget, trusted, trusted_projects
from agentforge.store.log.records import utc_now


class _PathOrCommand(click.Group):
    """A group whose own argument is a folder: what names no subcommand is a path."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take a subcommand by name, everything else as the path of `trust PATH`."""
        if args[0] not in self.commands:
            args = ["grant", *args]
        return super().resolve_command(ctx, args)


@click.group(
    cls=_PathOrCommand,
    invoke_without_command=True,
    epilog="""\b
Covered: hooks, .agentforge/tools, checks, stages, contracts with commands, skills, MCP configuration (.mcp.json too),
.env, AGENTS.md, and the settings that run or steer something or protect less than yours. AgentForge uses none of these
before you agree, and asks again when a byte changes.
\b
Examples:
  agentforge trust
  agentforge trust ../other-project
  agentforge trust list
  agentforge trust revoke .
""",
)
@json_option
@click.option("--yes", is_flag=True, help="Agree without a question.")
@click.pass_context
def trust(ctx: click.Context, as_json: bool, yes: bool) -> int | None:
    """Look at what a project would run, and agree to it; PATH is the current folder when left out."""
    ctx.obj = (as_json, yes)
    return _grant(None, as_json=as_json, yes=yes) if ctx.invoked_subcommand is None else None


@trust.command(
    name="grant", hidden=True, epilog="\b\nExamples:\n  agentforge trust .\n  agentforge trust ../other --yes"
)
@click.argument("path")
@json_option
@click.option("--yes", is_flag=True, help="Agree without a question.")
@click.pass_obj
def grant_path(outer: tuple[bool, bool], path: str, as_json: bool, yes: bool) -> int:
    """Look at what PATH would run, and agree to it."""
    return _grant(path, as_json=as_json or outer[0], yes=yes or outer[1])


@trust.command(name="list", epilog="\b\nExamples:\n  agentforge trust list\n  agentforge trust list --json")
@json_option
def list_projects(as_json: bool) -> int:
    """List the projects that are trusted, and whether they changed since."""
    environ = open_place(None, trusting=True).environ
    rows = []
    for one in trusted_projects(environ):
        gone = not Path(one.project).is_dir()
        state = "gone" if gone else "trusted" if trusted(Path(one.project), environ).holds() else "changed"
        rows.append((one.project, state, one.since, str(len(one.items))))
    if as_json:
        write_json([dict(zip(("project", "state", "since", "items"), row, strict=True)) for row in rows])
        return 0
    if not rows:
        click.echo("no project is trusted")
        return 0
    cells = [tuple(map(printable, row)) for row in rows]
    click.echo(shown_table(cells, head=("PROJECT", "STATE", "SINCE", "ITEMS")))
    return 0


@trust.command(epilog="\b\nExamples:\n  agentforge trust revoke .\n  agentforge trust revoke /home/ann/old-project")
@click.argument("path", default=".")
def revoke(path: str) -> int:
    """Forget that a project was trusted."""
    place = _place_or_gone(path)
    known = forget(place[0], place[1].environ)
    click.echo(f"{printable(str(place[0]))} is {'no longer trusted' if known else 'not among the trusted projects'}")
    return 0 if known else 1


def _grant(path: str | None, *, as_json: bool, yes: bool) -> int:
    place = open_place(path, trusting=True)
    found = [trusted(top, place.environ) for top in tops_of(place)]
    if not all(_agree(one, place, quiet=as_json, yes=yes) for one in found):
        return 1
    if as_json:
        write_json([_value(one) for one in found])
        return 0
    for one in found:
        told = f"{len(one.items)} items are trusted" if one.items else "nothing here needs trust"
        click.echo(f"{printable(str(one.project))}: {told}")
    return 0


def _agree(found: Trust, place: Place, *, quiet: bool, yes: bool) -> bool:
    """Show what is new and take the answer; nobody there and no --yes is an error that names the files."""
    if not found.changes:
        return True
    if not quiet:
        click.echo(f"{printable(str(found.project))}:")
        show(found)
    if not yes and found.pending():
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            require_trust(found.project, place.environ)
        if not click.confirm("Use these?", default=False):
            return False
    grant(found, place.environ, now=utc_now())
    return True


def _value(found: Trust) -> dict[str, object]:
    return {
        "project": str(found.project),
        "items": [{"name": one.name, "kind": one.kind, "digest": one.digest} for one in found.items],
        "changes": [{"name": one.name, "kind": one.kind, "what": one.what} for one in found.changes],
    }


def _place_or_gone(path: str) -> tuple[Path, Place]:
    """A project's top, or the path as it is when the folder is gone."""
    folder = Path(path).expanduser().absolute()
    if not folder.is_dir():
        return folder, open_place(None, trusting=True)
    place = open_place(path, trusting=True)
    return tops_of(place)[0], place
