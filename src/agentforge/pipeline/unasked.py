"""What a change did to public names that the request does not speak of and the specification does not declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.events.state import RunState
from agentforge.pipeline.honesty import words_of_people
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.scope import product_symbols, suite_files

if TYPE_CHECKING:
    from agentforge.runners.unasked import Asked


def unasked(state: RunState, runtime: Runtime, *, tree: str, passing: bool) -> list[str]:
    """List what changed beyond the specification inside the files that it names.

    Args:
        passing: the suite passes, so that it is worth asking functions.
    """
    from agentforge.runners.product import product_files
    from agentforge.runners.unasked import unasked_behaviour, unasked_changes

    base, own = state.trees["baseline"], set(suite_files(state))
    asked, rig = _asked(state), runtime.rig()
    paths = [change.path for change in runtime.git.changed(base, tree) if change.path not in own]
    changed = product_files(rig.git, tree, paths, roots=rig.plan.roots)
    found = list(unasked_changes(changed, before=rig.read(base), after=rig.read(tree), asked=asked))
    if passing and not found:
        found += unasked_behaviour(rig, base_tree=base, tree=tree, changed=changed, asked=asked)
    return found


def _asked(state: RunState) -> Asked:
    from agentforge.runners.symbols import symbols_of
    from agentforge.runners.unasked import Asked

    spec = state.artifacts.get("spec", {})
    return Asked(symbols=symbols_of(product_symbols(spec)), told=words_of_people(state))
