"""What the world answers a run: measurements, commands, branches, other runs. A replay answers from the record instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentforge.contracts.contract import CommandResult, Contract
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.run_dependencies import Need, Sight
from agentforge.pipeline.model.runtime import Measured, Runtime
from agentforge.pipeline.model.stage import Stage

if TYPE_CHECKING:
    from agentforge.pipeline.examination.examiner_run import Looks
    from agentforge.pipeline.repairs.table import Mended


class LiveWorld:
    """Answers from what is there now."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def looked_at(self, state: RunState, source: str) -> Looks:
        """Run the examiner's tests."""
        from agentforge.pipeline.examination.examiner_run import looked_at

        return looked_at(state, source, self._runtime)

    def measured_base(self, state: RunState, *, attempt: int) -> Measured:
        """Measure the base line."""
        from agentforge.pipeline.facts.measurements import measure_base

        return measure_base(state, self._runtime, attempt=attempt)

    def measured_impact(self, state: RunState) -> Measured:
        """Measure which tests the change may break."""
        from agentforge.pipeline.facts.impact import measured_impact

        return measured_impact(state, self._runtime)

    def measured_places(self, state: RunState) -> Measured:
        """Measure where the work of a small request is."""
        from agentforge.pipeline.small_models.generation.code_map import measured_places

        return measured_places(state, self._runtime)

    def measured(self, state: RunState, stage: Stage) -> Measured:
        """Measure what was submitted."""
        from agentforge.pipeline.facts.measurements import measure

        return measure(state, stage, self._runtime)

    def mended(self, state: RunState, stage: Stage, contract: Contract) -> Mended:
        """Repair what was submitted, as far as the harness can."""
        from agentforge.pipeline.repairs.table import mended

        return mended(state, stage, contract, self._runtime)

    def commands(self, contract: Contract) -> Sequence[CommandResult]:
        """Run the commands that a contract names."""
        from agentforge.pipeline.engine.judgement import command_results

        return command_results(contract, self._runtime)

    def branch(self, state: RunState, commit: str) -> bool:
        """Make the branch; returns whether it was applied to the user's checkout."""
        from agentforge.pipeline.delivery.commit import make_branch

        return make_branch(state, self._runtime, commit=commit)

    def look(self, need: Need, state: RunState) -> Sight:
        """Look at the run that this one needs something of."""
        return self._runtime.look(need, state)
