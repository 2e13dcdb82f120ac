"""Commands with a fault at any of their changes, and what they must come to all the same."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.support.kills.ends import End, differences, end_of, not_altered, repeated, script
from tests.support.kills.faults import Disk, Mode
from tests.support.world import REQUEST, World, make_world

_STORAGE = 7
_SEED = 20261126
Done = subprocess.CompletedProcess[bytes]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A command, what is there before it, and what must be there in the end.

    Attributes:
        before: brings a fresh world to where the command begins.
        command: its arguments.
        after: goes on without faults, and says what is not as it should be.
    """

    before: Callable[[Trial], None]
    command: Callable[[World], tuple[str, ...]]
    after: Callable[[Trial], Iterator[str]]


class Trial:
    """The place where one scenario is tried again and again: always the same paths."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self.scenario = scenario
        self._folder = folder
        for name in ("own", "place"):
            (folder / name).mkdir(parents=True)
        self.disk = Disk(folder / "own", root=folder / "place", pycache=folder / "pycache")
        self.world = self.fresh()

    def fresh(self) -> World:
        """Wipe repository and home and make them again, as they are before the command."""
        shutil.rmtree(self._folder / "place")
        place = self._folder / "place"
        self.world = make_world(
            place / "repo", place / "home", pycache=self._folder / "pycache", results=self._folder / "results"
        )
        self.scenario.before(self)
        return self.world

    def run(self, *, at: int = 0, mode: Mode = Mode.TRACE) -> Done:
        """Run the command in the world as it stands, with a fault at one of its changes."""
        command = self.scenario.command(self.world)
        return self.disk.run(*command, at=at, mode=mode, cwd=self.world.repo, env=self.world.env)

    @cached_property
    def changes(self) -> list[str]:
        """All changes of the command; it runs twice, because what it keeps for the next run is not kept again."""
        for _ in range(2):
            self.fresh()
            done = self.run()
            assert done.returncode == 0, done.stdout + done.stderr
        return self.disk.changes

    @cached_property
    def end(self) -> End:
        """What a run without a fault comes to."""
        self.fresh()
        self.run()
        return end_of(self.world)


def points(trial: Trial, modes: Sequence[Mode], *, each: int, only: str = "") -> list[tuple[Mode, int, str]]:
    """The faults to try: the first changes of every kind before the second ones, for every mode to which they mean something.

    Args:
        each: so many of every kind; 0 all.
        only: the changes that this expression finds.
    """
    seen: dict[str, int] = {}
    ranked = []
    for at, change in enumerate(trial.changes, 1):
        seen[change] = seen.get(change, 0) + 1
        if (not each or seen[change] <= each) and re.search(only, change):
            ranked += [(seen[change], mode, at, change) for mode in modes if _means(mode, change)]
    random.Random(_SEED).shuffle(ranked)  # wherever it is stopped, all modes and parts were tried
    return [(mode, at, change) for _, mode, at, change in sorted(ranked, key=lambda row: row[0])]


def _means(mode: Mode, change: str) -> bool:
    call = change.partition(" ")[0]
    if mode is Mode.KILLED:
        return call != "sync"  # for who only dies, what was written is there
    if mode is Mode.TORN:
        return call == "write"
    if mode is Mode.CHILD:
        return "/.git" in change or ".scratch/" in change
    return call not in ("unlink", "truncate")


def tried(trial: Trial, mode: Mode, at: int) -> Iterator[str]:
    """Run the command with one fault, go on without, and say what is not as it should be."""
    assert trial.end is not None
    world = trial.fresh()
    done = trial.run(at=at, mode=mode)
    if not trial.disk.struck:
        return
    yield from _told(done, mode)
    if _began(world):
        yield from not_altered(world, "after the fault")
    yield from trial.scenario.after(trial)


def _told(done: Done, mode: Mode) -> Iterator[str]:
    if mode in (Mode.KILLED, Mode.TORN):
        if done.returncode != -9:
            yield f"not killed: exit {done.returncode}"
        return
    words = f"exit {done.returncode}: {done.stdout[-300:]!r} {done.stderr[-300:]!r}"
    if b"Traceback" in done.stderr:
        yield f"a traceback: {words}"
    elif done.returncode == 0 and b"error[" in done.stderr:
        yield f"an error beside success: {words}"
    elif mode is Mode.FULL and done.returncode not in (0, _STORAGE):
        yield f"the full disk was not told: {words}"


def _began(world: World) -> bool:
    """Whether a record was acknowledged."""
    logs = list((world.repo / ".agentforge").glob("tasks/*/events.jsonl"))
    return any(b"\n" in log.read_bytes() for log in logs)


def _nothing(_: Trial) -> None:
    """A fresh world is where the command begins."""


def _start(world: World) -> tuple[str, ...]:
    return ("start", REQUEST, "--model", world.model(script()), "--json")


def _resumed(trial: Trial) -> Iterator[str]:
    """The run goes on to the end that it has without a fault."""
    world = trial.world
    if not _began(world):
        done = world.start(script())
        if done.code != 0:
            yield f"started again: exit {done.code}: {done.out[-400:]} {done.err[-400:]}"
        return
    done = world.run("resume", world.task, "--json")
    if done.code == 8 and done.json["error"]["slug"] == "conflict":  # it had ended before the fault
        done = world.run("status", world.task, "--json")
    if done.code != 0:
        yield f"resumed: exit {done.code}: {done.out[-600:]} {done.err[-400:]}"
        return
    yield from differences(end_of(world), trial.end)
    yield from repeated(world)
    yield from not_altered(world, "resumed")
    yield from _left_over(world)


def _left_over(world: World) -> Iterator[str]:
    """Halves, locks and worktrees that nobody needs any more."""
    for pattern in (".agentforge/**/*.tmp", ".git/refs/*/agentforge/**/*.lock"):
        yield from (f"left over: {path.relative_to(world.repo)}" for path in world.repo.glob(pattern))
    if shown := world.git("worktree", "prune", "--dry-run"):
        yield shown


SCENARIOS = {"start": Scenario(before=_nothing, command=_start, after=_resumed)}
