"""Proves cli/later.py and cli/flag.py: what waits comes when it is touched, and options read as click's own would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from agentforge.cli.startup.flag import Command, Folder, option


def test_a_module_that_waits_is_the_real_one_for_whoever_touches_it() -> None:
    program = """
import sys
from agentforge.cli.startup.later import load_later
load_later(("inspect", "sys"))
import inspect as early
waiting = sys.modules["inspect"] is early and "ast" not in sys.modules
from threading import Thread
found = []
threads = [Thread(target=lambda: found.append(early.cleandoc(" a"))) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
import inspect as late
from inspect import cleandoc
print(waiting, found == ["a"] * 8, late is not early, early.cleandoc is late.cleandoc is cleandoc, late.__spec__.name)
print(sys.modules["sys"] is sys, hasattr(early, "nothing"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["True True True True inspect", "True False"]


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@option("--cwd", type=Folder(), help="Work there.")
def _work(cwd: str | None) -> None:
    """Work."""
    click.echo(cwd)


@click.command(context_settings={"help_option_names": ["-h", "--help"]}, name="-work")
@click.option("--cwd", type=click.Path(file_okay=False), help="Work there.")
def _model(cwd: str | None) -> None:
    """Work."""
    click.echo(cwd)


@pytest.mark.parametrize("place", ["", "folder", "file", "nowhere", "-"])
def test_a_folder_is_accepted_and_refused_as_by_click(place: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    given = str(tmp_path / place) if place != "-" else place
    ours, theirs = (CliRunner().invoke(command, ["--cwd", given], prog_name="work") for command in (_work, _model))
    assert (ours.exit_code, ours.output) == (theirs.exit_code, theirs.output)


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["--cwd", "x", "--help"], ["--nothing"], ["--cwd"]])
def test_help_and_errors_read_as_by_click(arguments: list[str]) -> None:
    ours, theirs = (CliRunner().invoke(command, arguments, prog_name="work") for command in (_work, _model))
    assert (ours.exit_code, ours.output) == (theirs.exit_code, theirs.output)
