"""Where added stages stand, and which ones are refused before anything begins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentforge.errors import ConfigError
from agentforge.events.state.attempt import StageState
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.stage import Stage, needs_no_model
from agentforge.pipeline.plugins.stage_order import (
    check_stages,
    last_measured,
    names_of,
    row_of,
    writers,
    written_files,
)
from agentforge.pipeline.stages import ORDER, load_stages, placed
from tests.support.run_states import run_state, with_fields

READER = Stage(
    name="threats",
    after="spec",
    consumes=("spec",),
    produces="threat_list",
    purpose="name threats",
    prompt="You are the stage THREATS.",
)
WRITER = replace(READER, name="news", after="green", produces="news_line", writes="product", files=("NEWS.md",))
_CONTRACTS = ("specification", "threat_list", "news_line", "other")
_TOOLS = ("submit_artifact", "read_file", "edit")


def _check(*stages: Stage) -> None:
    check_stages({one.name: (one, f"{one.name}.py") for one in stages}, order=ORDER, tools=_TOOLS, contracts=_CONTRACTS)


def test_several_behind_one_stand_in_the_order_of_their_names_and_may_stand_behind_each_other() -> None:
    added = [("zeta", "spec"), ("alpha", "spec"), ("inner", "alpha"), ("early", "intake")]
    assert placed(ORDER, added) == (
        *("intake", "early", "clarify", "analyze", "spec", "alpha", "inner", "zeta"),
        *("red", "green", "refactor", "deliver"),
    )


@pytest.mark.parametrize("added", [[("a", "nowhere")], [("a", "b"), ("b", "a")], [("a", "a")], [("a", "deliver")]])
def test_a_stage_without_a_place_is_an_error_that_names_it(added: list[tuple[str, str]]) -> None:
    with pytest.raises(ConfigError, match="a"):
        placed(ORDER, added)


def test_sound_stages_are_taken() -> None:
    _check(READER, WRITER)
    _check(replace(READER, prompt="", needs_model=needs_no_model))
    _check(replace(READER, shown_to=("green", "refactor")), replace(WRITER, files=()))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": "Threats"}, "is no name for a stage"),
        ({"name": "spec"}, "is a name of agentforge's own"),
        ({"name": "guard"}, "is a name of agentforge's own"),
        ({"name": "baseline"}, "is a name of agentforge's own"),
        ({"after": ""}, "behind which stage"),
        ({"purpose": " "}, "no purpose"),
        ({"prompt": ""}, "no prompt"),
        ({"actions": ("destroy",)}, "actions: destroy"),
        ({"actions": ()}, "actions: none"),
        ({"writes": "tests"}, "writes='tests'"),
        ({"files": ("X",)}, "names files and writes none"),
        ({"consumes": ("green",)}, "green does not stand before it"),
        ({"consumes": ("nothing",)}, "nothing does not stand before it"),
        ({"rejected_to": "green"}, "green does not stand before it"),
        ({"shown_to": ("intake",)}, "intake does not stand behind it"),
        ({"shown_to": ("threats",)}, "threats does not stand behind it"),
        ({"tools": ("submit_artifact", "edti")}, "there is no tool 'edti'"),
        ({"tools": ("read_file",)}, "could not hand in"),
        ({"produces": "specification"}, "another stage produces"),
        ({"produces": "unwritten"}, "there is no contract 'unwritten'"),
        ({"writes": "product"}, "between green and refactor"),
        ({"writes": "product", "after": "refactor"}, "between green and refactor"),
        ({"writes": "product", "after": "green", "actions": ("analyze",)}, "only analyzes changes nothing"),
    ],
)
def test_a_stage_that_could_not_do_its_work_is_refused(change: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        _check(replace(READER, **change))  # type: ignore[arg-type] # fields by name


def test_a_stage_is_called_like_its_file_and_each_has_a_contract_of_its_own() -> None:
    with pytest.raises(ConfigError, match="is called 'threats'"):
        check_stages({"other": (READER, "other.py")}, order=ORDER, tools=_TOOLS, contracts=_CONTRACTS)
    with pytest.raises(ConfigError, match=r"is what news\.py produces|is what threats\.py produces"):
        _check(READER, replace(WRITER, produces="threat_list"))


def _state(**stages: str) -> RunState:
    rows = tuple(row_of(one, source="x", digest="d") for one in (READER, WRITER))
    known = {name: StageState(status="verified") for name in stages}
    return run_state(added=rows, stages=known, trees=dict(stages))


def test_a_run_knows_its_order_its_writers_and_whose_measurement_is_the_latest_from_its_record() -> None:
    state = _state(green="t1", news="t2")
    assert names_of(state) == placed(ORDER, [("threats", "spec"), ("news", "green")])
    assert names_of(run_state(workflow="fix")) == tuple(load_stages("fix"))
    assert (writers(state), written_files(state)) == (("news",), ("NEWS.md",))
    assert last_measured(with_fields(state, stage="refactor")) == "news"
    assert last_measured(with_fields(state, stage="news")) == "green"
    assert written_files(_state(green="t1")) == ()


def test_stages_of_the_house_are_the_same_with_others_among_them() -> None:
    stages = load_stages(added={"threats": READER})
    assert tuple(stages) == placed(ORDER, [("threats", "spec")])
    assert stages["threats"] is READER
    assert stages["green"] is load_stages()["green"]
