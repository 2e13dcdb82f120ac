"""What the delivered code itself gives away: places that can only serve to deceive the verification."""

from __future__ import annotations

from agentforge.events.state import RunState
from agentforge.pipeline.held_out import spoken
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.scope import product_symbols, suite_files
from agentforge.safety.boundary import outside


def deceptions(state: RunState, runtime: Runtime, *, tree: str) -> list[dict[str, object]]:
    """Places of the changed product files that the base does not have and that neither request nor specification asks for."""
    from agentforge.runners.deception import new_deceptions

    spec = state.artifacts.get("spec", {})
    base = state.trees["baseline"]
    own = set(suite_files(state))
    changed = [change.path for change in runtime.git.changed(base, tree) if change.path not in own]
    found = new_deceptions(
        changed,
        before=lambda path: runtime.git.show(base, path),
        after=lambda path: runtime.git.show(tree, path),
        told="\n".join([outside(state.request), *spoken(spec)]),
        allowed=[str(item.get("name", "")) for item in product_symbols(spec)],
    )
    return [{"path": one.path, "line": one.line, "text": one.text} for one in found]
