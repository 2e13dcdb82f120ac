"""What the delivered code itself gives away: places that can only serve to deceive the verification."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentforge.events.state import RunState
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.scope import product_symbols, suite_files
from agentforge.pipeline.stage import items
from agentforge.safety.boundary import outside


def words_of_people(state: RunState) -> str:
    """What people asked for: the request, and what they answered since; never what a model wrote."""
    answers = [item.resolution.text for item in state.escalations.values() if item.resolution is not None]
    return "\n".join([state.request, *answers])


def deceptions(state: RunState, runtime: Runtime, *, tree: str) -> list[dict[str, object]]:
    """Places of the changed product files that the base does not have and that nobody asked for.

    The specification's words excuse nothing: a model wrote them.
    """
    from agentforge.runners.deception import new_deceptions
    from agentforge.runners.product import product_files

    spec = state.artifacts.get("spec", {})
    told, declared = outside(words_of_people(state)), [str(item.get("name", "")) for item in product_symbols(spec)]
    base = state.trees["baseline"]
    own = set(suite_files(state))
    changed = [change.path for change in runtime.git.changed(base, tree) if change.path not in own]
    found = new_deceptions(
        product_files(runtime.git, tree, changed, roots=runtime.rig().plan.roots),
        before=lambda path: runtime.git.show(base, path),
        after=lambda path: runtime.git.show(tree, path),
        told=told,
        allowed=[name for name in declared if re.search(rf"(?<!\w){re.escape(name.split('.')[0])}(?!\w)", told)],
    )
    return [
        {"path": one.path, "line": one.line, "text": one.text, **({"measurable": True} if one.measurable else {})}
        for one in found
    ]


def borne_out(deceptions: list[dict[str, object]], dependencies: object) -> dict[str, object]:
    """Tell apart what refuses and what is a note: a decision by circumstances refuses where a repeated call bears it out.

    Args:
        dependencies: what was measured of repeated calls; anything but a record where nothing was.
    Returns:
        facts {deceptions, suspicions}.
    """
    shown = items(dependencies.get("found")) if isinstance(dependencies, Mapping) else []
    contradicted = any(row.get("contradicts") is True for row in shown)
    noted = [one for one in deceptions if one.get("measurable") and not contradicted]
    return {"deceptions": [one for one in deceptions if one not in noted], "suspicions": noted}
