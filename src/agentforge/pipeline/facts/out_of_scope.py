"""What a change did to public names that the request does not speak of and the specification does not declare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentforge.events.state.run_state import RunState
from agentforge.languages.symbols import symbols_of
from agentforge.pipeline.facts.evasion import words_of_people
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.scope import product_symbols, suite_files
from agentforge.pipeline.model.stage import Json
from agentforge.verification.source.out_of_scope_changes import (
    Asked,
    unasked_behaviour,
    unasked_changes,
    unasked_results,
)
from agentforge.verification.stages.product_files import product_files

if TYPE_CHECKING:
    from agentforge.suite.test_environment import Rig

    pass


def unasked(state: RunState, runtime: Runtime, *, tree: str, passing: bool) -> list[str]:
    """List what changed beyond the specification inside the files that it names.

    Args:
        passing: the suite passes, so that it is worth asking functions.
    """

    base, rig, asked = state.trees["baseline"], runtime.rig(), _asked(state)
    changed = changed_product(state, rig, tree)
    found = list(unasked_changes(changed, before=rig.read(base), after=rig.read(tree), asked=asked))
    if passing and not found:
        found += unasked_behaviour(rig, base_tree=base, tree=tree, changed=changed, asked=asked)
    return found


def unasked_in_calls(state: RunState, runtime: Runtime, recorded: Sequence[Json], *, tree: str) -> list[str]:
    """List the functions that give another result of a recorded call, though nothing that they read was asked for.

    Args:
        recorded: calls that the tests were seen to make.
    """

    base, rig = state.trees["baseline"], runtime.rig()
    return list(
        unasked_results(
            rig, recorded, base_tree=base, tree=tree, changed=changed_product(state, rig, tree), asked=_asked(state)
        )
    )


def changed_product(state: RunState, rig: Rig, tree: str) -> tuple[str, ...]:
    """The product files that differ from the base."""

    own = set(suite_files(state))
    paths = [change.path for change in rig.git.changed(state.trees["baseline"], tree) if change.path not in own]
    return product_files(rig.git, tree, paths, roots=rig.plan.roots)


def _asked(state: RunState) -> Asked:

    spec = state.artifacts.get("spec", {})
    return Asked(symbols=symbols_of(product_symbols(spec)), told=words_of_people(state))
