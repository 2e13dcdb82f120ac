"""A stage of the house that has a row neither among the measures nor among what is gathered works like one from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agentforge.pipeline.context.material import gather
from agentforge.pipeline.facts.measurements import measure
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import Stage
from tests.support.run_states import with_fields
from tests.support.stage_states import ARTIFACTS, submitted

THREATS = Stage(name="threats", produces="threats", consumes=("spec",), purpose="name the threats", prompt="Name them.")


def test_its_model_is_shown_the_request_and_what_it_consumes_and_a_reader_is_measured_by_nothing(
    runtime: Callable[..., Runtime],
) -> None:
    made = runtime()
    state = with_fields(submitted("red", {"threats": []}, request="Add slugify."), artifacts=ARTIFACTS)
    own = replace(made, stages={**made.stages, "threats": THREATS})
    names = [one.name for one in gather("threats", state, own)]
    assert names[0] == "the request, verbatim"
    assert any("spec" in name for name in names)
    assert measure(state, THREATS, own).facts == {}
