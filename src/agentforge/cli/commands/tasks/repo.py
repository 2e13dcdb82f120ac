"""`agentforge repo`: the repositories that you work on, by name."""

from __future__ import annotations

import click

from agentforge.app.intake.repositories import add_repository, problem_of, top_of
from agentforge.cli.output.terminal import shown_table
from agentforge.cli.startup.command_context import folder_of, open_place
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option
from agentforge.config.repositories import known_repositories, registry_file, remove_entry


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge repo add ~/src/backend --name backend-service
  agentforge repo list
  agentforge start "Add rate limiting" --repo api-gateway
""",
)
def repo() -> None:
    """Name the repositories that you work on; the list is repos.yaml in your AgentForge folder."""


@repo.command(
    epilog="""\b
Examples:
  agentforge repo add .
  agentforge repo add ../data --name data-layer --default-branch develop
"""
)
@click.argument("path", type=click.Path())
@click.option("--name", default="", metavar="NAME", help="The name; the default is that of the top folder.")
@click.option(
    "--default-branch",
    default="",
    metavar="BRANCH",
    help="The branch from which tasks start; by default AgentForge finds it out.",
)
@click.option("--contracts-path", default="", metavar="DIR", help="A folder of contracts inside the repository.")
@json_option
def add(path: str, name: str, default_branch: str, contracts_path: str, as_json: bool) -> int:
    """Put the repository around PATH into the list; one that was moved keeps its name."""
    environ = open_place(None).environ
    entry = add_repository(
        folder_of(path, hint="name the folder of a repository"),
        environ=environ,
        name=name,
        default_branch=default_branch,
        contracts_path=contracts_path,
    )
    if as_json:
        write_json({"name": entry.name, "path": str(entry.path), "default_branch": entry.default_branch})
    else:
        click.echo(f"{entry.name}: {entry.path}, tasks start from {entry.default_branch}")
    return 0


@repo.command(name="list", epilog="\b\nExamples:\n  agentforge repo list\n  agentforge repo list --json")
@json_option
def list_repositories(as_json: bool) -> int:
    """List the repositories and what is wrong with them."""
    place = open_place(None)
    rows = list(known_repositories(place.environ, project=top_of(place.cwd)).values())
    if as_json:
        write_json(
            [
                {
                    "name": row.name,
                    "path": str(row.path),
                    "default_branch": row.default_branch,
                    "contracts_path": row.contracts_path,
                    "origin": row.origin,
                    "problem": problem_of(row),
                }
                for row in rows
            ]
        )
        return 0
    if not rows:
        click.echo(f"no repositories in {registry_file(place.environ)}; add one: agentforge repo add PATH")
        return 0
    cells = [(row.name, row.default_branch, str(row.path), problem_of(row) or "ok") for row in rows]
    click.echo(shown_table(cells, head=("NAME", "BRANCH", "PATH", "STATE")))
    return 0


@repo.command(epilog="\b\nExamples:\n  agentforge repo remove data-layer\n  agentforge repo remove data-layer --json")
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> int:
    """Take NAME out of the list; its files and tasks stay where they are."""
    entry = remove_entry(open_place(None).environ, name)
    if as_json:
        write_json({"name": entry.name, "path": str(entry.path), "removed": True})
    else:
        click.echo(f"{entry.name} is no longer listed; {entry.path} stays as it is")
    return 0
