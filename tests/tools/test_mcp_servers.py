"""Proves tools/mcp with servers over stdio: what they offer, and what becomes of those that die, hang, flood or lie."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Event

import pytest

from agentforge.cancellation import Cancellation, under
from agentforge.session.subagents import side_by_side
from agentforge.tools.base import Observation, Tool, ToolError
from agentforge.tools.dispatch.invocation import InvocationPolicy, present
from agentforge.tools.mcp.definitions import Pins
from agentforge.tools.mcp.servers import Servers
from agentforge.tools.mcp.spec import ServerSpec
from agentforge.tools.mcp.transport import Pipe, stdio_pipe
from agentforge.workspace.processes.longlived import Start

pytest.importorskip("mcp")
_SERVER = str(Path(__file__).parent / "fixtures" / "odd_server.py")
Make = Callable[..., Servers]


def _spec(how: str = "", *more: str, **changes: object) -> ServerSpec:
    spec = ServerSpec(name="odd", command=(sys.executable, "-S", _SERVER, how, *more), startup_s=10, call_s=5)
    return replace(spec, **changes)  # type: ignore[arg-type]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    opened: list[Servers] = []

    def made(
        *specs: ServerSpec,
        agree: Callable[[str, str], bool] = lambda _server, _change: False,
        heard: Callable[[str], object] = str,
    ) -> Servers:
        def transport(spec: ServerSpec) -> object:
            heard(spec.name)
            pipe = Pipe()
            env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **spec.env}
            walls = partial(nullcontext, Start(argv=spec.command))
            return stdio_pipe(walls, env=env, cwd=tmp_path, pipe=pipe), pipe

        servers = Servers(specs, open_transport=transport, pins=Pins(tmp_path / "pins"), agree=agree)  # type: ignore[arg-type]
        opened.append(servers)
        return servers

    yield made
    for servers in opened:
        servers.close()


def _call(tools: dict[str, Tool], name: str, **arguments: object) -> Observation:
    try:
        return tools[name].run(arguments, None)  # type: ignore[arg-type]
    except ToolError as error:
        return error.observation


def test_tools_are_offered_under_the_servers_name_with_schemas_without_references(make: Make) -> None:
    tools = make(_spec()).tools()
    assert list(tools) == ["odd__greet", "odd__erase", "odd__env", "odd__write_file_", "odd__act", "mcp_read_resource"]
    greet = tools["odd__greet"]
    assert "$" not in json.dumps(greet.parameters)
    assert greet.parameters["properties"]["who"]["properties"]["name"] == {"type": "string"}  # type: ignore[index]
    assert (greet.looks, greet.does, tools["odd__erase"].does, tools["odd__act"].does) == (
        True,
        "run",
        "destructive",
        "unknown",
    )


def test_a_call_is_answered_and_a_resource_is_read(make: Make) -> None:
    servers = make(_spec())
    tools = servers.tools()
    assert _call(tools, "odd__greet", who={"name": "Ann"}).text == "Hello Ann"
    assert _call(tools, "mcp_read_resource", server="odd", uri="memo://today").text == "what is written there"
    assert _call(tools, "mcp_read_resource", server="even", uri="x").error_type == "not-found"
    assert servers.prompt("odd", "review", {"what": "it all"}) == "Review it all."
    assert servers.prompt("odd", "review", {"what": "the memo"}) == "Review this:\n\nwhat is written there"
    assert servers.listing("odd") == {"resources": ["memo://today (Today)"], "prompts": ["review"]}


def test_what_was_seen_before_is_offered_without_starting_anything(make: Make) -> None:
    make(_spec()).tools()
    again = make(_spec())
    assert "odd__greet" in again.tools()
    assert again.statuses()[0].state == "idle"
    assert _call(again.tools(), "odd__greet", who={"name": "Bo"}).text == "Hello Bo"
    assert again.statuses()[0].state == "ready"


def test_why_a_server_does_not_start_is_told_in_its_own_words(make: Make) -> None:
    servers = make(
        _spec("refuses to start", name="silent"),
        _spec("never starts", name="slow", startup_s=0.2),
        _spec(name="missing", command=("/no/such/program",)),
        _spec(name="good"),
    )
    assert "good__greet" in servers.tools()
    reasons = {one.name: one.reason for one in servers.statuses()}
    assert "no key was given: SERVICE_KEY" in reasons["silent"] and "exit code 1" in reasons["silent"]
    assert reasons["slow"] == "it did not answer within 0.2 s"
    assert "there is no program '/no/such/program'" in reasons["missing"]
    assert reasons["good"] == ""


def test_what_a_server_said_last_begins_with_a_whole_line() -> None:
    pipe = Pipe()
    pipe.returncode = 1
    pipe._said.extend(f"line {number} " + "x" * 90 for number in range(20))
    said = pipe.reason().removeprefix("ended with exit code 1; ").split(" | ")
    assert len(said) > 3 and all(line.startswith("line ") for line in said) and said[-1].startswith("line 19")


def test_a_server_that_dies_is_told_and_started_again_with_the_next_call(make: Make) -> None:
    servers = make(_spec("dies"))
    tools = servers.tools()
    lost = _call(tools, "odd__act")
    assert (lost.error_type, "out of luck" in lost.text) == ("server-lost", True), lost
    assert servers.statuses()[0].state == "failed"
    assert _call(tools, "odd__greet", who={"name": "Ann"}).text == "Hello Ann"


def test_a_server_that_keeps_failing_is_tried_later_and_later(make: Make) -> None:
    servers = make(_spec("refuses to start"))
    servers.tools()
    errors = [_failure(servers) for _ in range(3)]
    assert "SERVICE_KEY" in errors[0] and "tried again in" in errors[-1]


def _failure(servers: Servers) -> str:
    with pytest.raises(ToolError) as caught:
        servers.call("odd", "greet", {})
    return caught.value.observation.text


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("hangs", "timeout", "no answer to act within 0.3 s"),
        ("lies", "protocol", "not what the protocol allows"),
        ("floods", "server-lost", "messages that nobody asked for"),
        ("one long line", "server-lost", "a message of more than"),
        ("noise", "server-lost", "something else than messages"),
        ("fails", "server-error", "is wrong"),
    ],
)
def test_a_server_that_misbehaves_costs_one_call(make: Make, how: str, kind: str, words: str) -> None:
    call_s = 0.3 if how == "hangs" else 20.0
    tools = make(_spec(how, call_s=call_s, env={"TOKEN": "sekrit-sekrit-1"})).tools()
    seen = _call(tools, "odd__act")
    assert seen.error_type == kind, seen
    assert words in f"{seen.summary} {seen.text}"
    assert "sekrit-sekrit-1" not in f"{seen.summary} {seen.text}"


def test_results_pass_through_hygiene_and_the_fence(make: Make) -> None:
    seen = present(_call(make(_spec()).tools(), "odd__act"), policy=InvocationPolicy(nonce="abcd"))
    assert "\x1b" not in seen.text and seen.text.startswith("<untrusted abcd>")


def test_a_changed_definition_is_not_called_until_somebody_agreed(make: Make, tmp_path: Path) -> None:
    how = tmp_path / "how.py"
    how.write_text(f"import sys, runpy; sys.argv = ['x', '']; runpy.run_path({_SERVER!r}, run_name='__main__')")
    spec = _spec(command=(sys.executable, "-S", str(how)))
    make(spec).tools()
    how.write_text(how.read_text().replace("['x', '']", "['x', 'changed']"))
    refused = make(spec)
    seen = _call(refused.tools(), "odd__greet", who={"name": "Ann"})
    assert (seen.error_type, "nobody agreed" in seen.summary) == ("definition-changed", True)
    assert refused.statuses()[0].changed == ("greet",)
    assert "all keys" not in refused.tools()["odd__greet"].description
    assert _call(refused.tools(), "odd__env").status == "success"
    told: list[str] = []
    agreed = make(spec, agree=lambda _server, change: told.append(change) is None)
    assert _call(agreed.tools(), "odd__greet", who={"name": "Ann"}).retryable
    assert "all keys" in told[0]
    assert _call(agreed.tools(), "odd__greet", who={"name": "Ann"}).text == "Hello Ann"


def test_a_server_that_changes_its_tools_while_it_runs_is_noticed(make: Make) -> None:
    servers = make(_spec("changes its mind"))
    tools = servers.tools()
    assert _call(tools, "odd__greet", who={"name": "Ann"}).text == "Hello Ann"
    _call(tools, "odd__act")
    assert _call(tools, "odd__greet", who={"name": "Ann"}).error_type == "definition-changed"
    assert servers.statuses()[0].changed == ("greet", "more")
    assert "odd__more" not in servers.tools()
    servers.accept("odd")
    assert "odd__more" in servers.tools()
    assert _call(tools, "odd__greet", who={"name": "Ann"}).text == "Hello Ann"


def test_prompts_are_known_without_the_server_and_anew_when_it_says_that_they_changed(make: Make) -> None:
    make(_spec("changes its prompts")).tools()
    servers = make(_spec("changes its prompts"))
    assert [(one.name, one.arguments, one.required) for one in servers.prompts("odd")] == [
        ("review", ("what",), ("what",))
    ]
    assert servers.statuses()[0].state == "idle"
    tools = servers.tools()
    _call(tools, "odd__act")
    _call(tools, "odd__greet", who={"name": "Ann"})  # the notification has come, and the next call asks anew
    assert [one.command for one in servers.prompts("odd")] == ["review", "tidy_up"]


def test_a_server_and_what_it_started_end_with_the_session(make: Make, tmp_path: Path) -> None:
    note = tmp_path / "child"
    servers = make(_spec("leaves a child", str(note)))
    servers.tools()
    child = int(note.read_text())
    ended = os.pidfd_open(child)
    servers.close()
    assert select.select([ended], [], [], 5)[0]
    os.close(ended)


def test_a_call_can_be_stopped_from_another_thread(make: Make) -> None:
    import threading

    from agentforge.cancellation import Cancellation, under

    tools = make(_spec("hangs", call_s=60)).tools()
    sign = Cancellation()
    timer = threading.Timer(0.05, sign.cancel)
    timer.start()
    with under(sign), pytest.raises(KeyboardInterrupt):
        _call(tools, "odd__act")
    timer.join()


class _Met(dict[str, ServerSpec]):
    """Whoever makes a connection waits a moment for somebody who makes the same one."""

    def __init__(self, known: dict[str, ServerSpec]) -> None:
        super().__init__(known)
        self._both = Barrier(2)

    def __getitem__(self, name: str) -> ServerSpec:
        with suppress(BrokenBarrierError):
            self._both.wait(0.05)
        return super().__getitem__(name)


def test_subagents_share_one_server_and_each_gets_its_own_answer(make: Make) -> None:
    started: list[str] = []
    servers = make(_spec(), heard=started.append)
    names = [f"Ann {number}" for number in range(8)]
    tools = servers.tools()
    servers.restart("odd")
    started.clear()
    servers.close()
    servers._specs = _Met(servers._specs)
    works = [partial(_call, tools, "odd__greet", who={"name": name}) for name in names]
    answers = [one.text for one in side_by_side(works)]
    assert answers == [f"Hello {name}" for name in names]
    assert started == ["odd"]


def test_a_subagent_that_is_stopped_leaves_the_server_to_the_others(make: Make) -> None:
    servers = make(_spec("hangs", call_s=600), _spec("", name="even"))
    tools = servers.tools()
    sign, met = Cancellation(), Event()

    def stopped() -> str:
        with under(sign):
            met.set()
            try:
                _call(tools, "odd__act")
            except KeyboardInterrupt:
                return "stopped"
        return "answered"

    def other() -> str:
        met.wait(10)
        answer = _call(tools, "even__greet", who={"name": "Bob"}).text
        sign.cancel()
        return answer

    assert list(side_by_side([stopped, other])) == ["stopped", "Hello Bob"]


def test_subagents_that_meet_a_changed_definition_ask_once(make: Make) -> None:
    asked: list[str] = []
    servers = make(_spec("changes its mind"), agree=lambda server, _change: [asked.append(server)] == [None])
    tools = servers.tools()
    _call(tools, "odd__act")
    works = [partial(_call, tools, "odd__greet", who={"name": "Ann"}) for _ in range(4)]
    told = [one.error_type or one.text for one in side_by_side(works)]
    assert asked == ["odd"] and told.count("definition-changed") == 1 and told.count("Hello Ann") == 3
