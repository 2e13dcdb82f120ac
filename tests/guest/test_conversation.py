"""One prompt to a guest: a small agent in a process of its own, spoken to over pipes; no sandbox, no pipeline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentforge.errors import ToolchainError
from agentforge.guest.conversation import Conversation, DeadlinePassed, GuestWire, Terms
from agentforge.guest.report import GuestReport

AGENT = Path(__file__).parents[1] / "support" / "guest_agent.py"


@contextmanager
def spoken_to(mode: str, folder: Path) -> Iterator[GuestWire]:
    (folder / "textkit.py").write_text("")
    (folder / "tests").mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, str(AGENT), mode],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield GuestWire(process.stdout.fileno(), process.stdin.fileno())
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def held(
    mode: str, folder: Path, *, seconds: float = 30, auth: str = "", calls: int = 100, allows: bool = True
) -> GuestReport:
    with spoken_to(mode, folder) as wire:
        terms = Terms(cwd=str(folder), auth=auth, calls=calls, permit=lambda _call: "" if allows else "no")
        return Conversation(wire, terms, deadline=time.monotonic() + seconds).hold("add slugify")


def test_what_an_agent_says_and_does_is_gathered(tmp_path: Path) -> None:
    report = held("honest", tmp_path)

    assert report.ended == "end_turn" and report.agent == "scripted-agent 1.0"
    assert report.answer == "slugify is there." and report.calls == 1
    assert report.usage["inputTokens"] == 1000 and report.cost_usd == 0.01
    assert report.permissions == [{"title": "Edit textkit.py", "kind": "edit", "allowed": True, "reason": ""}]
    kinds = [update["sessionUpdate"] for update in report.updates]
    assert kinds == ["plan", "tool_call", "tool_call_update", "usage_update", "agent_message_chunk"]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("old", "version 2 of the protocol"),
        ("login", "Authentication required"),
        ("broken", "ended in the middle of its work: hello, people"),
    ],
)
def test_who_is_no_agent_of_the_protocol_is_told_so(mode: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=words):
        held(mode, tmp_path)


def test_an_agent_is_logged_in_by_the_method_of_the_settings(tmp_path: Path) -> None:
    assert held("login", tmp_path, auth="key").ended == "end_turn"


def test_too_many_calls_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentforge.guest.conversation._GRACE_S", 0.05)
    report = held("chatty", tmp_path, calls=7)
    assert report.ended == "calls" and len(report.updates) <= 2000


def test_what_takes_too_long_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentforge.guest.conversation._GRACE_S", 0.05)
    assert held("hang", tmp_path, seconds=1).ended == "timeout"


def test_neither_files_nor_terminals_are_offered(tmp_path: Path) -> None:
    assert "use your own tools" in held("curious", tmp_path).answer


def test_what_the_rule_refuses_is_rejected(tmp_path: Path) -> None:
    report = held("asker", tmp_path, allows=False)
    assert [row["allowed"] for row in report.permissions] == [False, False, False]
    assert json.loads(report.answer) == {"frozen test": "", "outside": "", "fetch": ""}


def test_a_reader_that_never_reads_does_not_hold_us_up() -> None:
    reader, writer = os.pipe()
    try:
        with pytest.raises(DeadlinePassed):
            GuestWire(reader, writer).send({"id": 1, "params": "x" * 1_000_000}, deadline=time.monotonic() + 0.02)
    finally:
        os.close(reader)
        os.close(writer)


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentforge.guest.conversation._LONGEST_LINE", 100)
    reader, writer = os.pipe()
    try:
        os.write(writer, b"x" * 200)
        with pytest.raises(ToolchainError, match="a line of more than"):
            GuestWire(reader, writer).receive(deadline=time.monotonic() + 5)
    finally:
        os.close(reader)
        os.close(writer)


def test_a_report_is_bounded_whatever_is_sent() -> None:
    report = GuestReport()
    for number in range(5000):
        report.add({"sessionUpdate": "tool_call", "toolCallId": f"c{number}", "rawInput": "x" * 10_000})
    assert report.calls == 5000 and report.dropped > 0
    assert len(json.dumps(report.updates)) < 1_200_000
