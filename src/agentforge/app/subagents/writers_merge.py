"""What several writers made, put together in order: each one's own files, three ways, and the project's tests on the result."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.app.sessions.services import Workshop
from agentforge.errors import AgentForgeError
from agentforge.events.kinds import WritersMerged
from agentforge.frozen import dataclass
from agentforge.suite import Rig, detect, run_tree
from agentforge.testing.outcome import SuiteRun
from agentforge.tools.base import Observation
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.transplant import transplant
from agentforge.workspace.git.worktree import Worktree, remove

if TYPE_CHECKING:
    from agentforge.app.subagents.writers import WriterPart

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """What came out: as the session records it, and as the model reads it."""

    event: WritersMerged
    observation: Observation


def merged(
    workshop: Workshop,
    git: Git,
    parts: Sequence[WriterPart],
    worktrees: Sequence[Worktree],
    *,
    base: str,
    reports: Sequence[str],
) -> Merge:
    """Put the worktrees of the writers together and test the result; the user's folder stays as it is."""
    tree, conflicts = _together(git, parts, worktrees, base=base)
    base_tree = git.tree_of(base)
    paths = tuple(change.path for change in git.changed(base_tree, tree))
    tests, passed = _tested(workshop, git, base_tree, tree, paths=paths) if paths else ("nothing was changed", False)
    patch = git.diff(base_tree, tree).encode("utf-8", "surrogateescape") if paths else b""
    event = WritersMerged(
        patch=workshop.log.blobs.put(patch) if patch else "",
        base=base_tree,
        tree=tree,
        paths=paths,
        conflicts=tuple(conflicts),
        tests=tests,
        passed=passed,
    )
    return Merge(event=event, observation=_told(event, parts, reports))


def remove_worktrees(worktrees: Sequence[Worktree]) -> None:
    """Remove what the writers worked in."""
    for worktree in worktrees:
        remove(worktree)


def _together(
    git: Git, parts: Sequence[WriterPart], worktrees: Sequence[Worktree], *, base: str
) -> tuple[str, list[dict[str, object]]]:
    """The tree with every writer's own changes, and what was left out."""
    before = tree = git.tree_of(base)
    left_out: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(prefix="agentforge-merge-") as folder:
        for number, (part, worktree) in enumerate(zip(parts, worktrees, strict=True), start=1):
            after = worktree.snapshot()
            foreign = [change.path for change in git.changed(before, after) if not part.owns(change.path)]
            tree, conflicts = transplant(
                git, before=before, after=after, onto=tree, folder=Path(folder), blocked=foreign
            )
            left_out += [
                {
                    "path": one.path,
                    "writer": number,
                    "reason": "it is not this writer's file" if one.path in foreign else one.reason,
                }
                for one in conflicts
            ]
    return tree, left_out


def _tested(workshop: Workshop, git: Git, before: str, after: str, *, paths: Sequence[str]) -> tuple[str, bool]:
    """Run the project's tests on the merged tree; what failed before is not held against it."""
    root = workshop.root
    try:
        plan = detect(root, settings=workshop.settings.table("test"), environ=workshop.environ)
        with tempfile.TemporaryDirectory(prefix="agentforge-tests-") as folder:
            rig = Rig(
                plan=plan,
                git=git,
                mount_at=root,
                sandbox=workshop.sandbox,
                scratch=Path(folder),
                timeout_s=plan.timeout_s,
            )
            new = run_tree(rig, after)
            wrong, known = _wrong(new), set[str]()
            if wrong or any("test" in path for path in paths):  # else every test that was there passed again
                old = run_tree(rig, before)
                known = _wrong(old)
                wrong |= {name for name, one in old.outcomes.items() if one.passed and name not in new.outcomes}
    except AgentForgeError as error:
        return f"the tests could not be run: {error}", False
    passing = sum(outcome.passed for outcome in new.outcomes.values())
    told = f"{passing} of {len(new.outcomes)} tests pass on the merged files"
    if wrong - known:
        return f"{told}; broken: {', '.join(sorted(wrong - known)[:_SHOWN])}", False
    if wrong:
        return f"{told}; those that fail failed before, too: {', '.join(sorted(wrong)[:_SHOWN])}", True
    if new.outcomes and not new.complete:
        return f"{told}; the run did not end properly: {'; '.join(new.problems)}", False
    return told if new.outcomes else "the project has no tests that could be run", True


def _wrong(run: SuiteRun) -> set[str]:
    """What is not as it should be: tests that fail, or were to run and did not; files that cannot be collected."""
    bad = {name for name, one in run.outcomes.items() if one.outcome in ("failed", "error")}
    lost = {name for name in run.collected if name not in run.outcomes}
    return bad | lost | {error.id for error in run.collection_errors}


def _told(event: WritersMerged, parts: Sequence[WriterPart], reports: Sequence[str]) -> Observation:
    lines = [f"## writer {number}: {part.goal}\n{report}" for number, (part, report) in _numbered(parts, reports)]
    lines.append(f"Changed: {', '.join(event.paths) or 'nothing'}")
    lines += [f"Left out: {row['path']} of writer {row['writer']}: {row['reason']}" for row in event.conflicts]
    lines.append(f"Tests: {event.tests}")
    ready = bool(event.patch) and event.passed
    next_actions = (f"merge_swarm patch={event.patch}",) if ready else ()
    note = f"To take it over call merge_swarm with patch={event.patch}" if ready else ""
    return Observation(
        status="success" if ready else "error",
        error_type=None if ready else "not-mergeable",
        summary=f"{len(event.paths)} files of {len(parts)} writers merged; {event.tests}",
        text="\n\n".join(lines),
        next_actions=next_actions,
        note=note,
    )


def _numbered(parts: Sequence[WriterPart], reports: Sequence[str]) -> enumerate[tuple[WriterPart, str]]:
    return enumerate(zip(parts, reports, strict=True), start=1)
