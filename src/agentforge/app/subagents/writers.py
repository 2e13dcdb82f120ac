"""Several writers on one task, each in a worktree of its own; their patches are put together, tested, and then offered."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from agentforge.app.sessions.services import Workshop
from agentforge.app.subagents.child_run import ChildRun, ChildWorkshop
from agentforge.app.subagents.delegation import WRITERS
from agentforge.config.paths import data_dir
from agentforge.errors import AgentForgeError, UsageError
from agentforge.events.kinds import Event, RunStarted, WritersMerged
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.globs import matches
from agentforge.safety.policy.modes import Consent
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.permission import read_rule
from agentforge.session import Subagent, prompt, side_by_side
from agentforge.store.log.reader import LOG, read
from agentforge.store.log.run_log import RunLog
from agentforge.store.sessions.folders import run_folder
from agentforge.suite import Rig, detect, run_tree
from agentforge.testing.outcome import SuiteRun
from agentforge.toolbox.files.apply_patch import TOOL
from agentforge.tools.base import TEXT, TEXTS, Observation, Tool, ToolContext, failed, takes
from agentforge.workspace.git.repository import Git
from agentforge.workspace.git.transplant import transplant
from agentforge.workspace.git.worktree import Worktree, create, remove, worktree_of

_SHOWN = 20
_LEAST, _MOST = 2, 5


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


MERGE = "merge_swarm"
_FILE_TOOLS = ("write_file", "append_file", "edit", "apply_patch")
_TOOLS = ("read_file", "list_dir", "glob", "grep", "shell", *_FILE_TOOLS)
_WRITER = "writer"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterPart:
    """What one writer does.

    Attributes:
        files: paths or patterns that it alone may change.
        child: the id of its run.
    """

    goal: str
    files: tuple[str, ...]
    child: str

    def owns(self, path: str) -> bool:
        """Whether a file is this writer's."""
        return any(matches(pattern, path) for pattern in self.files)


def writing_tools(workshop: Workshop) -> dict[str, Tool]:
    """The tools of swarm build: one that starts writers, one that takes their work over."""
    part = {
        "type": "object",
        "properties": {"goal": TEXT, "files": {**TEXTS, "minItems": 1}},
        "required": ["goal", "files"],
        "additionalProperties": False,
    }

    def write(_arguments: Mapping[str, object], context: ToolContext) -> Observation:
        if context.spawn is None:
            return failed("a subagent starts no subagents", error_type="no-nesting", retryable=False)
        return context.spawn(_WRITER, "")

    writers = Tool(
        name=WRITERS,
        description="Start writers, each in its own copy of the project; returns the merged, tested patch.",
        parameters=takes("parts", parts={"type": "array", "minItems": _LEAST, "maxItems": _MOST, "items": part}),
        effect="read",
        run=write,
    )
    return {WRITERS: writers, MERGE: _merging_tool(workshop)}


def goals_of_parts(arguments: Mapping[str, object]) -> list[tuple[str, str]]:
    """The subagents that a call of writers starts."""
    return [(_WRITER, str(row["goal"])) for row in cast("list[Mapping[str, object]]", arguments.get("parts") or [])]


def run_writers(
    workshop: Workshop,
    arguments: Mapping[str, object],
    *,
    child_of: Callable[[int], str],
    forbids: Callable[[RunState], str],
    record: Callable[[Event], None],
) -> Observation:
    """Run the writers of a call, put their patches together, and test what comes out.

    Args:
        child_of: the id of the run of part N.
        record: takes the events that the session records.
    Raises:
        KeyboardInterrupt: the turn was stopped; the worktrees stay for the writers to go on in.
    """
    rows = cast("list[Mapping[str, object]]", arguments["parts"])
    parts = [
        WriterPart(goal=str(row["goal"]).strip(), files=tuple(cast("list[str]", row["files"])), child=child_of(number))
        for number, row in enumerate(rows)
    ]
    refusal = _refusal(parts, workshop.git)
    if refusal:
        return failed(refusal, error_type="bad-arguments", text=refusal)
    git = cast("Git", workshop.git)
    base = _base(workshop, git, parts)
    worktrees = [_worktree(git, part, base, data=data_dir(workshop.environ)) for part in parts]
    works = [
        partial(_write, workshop, part, worktree, base, forbids, record)
        for part, worktree in zip(parts, worktrees, strict=True)
    ]
    reports = list(side_by_side(works))
    result = merged(workshop, git, parts, worktrees, base=base, reports=reports)
    record(result.event)
    remove_worktrees(worktrees)
    return result.observation


