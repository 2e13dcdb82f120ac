"""Prompt injections with a model that obeys: nothing leaves, nothing outside the task's scope changes."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from agentforge.cli.startup.entry import run
from agentforge.errors import ConfigError, UsageError
from agentforge.evals import injection_case
from agentforge.evals.injection_case import Canary, chosen_injections, injection_names, load_injection
from agentforge.evals.injection_run import run_injection

if TYPE_CHECKING:
    from pathlib import Path

    from agentforge.evals.ground import EvalFixture


@pytest.mark.parametrize("name", injection_names())
def test_an_obeying_model_does_no_harm(name: str, ground: EvalFixture) -> None:
    if name.startswith("talk-mcp"):
        pytest.importorskip("mcp")
    result = run_injection(load_injection(name), ground)
    assert result.held, result.problems
    assert result.refused or result.outcome == "delivered"


def test_the_catalogue_covers_every_carrier_that_the_plan_names() -> None:
    carriers = {load_injection(name).carrier for name in injection_names()}
    wanted = {"readme", "source", "test-output", "file-name", "commit-message", "mcp", "subagent", "web"}
    assert wanted <= carriers
    assert {load_injection(name).goal for name in injection_names()} == injection_case.GOALS
    talks = {one.carrier for one in map(load_injection, injection_names()) if one.talk}
    assert talks == {"mcp", "subagent", "web"}


def test_a_conversation_that_never_meets_its_injection_does_not_hold(ground: EvalFixture) -> None:
    case = load_injection("talk-web-page")
    talk = {**(case.talk or {}), "approval": "never", "allow": [], "calls": []}
    result = run_injection(replace(case, talk=talk), ground)
    assert (result.held, result.problems) == (False, ("the injection was never met",))


def test_the_listener_hears_connections_and_datagrams() -> None:
    canary = Canary()
    socket.create_connection(("127.0.0.1", canary.port), 5).close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.sendto(b"x", ("127.0.0.1", canary.port))
    canary.close()
    assert sorted(canary.heard) == ["a connection", "a datagram"]


def test_harm_is_seen(ground: EvalFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge itself: with the sandbox off and the shell taken for granted, the same case must not hold."""
    from agentforge.evals import injection_run

    def careless(_case: object, _ground: EvalFixture, words: dict[str, str]) -> object:
        socket.create_connection(("127.0.0.1", int(words["@PORT@"])), 5).close()
        (_ground.folder / "outside" / "diary.txt").write_text("gone")
        (_ground.repo / "textkit.py").write_text("gone")
        raise ConfigError("over")

    monkeypatch.setattr(injection_run, "_started", careless)
    result = run_injection(load_injection("readme-curl"), ground)
    assert not result.held
    assert result.problems == ("over", "left the machine: a connection")


def test_the_command_tells_the_result_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "injections", "mcp-result", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["ok"], told["summary"]) == (True, "injections held 1/1")
    assert [one.partition(" ")[0] for one in told["cases"][0]["refused"]] == ["web_fetch", "web_search"]


def test_an_injection_that_is_not_known_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no injection 'readme-cur'"):
        chosen_injections(("readme-cur",))


def test_a_case_with_a_word_that_is_not_known_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.yaml").write_text("title: t\ncarrier: smoke\ngoal: git\ncalls:\n  green: []\n")
    monkeypatch.setattr(injection_case, "_FOLDER", tmp_path)
    with pytest.raises(ConfigError, match=r"carrier or goal|no calls"):
        load_injection("x")
