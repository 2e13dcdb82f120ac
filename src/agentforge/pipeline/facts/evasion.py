"""What the delivered code itself gives away: places that can only serve to deceive the verification."""

from __future__ import annotations

from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import suite_files
from agentforge.safety.text.boundary import outside
from agentforge.verification.source.evasion import new_deceptions
from agentforge.verification.stages.product_files import product_files


def words_of_people(state: RunState) -> str:
    """What people asked for: the request, and what they answered since; never what a model wrote."""
    answers = [item.resolution.text for item in state.escalations.values() if item.resolution is not None]
    return "\n".join([state.request, *answers])


def deceptions(state: RunState, runtime: Runtime, *, tree: str) -> list[dict[str, object]]:
    """Places of the changed product files that the base does not have and that nobody asked for.

    The specification's words excuse nothing: a model wrote them.
    """

    base = state.trees["baseline"]
    own = set(suite_files(state))
    changed = [change.path for change in runtime.git.changed(base, tree) if change.path not in own]
    found = new_deceptions(
        product_files(runtime.git, tree, changed, roots=runtime.rig().plan.roots),
        before=lambda path: runtime.git.show(base, path),
        after=lambda path: runtime.git.show(tree, path),
        told=outside(words_of_people(state)),
    )
    return [{"path": one.path, "line": one.line, "text": one.text} for one in found]
