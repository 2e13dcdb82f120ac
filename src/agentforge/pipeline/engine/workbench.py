"""What the model's tools can reach in a stage: a shell within the stage's scope, test runs, checks, the diff.

What it may make of a product file that holds tests: RED writes these alone, and later stages leave what RED froze.
The policy of a stage: the mode and the rules of the settings, over the workspace as the sandbox shows it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.context.budget import one_line
from agentforge.events.state.run_state import RunState
from agentforge.languages.test_parts import inner_tests, key_of, may_hold_tests, reads_whole, without_tests
from agentforge.pipeline.facts.time_limits import bounded_rig
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import spelled_out, suite_files, suite_parts
from agentforge.pipeline.model.stage import Stage
from agentforge.safety.policy.decision import decide_call
from agentforge.safety.policy.modes import Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import SCRATCH, PathPolicy
from agentforge.safety.shell.programs.classes import CommandClass
from agentforge.testing.plan import TestPlan
from agentforge.tools.base import Observation, Tool, ToolContext
from agentforge.tools.dispatch.approval import approval
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import Box

if TYPE_CHECKING:
    from agentforge.workspace.protection.reconciliation import Settled


MayHold = Callable[[str, str], str | None]


def may_hold(state: RunState, stage: Stage, runtime: Runtime) -> MayHold:
    """Judge the new text of a file: None when it may have it, else why not.

    A text that cannot be parsed is let through: the next edit may mend it, and what is handed in is measured.
    """
    judge = _of_red if stage.writes == "tests" else _of_product

    def judged(path: str, text: str) -> str | None:
        return judge(path, text.encode(), state, runtime) if may_hold_tests(path) and reads_whole(path, text) else None

    return judged


def _of_red(path: str, text: bytes, state: RunState, runtime: Runtime) -> str | None:
    base = _text(state.work.trees["baseline"], path, runtime)
    if base is None:
        return f"{path} does not exist, and a new file of the product is not written here: put the tests into a file of tests"
    if without_tests(path, base) == without_tests(path, text):
        return None
    return (
        f"{path} is a file of the product, and here only tests are written into it: inside of a module behind #[cfg(test)], "
        "or in such a module at its end. Everything else has to stay byte for byte"
    )


def _of_product(path: str, text: bytes, state: RunState, runtime: Runtime) -> str | None:
    frozen = state.work.facts.get("red", {}).get("frozen_files")
    if not isinstance(frozen, Mapping) or key_of(path) not in frozen or "red" not in state.work.trees:
        return None
    if inner_tests(path, _text(state.work.trees["red"], path, runtime)) == inner_tests(path, text):
        return None
    return f"the tests inside of {path} are frozen: its modules behind #[cfg(test)] stay as they are, and none is added"


def _text(tree: str, path: str, runtime: Runtime) -> bytes | None:
    """A file of a tree with the line ends that tools give to texts."""
    data = runtime.git.show(tree, path)
    return None if data is None else data.replace(b"\r\n", b"\n")


_IN_A_STAGE = {"destructive": "remove single files by name; whole folders only below /tmp, which is the sandbox's own"}


def tool_context(
    state: RunState, stage: Stage, runtime: Runtime, *, may_write: Callable[[str], str | None]
) -> ToolContext:
    """The reach of a stage's tools; every path is judged by the stage's own write scope.

    A file that was changed by somebody else while the model was thinking is not written over: `seen` holds what the model
    saw, its own writes included.
    """
    return ToolContext(
        root=runtime.worktree,
        base_commit=state.identity.base_commit,
        run_command=_Shell(
            runtime, may_write=may_write if stage.writes != "none" else None, named=spelled_out(stage, state)
        ),
        run_tests=lambda tests: _run_tests(tests or _tests_at_hand(state), state, runtime),
        run_checks=lambda paths: _run_checks(paths, state, runtime),
        git_diff=lambda path: _diff(state, runtime, path),
        may_write=may_write,
        may_read=may_read(state, stage, runtime),
        may_hold=may_hold(state, stage, runtime),
        seen={path: str(digest) for path, digest in state.progress.turn.seen.items() if digest},
    )


def _tests_at_hand(state: RunState) -> tuple[str, ...]:
    from agentforge.pipeline.facts.impact import near_tests

    return (*suite_files(state), *suite_parts(state), *near_tests(state))


class _Shell:
    """Commands of the model: in the sandbox, no network, the project's own interpreter first on PATH.

    Where the stage writes nothing the workspace is mounted read-only. Elsewhere a command may write, and what lies outside
    the stage's scope is put back when it has ended.

    Args:
        may_write: the stage's scope, None when it writes nothing.
        named: files that the specification names; they may be written though they steer tools.
    """

    def __init__(
        self, runtime: Runtime, *, may_write: Callable[[str], str | None] | None, named: tuple[str, ...] = ()
    ) -> None:
        self._runtime = runtime
        self._may_write = may_write
        self._named = named

    def __call__(self, command: str, *, timeout_s: float, cwd: str) -> tuple[Completed, Settled | None]:
        def run() -> Completed:
            box = _box(self._runtime, writable=self._may_write is not None, named=self._named, cwd=cwd)
            return self._runtime.sandbox.run(["bash", "-c", command], box=box, timeout_s=timeout_s)

        return (run(), None) if self._may_write is None else self._runtime.guard.watch(run, may_write=self._may_write)


def stage_box(stage: Stage, state: RunState, runtime: Runtime) -> Box:
    """What a program sees that works for a stage, in the workspace's top folder."""
    return _box(runtime, writable=stage.writes != "none", named=spelled_out(stage, state))


