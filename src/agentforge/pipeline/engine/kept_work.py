"""Work that was done before a stage was opened again: it is where the stage begins, and it counts once it is measured again.

Nothing that was accepted is written a second time. The stage that is opened sees what it had. A later one is measured again as it
stands where what it follows from is unchanged; else its model begins with its earlier files and its earlier artifact.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from agentforge.events.fold.revisits import draft_kept
from agentforge.events.state.run_state import RunState
from agentforge.languages.test_parts import put_back_in
from agentforge.pipeline.engine.stage_agent import refusal_of
from agentforge.pipeline.model.effects import SubmitKept
from agentforge.pipeline.model.revisits import is_open
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Json, Stage, items


def kept_submission(state: RunState, stage: Stage) -> SubmitKept | None:
    """Hand in what the stage had, once, where it can still be right; None where its model has to look at it first."""
    known = state.progress.stages.get(stage.name)
    if known is None or known.attempt != known.since + 1 or state.progress.turn.steps_in_attempt:
        return None
    if draft_kept(state, stage.name) is None or state.people.answers or state.review.findings:
        return None
    return SubmitKept(stage=stage.name) if stage.still_follows(state) else None


def kept_draft(state: RunState, stage: Stage) -> dict[str, object]:
    """What the stage had, as a draft: without what the harness writes."""
    draft = draft_kept(state, stage.name) or {}
    return {key: value for key, value in draft.items() if key not in stage.omit}


def put_kept_files(stage: Stage, attempt: int, state: RunState, runtime: Runtime) -> str:
    """Put what the stage had written into the workspace, as far as it may write it now; done twice it is the same.

    Args:
        attempt: the one that begins; the files are put there for the first one since the stage was opened again.
    Returns:
        The tree of the workspace then, "" where the stage had written nothing.
    Side effects: files of the worktree.
    """
    kept = state.review.kept.get(stage.name, {})
    before, tree = str(kept.get("before") or ""), str(kept.get("tree") or "")
    first = stage.name in state.progress.stages and attempt == state.progress.stages[stage.name].since + 1
    if stage.writes == "none" or not first or not before or not tree or before == tree:
        return ""

    refused = refusal_of(state, stage)
    paths = [change.path for change in runtime.git.changed(before, tree) if refused(change.path) is None]
    if not paths:
        return ""
    runtime.ready()
    now = runtime.git.tree_with(runtime.guard.tree(), tree, paths, index=runtime.scratch / "kept-index")
    runtime.guard.put_back(now)
    return _with_frozen_tests(paths, now, state, runtime) if stage.writes == "product" else now


def _with_frozen_tests(paths: Iterable[str], tree: str, state: RunState, runtime: Runtime) -> str:
    """The same with the tests inside of product files as RED has left them now."""
    red = state.work.trees.get("red", "")
    if not red:
        return tree
    frozen, now = partial(runtime.git.show, red), partial(runtime.git.show, tree)
    for path, data in put_back_in(paths, frozen=frozen, now=now).items():
        if data is not None:
            (runtime.worktree / path).write_bytes(data)
    return runtime.guard.tree()


def drop_left_tests(state: RunState, runtime: Runtime) -> None:
    """Take the test files of the earlier suite that the new one does not name back to what they were before it.

    Side effects: files of the worktree.
    """
    name, submission = state.progress.stage, state.review.submission
    before, earlier = str(state.review.kept.get(name, {}).get("before") or ""), draft_kept(state, name)
    if runtime.stages[name].writes != "tests" or submission is None or earlier is None or not before or is_open(state):
        return
    named = _suite_paths(submission.draft)
    left = [path for path in _suite_paths(earlier) if path not in named and _differs(path, before, runtime)]
    if left:
        index = runtime.scratch / "kept-index"
        runtime.guard.put_back(runtime.git.tree_with(runtime.guard.tree(), before, left, index=index))


def _suite_paths(suite: Json) -> list[str]:
    return [str(file.get("path")) for file in items(suite.get("test_files"))]


def _differs(path: str, tree: str, runtime: Runtime) -> bool:
    file = runtime.worktree / path
    return (file.read_bytes() if file.is_file() else None) != runtime.git.show(tree, path)
