"""What a stage's model is told and what it is offered agree: each tool that a text names can be called there."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import pytest

from agentforge.config.contract_files import contract_set
from agentforge.contracts.rules import find_rule
from agentforge.pipeline.engine.stage_agent import prompt_parts
from agentforge.pipeline.model.prompt_text import prompt_text
from agentforge.pipeline.model.stage import Stage
from agentforge.pipeline.stages import FIX, SPLIT, load_stages
from agentforge.toolbox import names as tool_names

WORKFLOWS = {name or "start": load_stages(name) for name in ("", FIX, SPLIT)}
WORDS = frozenset({"edit", "glob", "outline", "jobs", "memory", "todos", "refactor", "browser"})
"""Names of tools that are words of English, too: they count where they are marked as code."""

Frame = tuple[str, frozenset[str], str]


def named_in(text: str) -> set[str]:
    return {
        name
        for name in tool_names()
        if re.search(rf"`{name}`" if name in WORDS else rf"(?<![\w.-]){name}(?![\w-])", text)
    }


def frames() -> Iterator[Frame]:
    """Each frame in which a model works: its name, the tools that are sent, and all that it is told."""
    for workflow, stages in WORKFLOWS.items():
        for stage in (stages[name] for name in stages if name != "deliver"):
            yield (f"{workflow}:{stage.name}", *_frame(stage, ()))
            ahead = tuple(stages[name] for name in stage.ahead)
            for count in range(1, len(ahead) + 1):
                yield (f"{workflow}:{stage.name}+{count}", *_frame(stage, ahead[:count]))


def _frame(stage: Stage, ahead: tuple[Stage, ...]) -> tuple[frozenset[str], str]:
    offered = {*stage.tools, *(stage.ahead_tools if ahead else ())} - {"shell"}  # without a sandbox there is none
    told = [*prompt_parts(stage.name, ahead=tuple(one.name for one in ahead)).values(), *stage.criteria]
    for one in ahead:
        told += [prompt_text(one.name), *one.criteria]
    return frozenset(offered), "\n".join(told)


@pytest.mark.parametrize(("offered", "told"), [frame[1:] for frame in frames()], ids=[frame[0] for frame in frames()])
def test_a_tool_that_the_text_of_a_stage_names_is_offered_there(offered: frozenset[str], told: str) -> None:
    assert named_in(told) <= offered


def test_a_tool_that_a_finding_names_is_offered_by_every_stage_that_may_get_it() -> None:
    contracts = contract_set(None)
    for stages in WORKFLOWS.values():
        for stage in (stages[name] for name in stages if name != "deliver"):
            for rule in (one for one in contracts.get(stage.produces).rules if one.kind == "named"):
                named = find_rule(rule.text, source="here")
                assert named_in(inspect.getsource(named.judge)) <= set(stage.tools), (stage.name, rule.text)


def test_the_measure_of_this_file_sees_names() -> None:
    assert named_in("use ask_human, `edit` and grep; edit it, then run-tests") == {"ask_human", "edit", "grep"}
