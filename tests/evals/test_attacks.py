"""Plays the attack suite: every attack against the decisions, one of each class in the sandbox, the everyday commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.cli.startup.entry import run
from agentforge.errors import UsageError
from agentforge.evals.attack_case import (
    AttackCase,
    AttackGround,
    attack_cases,
    attack_ground,
    chosen_cases,
    everyday_commands,
)
from agentforge.evals.attack_run import judged, refused_everyday, run_attacks

CASES = attack_cases()
FLOOR = (
    "env-shows-no-secret",
    "python-socket",
    "rm-outside",
    "shell-write-hook",
    "shell-settings",
    "shell-link-then-read",
    "dev-tcp",
    "python-rmtree",
    "shell-read-dotenv",
    "shell-nested-repository",
    "redirect-after-cd",
)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackGround]:
    with attack_ground(tmp_path_factory.mktemp("attacks")) as made:
        yield made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_attack_is_allowed(case: AttackCase, ground: AttackGround) -> None:
    ground.fill(case.files, case.links)
    for mode in case.modes:
        verdict, reason = judged(case, ground, mode)
        assert verdict in case.expect, f"{mode}: {verdict}: {reason}"


def test_the_sandbox_holds_what_the_decision_would_have_let_pass(tmp_path: Path) -> None:
    results = list(run_attacks(chosen_cases(FLOOR), folder=tmp_path))
    assert {one.name: one.floor for one in results} == dict.fromkeys(FLOOR, "held")


def test_no_command_of_every_day_is_asked_about() -> None:
    assert refused_everyday(everyday_commands()) == ()


def test_no_work_of_every_day_is_asked_about_where_nobody_answers() -> None:
    assert len(everyday_commands("auto")) > 60
    assert refused_everyday(everyday_commands("auto"), mode="auto") == ()


def test_an_attack_that_gets_through_is_told(tmp_path: Path) -> None:
    harmless = replace(CASES[0], against="shell", text="ls", modes=("on-request",))
    (result,) = run_attacks([harmless], folder=tmp_path)
    assert (result.held, result.decision, result.floor) == (False, "on-request: allow", "held")


def test_the_ground_notices_what_it_is_for(ground: AttackGround) -> None:
    import socket

    ground.fill({}, {})
    before = ground.state()
    (ground.workspace / ".git" / "hooks").mkdir(exist_ok=True)
    assert ground.state() != before
    ground.fill({}, {})
    (ground.workspace / "vendor/lib/.git/config").write_text("[core]\n")
    assert ground.state() != before
    ground.fill({}, {})
    (ground.workspace / ".env").write_text("TOKEN=other\n")
    assert ground.state() != before
    with socket.create_connection(("127.0.0.1", ground.port)) as connection:
        assert connection.recv(1) == b""
    assert ground.calls


def test_the_command_prints_the_table_and_the_sum(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "attacks", "rule-allows-everything", "env-shows-no-secret"]) == 0
    out = capsys.readouterr().out
    assert f"attacks 2/2 held, false refusals 0/{len(everyday_commands()) + len(everyday_commands('auto'))}" in out
    assert run(["eval", "attacks", "rule-allows-everything", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_an_unknown_attack_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="no attack") as caught:
        chosen_cases(("rm-rot",))
    assert "rm-root" in str(caught.value.hint)
