"""An anchor elsewhere: what whoever holds the machine rewrites so that all of it fits shows against the notes at a remote."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.app.proof.remote_notes import elsewhere
from agentforge.app.proof.verification import VerifyOptions, verify
from agentforge.proof.anchors import NOTES_REF
from agentforge.proof.report import Report
from agentforge.workspace.git.repository import Git
from tests.support.world import World, make_world, own_settings

STORAGE = 7


@pytest.fixture(scope="module")
def delivered(tmp_path_factory: pytest.TempPathFactory, pycache: Path) -> tuple[World, Path]:
    """A world whose delivery pushed its note to the remote `archive`, and that remote."""
    place = tmp_path_factory.mktemp("anchor").resolve()
    world = make_world(place / "repo", place / "home", pycache=pycache)
    own_settings(world.home, '[proof]\nanchor = "archive"\n')
    archive = place / "archive.git"
    subprocess.run(["git", "init", "-q", "--bare", str(archive)], check=True)
    world.git("remote", "add", "archive", str(archive))
    assert world.start().code == 0
    return world, archive


@pytest.fixture
def again(delivered: tuple[World, Path], tmp_path: Path) -> Iterator[tuple[World, Path]]:
    """The same, to be rewritten; put right afterwards."""
    world, archive = delivered
    shutil.copytree(world.repo.parent, tmp_path / "kept", symlinks=True)
    yield world, archive
    for name in (world.repo.name, world.home.name, archive.name):
        shutil.rmtree(world.repo.parent / name)
        shutil.move(tmp_path / "kept" / name, world.repo.parent / name)


def _verified(world: World, *, anchor: str = "", target: str = "") -> Report:
    return verify(VerifyOptions(target=target or world.task, cwd=world.repo, anchor=anchor), environ=world.env)


def _failed(report: Report) -> set[str]:
    return {check.name for check in report.checks if not check.ok}


def test_a_delivery_pushes_its_note_and_the_trail_holds_it(delivered: tuple[World, Path]) -> None:
    world, archive = delivered
    for place in ("archive", str(archive), f"file://{archive}"):
        report = _verified(world, anchor=place)
        assert report.exit_code == 0, report.value()
        (told,) = (check.detail for check in report.checks if check.name == "anchors")
        assert f"note at {place} at record {len(world.events())}" in told


def test_a_rewritten_end_fits_everything_here_and_shows_against_the_remote(again: tuple[World, Path]) -> None:
    world, _ = again
    was = len(world.events())
    world.died_after(was - 1)  # log, views, lease, head file and note: all that this machine has
    own_settings(world.home, "")
    assert world.run("resume", world.task).code == 0
    assert world.events()[-1]["type"] == "RunFinished"
    assert _verified(world).exit_code == 0
    report = _verified(world, anchor="archive")
    assert (report.exit_code, _failed(report)) == (9, {"anchors"})


def test_a_later_note_does_not_hide_the_one_before_it(again: tuple[World, Path]) -> None:
    world, archive = again
    world.died_after(len(world.events()) - 1)
    assert world.run("resume", world.task).code == 0  # it pushes its note like every delivery
    shown = json.loads(
        world.git(
            "notes", f"--ref={NOTES_REF}", "show", world.git("rev-parse", f"agentforge/{world.task}"), cwd=archive
        )
    )
    assert shown["trail"]["records"] == len(world.events())
    report = _verified(world, anchor="archive")
    assert (report.exit_code, _failed(report)) == (9, {"anchors"})


def test_the_bundle_and_the_branch_are_held_against_it_as_well(again: tuple[World, Path]) -> None:
    world, _ = again
    branch, bundle = f"agentforge/{world.task}", world.repo / "run.afbundle"
    assert world.run("bundle", world.task, "-o", str(bundle)).code == 0
    assert _verified(world, target=str(bundle), anchor="archive").exit_code == 0
    shutil.move(world.folder, world.home / "run")
    report = _verified(world, target=branch, anchor="archive")
    assert report.exit_code == 0 and "anchor" in {check.name for check in report.checks}
    text = world.git("notes", f"--ref={NOTES_REF}", "show", branch).replace('"records": ', '"records": 9')
    world.git(
        "-c", "user.name=A", "-c", "user.email=a@b", "notes", f"--ref={NOTES_REF}", "add", "-f", "-m", text, branch
    )
    assert "anchor" in _failed(_verified(world, target=branch, anchor="archive"))


def test_what_the_remote_does_not_hold_is_said_and_is_no_alteration(again: tuple[World, Path]) -> None:
    world, archive = again
    world.git("update-ref", "-d", NOTES_REF, cwd=archive)
    for place in ("archive", "nowhere"):
        report = _verified(world, anchor=place)
        assert (report.exit_code, _failed(report)) == (4, {"anchor"})
    assert world.git("for-each-ref", "refs/notes/agentforge-incoming*") == ""


def test_the_notes_there_know_the_task_by_another_commit(delivered: tuple[World, Path]) -> None:
    world, _ = delivered
    found = elsewhere(Git(world.repo), "archive", task=world.task, commit=world.git("rev-parse", "main"))
    assert not found.check.ok and found.check.altered
    found = elsewhere(Git(world.repo), "archive", task="task-other", commit=world.git("rev-parse", "main"))
    assert not found.check.ok and not found.check.altered


def test_a_delivery_whose_note_the_remote_refuses_stands_and_does_not_end_well(again: tuple[World, Path]) -> None:
    world, archive = again
    hook = archive / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    done = world.start()
    assert (done.code, done.json["outcome"], done.json["error"]["slug"]) == (STORAGE, "delivered", "storage")
    assert f"git push archive {NOTES_REF}" in done.json["error"]["hint"]