def _box(runtime: Runtime, *, writable: bool, named: tuple[str, ...], cwd: str = ".") -> Box:
    rig = runtime.rig()
    interpreter = Path(rig.plan.interpreter) if rig.plan.interpreter else None
    return Box(
        workspace=runtime.worktree,
        mount_at=runtime.repo,
        cwd=cwd or ".",
        writable=writable,
        overlays=(
            *borrowed(runtime.repo, rig.plan.environments),
            *((Path(source), Path(place)) for source, place in rig.plan.delivered),
        ),
        env=_environment(rig.plan, runtime.repo) if interpreter else {},
        interpreters=(interpreter,) if interpreter else (),
        named=named,
    )


def _environment(plan: TestPlan, repo: Path) -> dict[str, str]:
    """The project's own interpreter comes first, and it imports the workspace, wherever its packages were installed from."""
    path = f"{Path(plan.interpreter).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    sources = os.pathsep.join(os.path.normpath(repo / root) for root in plan.roots)
    return {"PATH": path, "PYTHONPATH": sources} if plan.language == "python" else {"PATH": path}


def borrowed(repo: Path, environments: tuple[str, ...]) -> tuple[tuple[Path, Path], ...]:
    """The repository's own environments (.venv, node_modules), bound over the workspace read-only."""
    return tuple((repo / name, repo / name) for name in environments if (repo / name).is_dir())


def _run_tests(tests: tuple[str, ...], state: RunState, runtime: Runtime) -> Observation:
    from agentforge.suite import report_for_agent

    index = runtime.scratch / "index"
    report = report_for_agent(bounded_rig(state, runtime), workspace=runtime.worktree, index=index, tests=tests)
    return Observation(status="success", summary=one_line(report.summary), text=report.text)


def _run_checks(paths: tuple[str, ...], state: RunState, runtime: Runtime) -> Observation:
    from agentforge.conformance import report_for_agent
    from agentforge.pipeline.facts.conformance_facts import compared

    tree = runtime.guard.tree()
    report = report_for_agent(compared(state, runtime, tree=tree, only=paths))
    return Observation(status="success", summary=one_line(report.splitlines()[0]), text=report)


def _diff(state: RunState, runtime: Runtime, path: str) -> str:
    tree = runtime.guard.tree()
    base = state.work.trees.get("baseline") or runtime.git.tree_of(state.identity.base_commit)
    return runtime.git.diff(base, tree, paths=[path] if path else ())


def stage_approval(
    state: RunState, stage: Stage, runtime: Runtime
) -> Callable[[Tool, Mapping[str, object]], str | None]:
    """The judge of every tool call of a stage; nobody is there to ask."""
    permits = runtime.permits
    return approval(lambda: stage_policy(state, stage, runtime), allowed=permits.allowed_tools, instead=_IN_A_STAGE)


def may_read(state: RunState, stage: Stage, runtime: Runtime) -> Callable[[str], bool]:
    """Whether a search may show what stands in a file: where no rule closes files, in all of them."""
    if not any(rule.pattern and rule.verdict != "allow" for rule in runtime.permits.rules):
        return lambda _path: True
    policy = stage_policy(state, stage, runtime)
    return lambda path: decide_call("read_file", policy, kind=CommandClass.READ_ONLY, reads=(path,)).verdict == "allow"


def stage_policy(state: RunState, stage: Stage, runtime: Runtime) -> Policy:
    """What holds for the tools of a stage.

    The workspace is known under two names: its own, and the repository's, where the sandbox mounts it.
    """
    root = state.identity.repo or str(runtime.repo)  # a replay works elsewhere, but its calls name the places of then
    return Policy(
        mode=Mode(runtime.permits.mode),
        rules=runtime.permits.rules,
        ground=PathPolicy(
            root=root,
            folder=root,
            home=str(Path.home()),
            real=lambda path: _seen_in_sandbox(path, worktree=str(runtime.worktree), root=root),
            scratch=SCRATCH if runtime.sandbox.kind != "none" else (),
            named=spelled_out(stage, state),
        ),
        now=runtime.permits.now(),
        tainted=bool(state.progress.untrusted),
        confined=runtime.sandbox.kind != "none",
        enclosed=runtime.sandbox.kind == "bubblewrap" and runtime.sandbox.network == "off",
    )


def _seen_in_sandbox(path: str, *, worktree: str, root: str) -> str:
    """Where a path really leads, named as the sandbox names it."""
    own = os.path.realpath(worktree)
    inside = path == root or path.startswith(root.rstrip("/") + "/")
    real = os.path.realpath(own + path[len(root) :] if inside else path)
    if real == own or real.startswith(own + "/"):
        return root + real[len(own) :]
    return real
