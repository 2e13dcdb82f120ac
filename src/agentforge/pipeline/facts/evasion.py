"""What the delivered code itself gives away: places that can only serve to deceive the verification."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import suite_files
from agentforge.verification.source.evasion import new_replacements
from agentforge.verification.stages.product_files import product_files


def words_of_people(state: RunState) -> str:
    """What people asked for: the request, and what they answered since; never what a model wrote."""
    answers = [item.resolution.text for item in state.escalations.values() if item.resolution is not None]
    return "\n".join([state.request, *answers])


def deceptions(state: RunState, runtime: Runtime, *, tree: str) -> list[dict[str, object]]:
    """Places of the changed product files that replace clock, chance or built-ins, and did not at the base."""

    base = state.trees["baseline"]
    own = set(suite_files(state))
    changed = [change.path for change in runtime.git.changed(base, tree) if change.path not in own]
    found = new_replacements(
        product_files(runtime.git, tree, changed, roots=runtime.rig().plan.roots),
        before=lambda path: runtime.git.show(base, path),
        after=lambda path: runtime.git.show(tree, path),
    )
    return [{"path": one.path, "line": one.line, "text": one.text} for one in found]
