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
from tests.support.world import REQUEST, World, intake, make_world, own_settings, reply, submit

_WAITS, _STORAGE, _CONFLICT = 3, 7, 8
_SEED = 20261126
Done = subprocess.CompletedProcess[bytes]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A command, what is there before it, and what must be there in the end.

    Attributes:
        before: brings a fresh world to where the command begins.
        command: its arguments.
        after: goes on without faults, and says what is not as it should be.
        modes: the faults that it is tried with.
    """

    before: Callable[[Trial], None]
    command: Callable[[World], tuple[str, ...]]
    after: Callable[[Trial], Iterator[str]]
    modes: Sequence[Mode] = tuple(mode for mode in Mode if mode)


class Trial:
    """The place where one scenario is tried again and again: always the same paths.

    Attributes:
        middle: the change in the middle of `start`, where a scenario needs it; 0 = not known yet.
    """

    middle = 0
    world: World

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self.scenario = scenario
        self._folder = folder
        for name in ("own", "place"):
            (folder / name).mkdir(parents=True)
        self.disk = Disk(folder / "own", root=folder / "place", pycache=folder / "pycache")

    def __enter__(self) -> Trial:
        """Return the trial itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End what it started."""
        self.disk.close()

    def fresh(self) -> World:
        """Wipe repository and home and make them again, as they are before the command."""
        self.empty()
        self.scenario.before(self)
        return self.world

    def empty(self) -> None:
        """Wipe repository and home and make them again, with nothing in them."""
        shutil.rmtree(self._folder / "place")
        place = self._folder / "place"
        self.world = make_world(
            place / "repo", place / "home", pycache=self._folder / "pycache", results=self._folder / "results"
        )

    def run(self, *, at: int = 0, mode: Mode = Mode.TRACE) -> Done:
        """Run the command in the world as it stands, with a fault at one of its changes."""
        return self.apply(self.scenario.command(self.world), at=at, mode=mode)

    def apply(self, command: tuple[str, ...], *, at: int = 0, mode: Mode = Mode.TRACE) -> Done:
        """Run any command so."""
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
        """What the command and all that follows come to without a fault."""
        self.fresh()
        self.run()
        if not self.world.events("RunFinished"):
            assert self.world.run("resume", self.world.task).code == 0
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
            ranked += [
                (seen[change], mode, at, change)
                for mode in modes
                if mode in trial.scenario.modes and _means(mode, change)
            ]
    random.Random(_SEED).shuffle(ranked)  # wherever it is stopped, all modes and parts were tried
    return [(mode, at, change) for _, mode, at, change in sorted(ranked, key=lambda row: row[0])]


def _means(mode: Mode, change: str) -> bool:
    call = change.partition(" ")[0]
    if mode is Mode.KILLED:
        return call != "sync"  # for who only dies, what was written is there
    if mode is Mode.TORN:  # a lease is written within a page: wholly or not at all
        return call == "write" and not change.endswith("/lease")
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


def _half_way(trial: Trial) -> None:
    """A run that was killed in the middle of a record, behind the first half of its changes."""
    if not trial.middle:
        trial.apply(_start(trial.world))
        trial.middle = len(trial.disk.changes) // 2
        trial.empty()
    trial.apply(_start(trial.world), at=trial.middle, mode=Mode.KILLED)
    with (trial.world.folder / "events.jsonl").open("ab") as log:
        log.write(b'{"at":"2026-')


def _asked(trial: Trial) -> None:
    """A run that waits for an answer."""
    question = "Should words be joined by a hyphen?"
    blocking = {"area": "naming", "question": question, "impact": "blocking", "default": "a hyphen"}
    asked = {"question": question, "impact": "blocking", "source": "human_escalation", "answer": "unknown"}
    replies = script()
    replies["intake"] = [reply(submit(intake("refactor", examples=[], identified_ambiguities=[blocking])))]
    replies["clarify"] = [reply(submit({"questions": [asked]}))]
    assert trial.world.start(replies).code == _WAITS


def _queued(trial: Trial) -> None:
    """A task in the queue."""
    own_settings(trial.world.home, "[fleet]\nlease_s = 1\nperiod_s = 0.1\n")
    done = trial.world.start(script(), "--detach")
    assert done.code == 0, done.out + done.err


def _delivered(trial: Trial) -> None:
    done = trial.world.start(script())
    assert done.code == 0, done.out + done.err


def _started(trial: Trial) -> Iterator[str]:
    """The run goes on to the end that it has without a fault; one of which nothing was acknowledged is started again."""
    if _began(trial.world):
        yield from _resumed(trial)
        return
    done = trial.world.start(script())
    if done.code != 0:
        yield f"started again: exit {done.code}: {done.out[-400:]} {done.err[-400:]}"


def _resumed(trial: Trial) -> Iterator[str]:
    world = trial.world
    done = world.run("resume", world.task, "--json")
    if done.code == _CONFLICT and done.json["error"]["slug"] == "conflict":  # it had ended before the fault
        done = world.run("status", world.task, "--json")
    if done.code != 0:
        yield f"resumed: exit {done.code}: {done.out[-600:]} {done.err[-400:]}"
        return
    yield from _ended(trial)


def _ended(trial: Trial) -> Iterator[str]:
    yield from differences(end_of(trial.world), trial.end)
    yield from repeated(trial.world)
    yield from not_altered(trial.world, "in the end")
    yield from _left_over(trial.world)


def _answered(trial: Trial) -> Iterator[str]:
    """The answer is there, or is taken when it is given again."""
    world = trial.world
    if world.run("escalations", "list", "--json").json:
        done = world.run(*_answer(world))
        if done.code != 0:
            yield f"answered again: exit {done.code}: {done.out[-400:]} {done.err[-400:]}"
            return
    yield from _resumed(trial)


def _answer(_: World) -> tuple[str, ...]:
    return ("resolve", "E1", "--answer", "a hyphen")


def _worked(trial: Trial) -> Iterator[str]:
    """Another worker brings the task to its end."""
    world = trial.world
    done = world.run("worker", "--until-empty")
    if done.code != 0:
        yield f"worked again: exit {done.code}: {done.out[-600:]} {done.err[-400:]}"
        return
    outcome = world.run("status", world.task, "--json").json["outcome"]
    if outcome != "delivered":
        listed = world.run("queue", "list", "--json")
        yield f"the queue is empty, and the task is {outcome}: {listed.out[-400:]}"
        return
    yield from _ended(trial)


def _again(command: Callable[[World], tuple[str, ...]]) -> Callable[[Trial], Iterator[str]]:
    """The command is done when it is given again, and the run holds."""

    def after(trial: Trial) -> Iterator[str]:
        done = trial.world.run(*command(trial.world))
        if done.code != 0:
            yield f"again: exit {done.code}: {done.out[-400:]} {done.err[-400:]}"
        yield from not_altered(trial.world, "in the end")
        yield from _left_over(trial.world)

    return after


def _left_over(world: World) -> Iterator[str]:
    """Halves, locks and worktrees that nobody needs any more."""
    for pattern in (".agentforge/tasks/**/*.tmp", ".git/refs/*/agentforge/**/*.lock"):
        yield from (f"left over: {path.relative_to(world.repo)}" for path in world.repo.glob(pattern))
    if shown := world.git("worktree", "prune", "--dry-run"):
        yield shown


def _mark(world: World) -> tuple[str, ...]:
    return ("mark", world.task, "defect")


def _bundle(world: World) -> tuple[str, ...]:
    return ("bundle", world.task, "--ref")


SCENARIOS = {
    "start": Scenario(before=_nothing, command=_start, after=_started),
    "resume": Scenario(before=_half_way, command=lambda world: ("resume", world.task, "--json"), after=_resumed),
    "resolve": Scenario(before=_asked, command=_answer, after=_answered),
    "worker": Scenario(
        before=_queued,
        command=lambda _: ("worker", "--until-empty"),
        after=_worked,
        modes=(Mode.KILLED, Mode.TORN, Mode.ONCE, Mode.CHILD),  # it waits for as long as the disk is full
    ),
    "mark": Scenario(before=_delivered, command=_mark, after=_again(_mark)),
    "bundle": Scenario(before=_delivered, command=_bundle, after=_again(_bundle)),
}
