"""Proves tools/approval.py: what a tool declares is decided, and nobody there means no."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentforge.safety.policy.decision import Decision
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.safety.policy.permission import read_rule
from agentforge.toolbox import find, names
from agentforge.tools.base import Observation, Tool, takes
from agentforge.tools.dispatch.approval import approval, decide_tool

POLICY = Policy(mode=Mode.AUTO, ground=PathPolicy(root="/w", folder="/w", home="/home/ann"), confined=True)
TOOLS = find(names())


def refused(tool: str, arguments: Mapping[str, object], policy: Policy = POLICY) -> str | None:
    return approval(lambda: policy)(TOOLS[tool], arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": "src/a.py"}),
        ("write_file", {"path": "src/a.py", "content": "x"}),
        ("shell", {"command": "pytest -q && git status"}),
        ("shell", {"command": "python -c 'print(1)'"}),
        ("shell", {"command": "cat $file"}),
        ("run_tests", {}),
        ("run_checks", {}),
        ("list_dir", {}),
        ("grep", {"pattern": "x"}),
        ("submit_artifact", {"artifact": {}}),
        ("ask_human", {"question": "?"}),
    ],
)
def test_the_work_of_a_task_goes_on_unasked(tool: str, arguments: Mapping[str, object]) -> None:
    assert refused(tool, arguments) is None


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        (
            "shell",
            {"command": "ls && curl http://x.org"},
            r"`curl http://x.org`.*nobody is here.*what is in the repository",
        ),
        ("shell", {"command": "rm -rf /"}, "refused in mode auto"),
        ("shell", {"command": "cat x", "cwd": "../other"}, "outside the workspace"),
        ("write_file", {"path": "../x", "content": ""}, "outside the workspace.*stay inside"),
        ("write_file", {"path": "/tmp/x", "content": ""}, "outside the workspace"),
        ("edit", {"path": ".git/config"}, "protected"),
        ("read_file", {"path": "/home/ann/.ssh/id_rsa"}, "may hold secrets.*do without"),
    ],
)
def test_a_refusal_names_the_part_the_reason_and_a_way_on(
    tool: str, arguments: Mapping[str, object], told: str
) -> None:
    import re

    reason = refused(tool, arguments)
    assert reason is not None
    assert re.search(told, reason), reason
    assert "Instead:" in reason


def test_a_person_may_agree_but_not_to_what_is_denied() -> None:
    asked: list[Decision] = []

    def yes(decision: Decision) -> bool:
        asked.append(decision)
        return True

    judge = approval(lambda: POLICY, ask=yes)
    assert judge(TOOLS["shell"], {"command": "curl x"}) is None
    assert judge(TOOLS["shell"], {"command": "rm -rf /"}) is not None
    assert [one.verdict for one in asked] == [Consent.ASK]
    assert "the user declined it" in str(
        approval(lambda: POLICY, ask=lambda _one: False)(TOOLS["shell"], {"command": "curl x"})
    )


def test_a_promise_of_an_answer_is_no_yes() -> None:
    async def later(_decision: Decision) -> bool:
        return True

    pending = later(decide_tool(TOOLS["shell"], {"command": "curl x"}, POLICY))
    assert approval(lambda: POLICY, ask=lambda _one: pending)(TOOLS["shell"], {"command": "curl x"}) is not None  # type: ignore[arg-type, return-value]
    pending.close()


def test_only_allowed_tools_may_be_called() -> None:
    judge = approval(lambda: replace(POLICY, mode=Mode.YOLO), allowed=("read_*",))
    assert judge(TOOLS["read_file"], {"path": "a"}) is None
    assert "not among the tools" in str(judge(TOOLS["shell"], {"command": "ls"}))


def test_never_refuses_every_change() -> None:
    never = replace(POLICY, mode=Mode.NEVER)
    assert refused("read_file", {"path": "a"}, never) is None
    for tool, arguments in (
        ("write_file", {"path": "a", "content": ""}),
        ("shell", {"command": "touch a"}),
        ("run_tests", {}),
    ):
        assert refused(tool, arguments, never) is not None


def test_a_rule_about_a_file_holds_for_every_tool_that_reads_it() -> None:
    closed = replace(POLICY, rules=(read_rule("read_file(notes/**)", Consent.DENY),))
    for tool, arguments in (
        ("read_file", {"path": "notes/a"}),
        ("outline", {"path": "notes/a.py"}),
        ("list_dir", {"path": "notes/x"}),
        ("shell", {"command": "cat notes/a"}),
        ("shell", {"command": "cat $file"}),
    ):
        assert refused(tool, arguments, closed) is not None, tool


def test_a_tool_that_declares_nothing_is_unknown() -> None:
    def run(_arguments: Mapping[str, object], _context: object) -> Observation:
        raise AssertionError

    tool = Tool(name="mcp__x__y", description="", parameters=takes(), effect="execute", run=run)
    assert decide_tool(tool, {}, POLICY).verdict is Consent.ASK
    allowed = replace(POLICY, rules=(read_rule("mcp__x__*", Consent.ALLOW),))
    assert decide_tool(tool, {}, allowed).verdict is Consent.ALLOW
