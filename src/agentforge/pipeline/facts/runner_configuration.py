"""Facts about changes that steer the judgement: hooks in RED, checks in GREEN."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.safety.text.boundary import outside
from agentforge.verification.source.ci_changes import check_changes
from agentforge.verification.source.runner_hooks import new_runner_hooks


def red_facts(state: RunState, runtime: Runtime, *, tree: str) -> dict[str, object]:
    """What RED's files do to the runner; files that the user supplied are the user's business."""

    base, read = state.trees["baseline"], runtime.rig().read
    changed = [item.path for item in runtime.git.changed(base, tree) if item.path not in state.tests]
    return {
        "runner_hooks": list(new_runner_hooks(changed, before=read(base), after=read(tree))),
    }


def green_facts(state: RunState, runtime: Runtime, *, tree: str) -> dict[str, object]:
    """Which checks of the project a tree alters."""

    base, read = state.trees["baseline"], runtime.rig().read
    changed = [item.path for item in runtime.git.changed(base, tree)]
    asked = outside(state.request)  # what others wrote may not ask for it
    return {"checks_changed": list(check_changes(changed, before=read(base), after=read(tree), request=asked))}
