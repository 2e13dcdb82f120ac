"""Merged commits replayed as honest work: their tests are RED's, their code is GREEN's, and nothing of it may be refused.

The record is a file of JSON lines, one for each commit, written when the commit is done; a broken-off replay goes on after it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from agentforge.config.settings import Settings
from agentforge.evals.history.commits import History, HistoryCommit, LeftOut
from agentforge.evals.history.evidence import ALL_PASS, evidence_of
from agentforge.evals.history.honest import HonestWork
from agentforge.evals.trials.hidden import rig_of
from agentforge.evals.trials.play import SCRIPTED
from agentforge.evals.trials.results import FILE, append
from agentforge.evals.trials.task import HONEST, EvalTask
from agentforge.evals.trials.task_pool import Processes, play_apart
from agentforge.suite import Rig

Outcome = Literal["delivered", "refused", "left out"]

_ONE_ATTEMPT = {"attempts": 1}
_BROKEN = "program"  # where a process that broke has lost its task: it says nothing of the verifier and is played again
_MESSAGE = 700  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What became of one commit.

    Attributes:
        action: what the request was taken for.
        stage: the one that refused it.
        rules: those that refused it.
        message: what they said, or why the commit was left out.
        wall_s: seconds of the whole replay.
    """

    project: str
    sha: str
    subject: str
    outcome: Outcome
    action: str = ""
    stage: str = ""
    rules: tuple[str, ...] = ()
    message: str = ""
    targets: int = 0
    guards: int = 0
    wall_s: float = 0.0
    folder: str = ""


def replays(
    history: History,
    commits: Iterator[HistoryCommit | LeftOut],
    folder: Path,
    *,
    project: str,
    settings: Settings,
    environ: Mapping[str, str],
    again: bool = False,
) -> Iterator[Replay]:
    """Replay commits one after the other; those that the record in `folder` has are not played again.

    Args:
        again: play those that were refused once more: the verifier has changed since.
        history: of a checkout in which the tests can run.
        folder: for the record and for the repositories with their trails.
    """
    known = [one for one in recorded(folder) if one.project == project]
    done = {one.sha for one in known if not (again and one.outcome == "refused")}
    playing = Processes()
    with TemporaryDirectory(prefix="agentforge-replay-") as scratch:
        rig = rig_of(history.command.top, Path(scratch), settings=settings, environ=environ)
        try:
            for one in commits:
                if one.sha in done:
                    continue
                found = _replayed(
                    one, history, folder.resolve(), rig, playing, project=project, settings=settings, environ=environ
                )
                if found is None:
                    return
                if found.stage != _BROKEN:
                    append(folder, asdict(found))
                yield found
        finally:
            playing.stop()


def recorded(folder: Path) -> list[Replay]:
    """Read the record of a folder; a line that was written by half is left out, the last one of a commit counts."""
    path = folder / FILE
    found: dict[tuple[str, str], Replay] = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            value: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        one = Replay(**{**value, "rules": tuple(value["rules"])})
        found[one.project, one.sha] = one
    return list(found.values())


def summary_lines(done: Sequence[Replay]) -> list[str]:
    """The closing lines: how many were played, delivered and refused, and by which rules."""
    played = [one for one in done if one.outcome != "left out"]
    refused = [one for one in played if one.outcome == "refused"]
    rules = Counter(f"{one.stage} {rule}" for one in refused for rule in one.rules or ("no rule",))
    share = f" ({100 * len(refused) / len(played):.0f} %)" if played else ""
    lines = [
        f"{len(played)} commits replayed, {len(played) - len(refused)} delivered, {len(refused)} refused{share}; "
        f"{len(done) - len(played)} left out"
    ]
    return lines + [f"  {count:>3} {rule}" for rule, count in rules.most_common()]


def _replayed(
    one: HistoryCommit | LeftOut,
    history: History,
    folder: Path,
    rig: Rig,
    playing: Processes,
    *,
    project: str,
    settings: Settings,
    environ: Mapping[str, str],
) -> Replay | None:
    """Replay one commit; None when it was interrupted."""
    base = Replay(project=project, sha=one.sha, subject=one.subject, outcome="left out")
    if isinstance(one, LeftOut):
        return _told(base, message=one.message)
    found = evidence_of(one, history, rig, settings=settings, environ=environ)
    if found.reason and found.reason != ALL_PASS:
        return _told(base, message=found.reason)
    work = HonestWork(commit=one, history=history, evidence=found)
    unseen = work.unseen_tests()
    if unseen and not found.targets:
        return _told(base, message=f"its own tests are skipped or do not pass here: {', '.join(unseen[:3])}")
    task = EvalTask(
        name=one.sha[:12],
        request=work.request,
        repository={},
        source=(str(history.command.top), history.command.line("rev-parse", f"{one.parent}^{{tree}}")),
        hidden=found.files,
        uncounted=found.uncounted,
        answers={HONEST: {"stages": work.stages()}},
    )
    place = folder / project.replace("/", "+") / task.name
    row = play_apart(task, SCRIPTED, place, playing, limits=_ONE_ATTEMPT, settings=_measured_with(settings))
    if row is None:
        return None
    right = row["verdict"] == "right" or (row["outcome"] == "delivered" and not task.hidden)
    return _told(
        base,
        outcome="delivered" if right else "refused",
        action=work.action,
        stage="" if right else str(row.get("lost_in") or row.get("outcome")),
        rules=() if right else tuple(row.get("rules", ())),
        message="" if right else str(row["why"])[:_MESSAGE],
        targets=len(found.targets),
        guards=len(found.guards),
        wall_s=float(row.get("wall_s", 0.0)),
        folder=Path(row["folder"]).relative_to(folder).as_posix(),
    )


def _measured_with(settings: Settings) -> dict[str, object]:
    """The variables with which the commit's own tests were measured: a scripted run does not read the user's settings."""
    variables = settings.table("test").get("env")
    return {"test.env": variables} if variables else {}


def _told(base: Replay, **more: Any) -> Replay:
    return replace(base, **more)
