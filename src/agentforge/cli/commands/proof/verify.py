"""`agentforge verify`: whether a task, a branch or a bundle is what it says."""

from __future__ import annotations

from pathlib import Path

import click

from agentforge.app.proof.verification import VerifyOptions, verify as verify_target
from agentforge.cli.output.terminal import printable
from agentforge.cli.startup.command_context import open_place
from agentforge.cli.startup.form import write_json
from agentforge.cli.startup.options import cwd_option, json_option
from agentforge.proof.report import Report


@click.command(
    epilog="""\b
Examples:
  agentforge verify task-20261121-slugify
  agentforge verify agentforge/task-20261121-slugify --key ann.pub
  agentforge verify task-20261121-slugify.afbundle --rerun
  agentforge verify origin/agentforge/task-20261121-slugify --json
  agentforge verify task-20261121-slugify --anchor origin

\b
Exit code: 0 everything holds, 4 something does not hold, 9 something was altered or damaged.
"""
)
@click.argument("target", metavar="ID|BRANCH|BUNDLE|PATH")
@click.option("--rerun", is_flag=True, help="Measure everything again in fresh checkouts, without a cache.")
@click.option(
    "--key", "keys", multiple=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="A public key (OpenSSH or PEM). One of the keys that you name must have signed; the default is your keys folder.",
)  # fmt: skip
@click.option(
    "--anchor", default="", metavar="REMOTE",
    help="Hold the trail against the notes at this git remote, or in the repository at this address.",
)  # fmt: skip
@cwd_option
@json_option
def verify(target: str, rerun: bool, keys: tuple[Path, ...], anchor: str, cwd: str | None, as_json: bool) -> int:
    """Check chain, digests, contracts, rules, views, anchors and signature, from the files alone."""
    place = open_place(cwd)
    options = VerifyOptions(target=target, cwd=place.cwd, keys=keys, rerun=rerun, anchor=anchor)
    report = verify_target(options, environ=place.environ)
    if as_json:
        write_json(report.value())
    else:
        click.echo("\n".join(_lines(report)))
    return report.exit_code


def _lines(report: Report) -> list[str]:
    width = max((len(check.name) for check in report.checks), default=0)
    rows = [
        f"{'ok  ' if check.ok else 'FAIL'}  {check.name:<{width}}  {printable(check.detail)}" for check in report.checks
    ]
    failed = sum(not check.ok for check in report.checks)
    verdict = f"{failed} of {len(report.checks)} checks failed" if failed else f"all {len(report.checks)} checks held"
    return [*rows, "", f"{printable(report.subject)}: {verdict}"]
