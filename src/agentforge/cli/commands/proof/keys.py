"""`agentforge keys`: the key that signs deliveries."""

from __future__ import annotations

from pathlib import Path

import click

from agentforge.app.proof.keyring import kept_keys, make_key, own_key
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.flag import UsualGroup
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import json_option
from agentforge.errors import UsageError


@click.group(
    cls=UsualGroup,
    epilog="""\b
Examples:
  agentforge keys init
  agentforge keys init --ssh ~/.ssh/id_ed25519
  agentforge keys show > ann.pub
""",
)
def keys() -> None:
    """Make, list and show signing keys. Without a key, deliveries are not signed."""


@keys.command(
    epilog="""\b
Examples:
  agentforge keys init
  agentforge keys init --ssh ~/.ssh/id_ed25519
"""
)
@click.option(
    "--ssh", type=click.Path(path_type=Path), metavar="PATH", help="Sign with this SSH key instead of a new one."
)
@json_option
def init(ssh: Path | None, as_json: bool) -> int:
    """Make the key that signs deliveries from now on."""
    made = make_key(open_place(None).environ, ssh=ssh)
    if as_json:
        write_json({"name": made.name, "kind": made.kind, "key_id": made.public.key_id, "path": made.path})
    else:
        click.echo(f"deliveries are signed by {made.public.key_id} ({made.kind}, {made.path})")
        click.echo("give the public half to those who verify: agentforge keys show")
    return 0


@keys.command(
    "list",
    epilog="""\b
Examples:
  agentforge keys list
  agentforge keys list --json
""",
)
@json_option
def list_keys(as_json: bool) -> int:
    """List your own key and those of others (any NAME.pub in the keys folder)."""
    found = kept_keys(open_place(None).environ)
    if as_json:
        write_json([{"name": key.name, "kind": key.kind, "key_id": key.public.key_id} for key in found])
        return 0
    for key in found:
        click.echo(f"{key.name}  {key.kind}  {key.public.key_id}")
    if not found:
        click.echo("there is no key: agentforge keys init")
    return 0


@keys.command(
    epilog="""\b
Examples:
  agentforge keys show
  agentforge keys show > ann.pub
"""
)
@json_option
def show(as_json: bool) -> int:
    """Print the public half of your own key, as a line for `verify --key`."""
    key = own_key(open_place(None).environ)
    if key is None:
        raise UsageError("there is no signing key", hint="make one: agentforge keys init")
    if as_json:
        write_json({"name": key.name, "key_id": key.public.key_id, "public": key.public.line})
    else:
        click.echo(f"{key.public.line} {key.public.name}")
    return 0
