"""`agentforge bundle`: a task in one file, for somebody who has neither the repository nor this machine."""

from __future__ import annotations

from pathlib import Path

import click

from agentforge.app.proof.bundles import bundle as pack, keep_bundle
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option


@click.command(
    epilog="""\b
Examples:
  agentforge bundle task-20261121-slugify
  agentforge bundle task-20261121-slugify -o slugify.afbundle
  agentforge bundle task-20261121-slugify --ref
"""
)
@click.argument("task_id", metavar="ID")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Where to write it."
)
@click.option("--ref", is_flag=True, help="Keep it in the repository, as refs/agentforge/bundles/ID, for pushing.")
@cwd_option
@json_option
def bundle(task_id: str, output: Path | None, ref: bool, cwd: str | None, as_json: bool) -> int:
    """Pack task ID with its log, blobs, contracts, commit, note and git objects; `verify FILE` needs nothing else."""
    place = open_place(cwd)
    packed = pack(place.cwd, task_id)
    if ref and output is None:
        where = keep_bundle(place.cwd, packed)
    else:
        path = place.cwd / (output or f"{packed.task}.afbundle")
        path.write_bytes(packed.data)
        where = str(path)
        if ref:
            keep_bundle(place.cwd, packed)
    if as_json:
        write_json({"task_id": packed.task, "path": where, "bytes": len(packed.data), "files": packed.files})
    else:
        click.echo(f"{where}: {packed.files} files, {len(packed.data)} bytes")
    return 0
