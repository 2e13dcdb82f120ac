"""`agentforge config`: the settings that hold here, each with its origin."""

from __future__ import annotations

import json
import os
from fnmatch import fnmatchcase
from pathlib import Path

import click

from agentforge.cli.output.terminal import shown_table
from agentforge.cli.startup.command_context import folder_of, open_place
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.config.dotenv import merged_environment
from agentforge.config.edits import home_of, parse_value, set_value, stands_in
from agentforge.config.paths import config_dir, data_dir, project_files, project_top
from agentforge.config.schema import explained
from agentforge.config.settings import load
from agentforge.errors import ConfigError, UsageError

_SECRET = ("*KEY*", "*TOKEN*", "*SECRET*", "*PASSWORD*")


@click.group(
    cls=UsualGroup,
    usual="show",
    epilog="""\b
Examples:
  agentforge config show
  agentforge config set model.name gpt-5.5
  agentforge config path
""",
)
def config() -> None:
    """Show the settings and where they come from, and change them."""


@config.command(
    epilog="""\b
Examples:
  agentforge config show
  agentforge config show --json
"""
)
@cwd_option
@json_option
def show(cwd: str | None, as_json: bool) -> int:
    """Print every setting with its value and its origin."""
    place = open_place(cwd)
    rows = [(row.key, shown_value(row.key, row.value), row.origin) for row in place.settings.rows()]
    if as_json:
        write_json([{"key": key, "value": value, "origin": origin} for key, value, origin in rows])
        return 0
    cells = [(key, json.dumps(value, ensure_ascii=False), origin) for key, value, origin in rows]
    click.echo(shown_table(cells, head=("SETTING", "VALUE", "ORIGIN")))
    return 0


@config.command(
    epilog="""\b
Examples:
  agentforge config path
  agentforge config path --json
"""
)
@cwd_option
@json_option
def path(cwd: str | None, as_json: bool) -> int:
    """Print where AgentForge looks for settings and data; this works even if the settings are broken."""
    folder = folder_of(cwd)
    toml, yaml = project_files(project_top(folder, os.environ) or folder)
    user = config_dir(os.environ)
    places = {
        "user settings": user / "config.toml",
        "user keys": user / ".env",
        "project settings": toml,
        "project settings (YAML)": yaml,
        "data": data_dir(os.environ),
    }
    if as_json:
        write_json({name.replace(" ", "_"): {"path": str(at), "exists": at.exists()} for name, at in places.items()})
        return 0
    cells = [(name, str(at), "" if at.exists() else "(not there)") for name, at in places.items()]
    click.echo(shown_table(cells, head=("WHAT", "PATH", "")))
    return 0


def shown_value(key: str, value: object) -> object:
    """A setting's value, hidden when its last name looks like that of a secret's variable."""
    name = key.rpartition(".")[2].upper()
    in_environment = ".env." in key or key.startswith("shell_environment.set_vars.")
    return "***" if in_environment and any(fnmatchcase(name, pattern) for pattern in _SECRET) else value


@config.command(
    name="set",
    epilog="""\b
Examples:
  agentforge config set approval auto-edit
  agentforge config set limits.budget_usd 5
  agentforge config set model.fallbacks '["openai/gpt-5.5"]' --project
  agentforge config set model.temperature --remove
""",
)
@click.argument("key")
@click.argument("value", required=False)
@click.option("--project", "where", flag_value="project", help="Write the project's settings.")
@click.option("--user", "where", flag_value="user", help="Write your own settings, even where the project sets KEY.")
@click.option("--remove", is_flag=True, help="Take the key out of the file.")
@cwd_option
def set_(key: str, value: str | None, where: str | None, remove: bool, cwd: str | None) -> int:
    """Write KEY into a settings file; comments and order of the file stay. A value that is wrong is not written.

    Without --project or --user, AgentForge writes to the project's file if that file sets KEY already, else to your own
    file.
    """
    if (value is None) != remove:
        raise UsageError("the new value is missing", hint=f"agentforge config set {key} VALUE")
    folder = folder_of(cwd)
    top = project_top(folder, os.environ) or folder
    home = home_of(top, key)
    project = where == "project" or (where is None and stands_in(home, key))
    file = home if project else config_dir(os.environ) / "config.toml"
    set_value(file, key, None if value is None else parse_value(value, key=key), project=project)
    sets = " (the project sets it; --user writes your own settings)" if project and where is None else ""
    click.echo(f"{key} {'removed from' if remove else 'written to'} {file}{sets}")
    if not remove:
        _tell_what_wins(key, file, folder)
    return 0


def _tell_what_wins(key: str, file: Path, folder: Path) -> None:
    """Say so where what was written does not hold here, because a stronger place sets the same key."""
    try:
        origin = load(folder, merged_environment(os.environ, cwd=folder)).origin(key)
    except ConfigError as exc:
        click.echo(f"note: the settings cannot be used yet: {exc.message} - {exc.hint}", err=True)
        return
    if not origin.startswith(str(file)) and origin != "default":
        click.echo(f"note: {origin} sets {key}, too, and is stronger here", err=True)


@config.command(
    epilog="""\b
Examples:
  agentforge config explain
  agentforge config explain limits.budget_usd
  agentforge config explain notify
"""
)
@click.argument("key", default="")
@cwd_option
@json_option
def explain(key: str, cwd: str | None, as_json: bool) -> int:
    """Explain KEY, all keys of a table, or without KEY every setting."""
    rows = explained(key)
    if as_json:
        write_json([{"key": row.key, "words": row.words, "type": row.type, "default": row.default} for row in rows])
        return 0
    cells = [(row.key, row.type, "" if row.default is None else json.dumps(row.default), row.words) for row in rows]
    click.echo(shown_table(cells, head=("SETTING", "TYPE", "DEFAULT", "MEANING")))
    return 0