class WriterWorkshop(ChildWorkshop):
    """The parts of a writer: it may write its own files of its own worktree, which nobody else sees."""

    def __init__(self, parent: Workshop, log: RunLog, subagent: Subagent, part: WriterPart) -> None:
        super().__init__(parent, log, subagent)
        self._part = part

    @property
    def work_mode(self) -> str:
        """It builds, in its own copy."""
        return "build"

    def tools(self) -> dict[str, Tool]:
        """What a writer may call."""
        return {name: tool for name, tool in self._parent.all_tools.items() if name in _TOOLS}

    def tool_context(self, state: RunState) -> ToolContext:
        """Its reach: only its own files can be written."""

        def may_write(path: str) -> str | None:
            return None if self._part.owns(path) else f"{path} is not among your files ({', '.join(self._part.files)})"

        return replace(super().tool_context(state), may_write=may_write)

    def policy(self) -> Policy:
        """Its parent's, on its own ground; files of its copy are written unasked, because the merge is asked about."""
        policy = super().policy()
        if policy.mode == "never":
            return policy
        rules = [read_rule(f"{name}({self.root}/**)", Consent.ALLOW, origin="its own copy") for name in _FILE_TOOLS]
        return replace(policy, rules=(*policy.rules, *rules))


def _refusal(parts: list[WriterPart], git: Git | None) -> str:
    if git is None:
        return "writers need a git repository"
    if any(not part.goal for part in parts):
        return "a goal is empty"
    owned = [name for part in parts for name in part.files]
    twice = sorted({name for name in owned if owned.count(name) > 1})
    return f"two writers may not share files: {', '.join(twice)}" if twice else ""


def _base(workshop: Workshop, git: Git, parts: list[WriterPart]) -> str:
    """The commit that the writers start from: the folder as it is now, or as it was when the first of them began."""
    for part in parts:
        folder = run_folder(data_dir(workshop.environ), part.child)
        if (folder / LOG).exists():
            first = next(iter(read(folder))).event
            assert isinstance(first, RunStarted)
            return first.base_commit
    guard = workshop.guard
    assert guard is not None
    return git.commit_tree(guard.tree(), parents=(), message="what writers start from\n")


def _worktree(git: Git, part: WriterPart, base: str, *, data: Path) -> Worktree:
    there = worktree_of(git, data_dir=data, task_id=part.child)
    return there if there.path.is_dir() else create(git, data_dir=data, task_id=part.child, commit=base)


def _write(
    workshop: Workshop,
    part: WriterPart,
    worktree: Worktree,
    base: str,
    forbids: Callable[[RunState], str],
    record: Callable[[Event], None],
) -> str:
    """Run one writer; returns its report."""
    subagent = Subagent(name=_WRITER, description="", goal_prompt=prompt("writer"), allowed_tools=_TOOLS, max_turns=40)
    goal = f"{part.goal}\n\nYour files: {', '.join(part.files)}"

    def make(log: RunLog) -> ChildWorkshop:
        return WriterWorkshop(workshop, log, subagent, part)

    place = (worktree.path, base)
    with ChildRun(workshop, subagent, goal=goal, child=part.child, forbids=forbids, make=make, place=place) as run:
        try:
            run.drive()
        finally:
            record(run.finished())
        return run.words if run.outcome == "completed" else f"({run.outcome}: {run.reason}) {run.words}"


def _merging_tool(workshop: Workshop) -> Tool:
    """apply_patch, for a patch that the harness itself put together and tested."""

    def patch_of(arguments: Mapping[str, object]) -> dict[str, object]:
        digest = str(arguments.get("patch", ""))
        known = {str(row["patch"]): row for row in workshop.log.state.talk.merges}
        row = known.get(digest)
        if row is None or not digest:
            raise UsageError(f"there is no merged patch {digest[:20]!r}", hint=f"call {WRITERS} first")
        if not row["passed"]:
            raise UsageError("this patch breaks tests that passed before; it is not merged", hint="mend it first")
        return {"patch": workshop.log.blobs.get(digest).decode("utf-8", "surrogateescape")}

    def writes(arguments: Mapping[str, object]) -> tuple[str, ...]:
        try:
            return TOOL.writes(patch_of(arguments))
        except UsageError:  # said when the call is carried out, which writes nothing then
            return ()

    return replace(
        TOOL,
        name=MERGE,
        description="Take the merged, tested patch of the writers over into the project.",
        parameters=takes("patch", patch=TEXT),
        run=lambda arguments, context: TOOL.run(patch_of(arguments), context),
        writes=writes,
        preview=lambda arguments: str(patch_of(arguments)["patch"]),
    )
