"""Store a run as the current version writes it: `python -m tests.golden.store_release`, once for every release.

Each version has a folder in `released/`: `run.afbundle` and `lease` (a delivered run), `repository.bundle` (its repository, notes included), and
in `waiting/` a run that waits for a human, its repository and the replies with which it goes on. What is stored is never written again: tests/store/test_released.py opens all of them with today's program.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from agentforge import __version__
from agentforge.errors import EXIT_WAITING
from tests.support import world as world_module

GOLDEN = Path(__file__).parent


def main() -> int:
    """Deliver a task in a world of its own, and keep it."""
    target = GOLDEN / "released" / __version__
    if target.exists():
        sys.stderr.write(f"{target} is stored already, and is never written again\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="agentforge-release-") as name:
        place = Path(name).resolve()
        world = world_module.make_world(place / "repo", place / "home", pycache=place / "pycache", plugins=True)
        assert world.run("keys", "init").code == 0
        done = world.start(world_module.good_script())
        assert done.code == 0, done.out + done.err
        target.mkdir(parents=True)
        packed = world.run("bundle", world.task, "--output", str(target / "run.afbundle"))
        assert packed.code == 0, packed.err
        shutil.copy(world.folder / "lease", target / "lease")  # bundles travel without it
        world.git("bundle", "create", "-q", str(target / "repository.bundle"), "--branches", "refs/notes/agentforge")
    _store_waiting(target / "waiting")
    return 0


def _store_waiting(target: Path) -> None:
    """Start a task that waits for a human, and keep it with the replies that come after the answer."""
    with tempfile.TemporaryDirectory(prefix="agentforge-release-") as name:
        place = Path(name).resolve()
        world = world_module.make_world(place / "repo", place / "home", pycache=place / "pycache", plugins=True)
        done = world.start(world_module.good_script(), "--approve", "spec")
        assert done.code == EXIT_WAITING, done.out + done.err
        target.mkdir()
        with tarfile.open(target / "run.tar.gz", "w:gz") as packed:
            packed.add(world.folder, arcname=world.task)
        world.git("bundle", "create", "-q", str(target / "repository.bundle"), "--branches")
        shutil.copy(world.home / "script.yaml", target / "replies.yaml")


if __name__ == "__main__":
    sys.exit(main())
