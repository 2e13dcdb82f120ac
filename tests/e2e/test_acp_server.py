"""The agent in an editor: with the SDK's own client, and with one written from the specification alone."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.support.world import REQUEST, World, edit, good_script, reply, write

acp = pytest.importorskip("acp")
from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse  # noqa: E402

COMMAND = (sys.executable, "-m", "agentforge", "acp")


class Person:
    """Sits in front of the editor: collects updates, answers by the names of options."""

    def __init__(self, *answers: str) -> None:
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.answers = list(answers)
        self.on_ask: Callable[[], Coroutine[Any, Any, None]] | None = None

    async def session_update(self, session_id: str, update: Any, **_others: Any) -> None:
        self.updates.append(update)

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_others: Any) -> Any:
        self.asked.append((tool_call, options))
        if self.on_ask is not None:
            await self.on_ask()
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        wanted = self.answers.pop(0)
        chosen = next(option for option in options if option.kind == wanted or option.name == wanted)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen.option_id))

    def of(self, kind: str) -> list[Any]:
        return [update for update in self.updates if update.session_update == kind]

    @property
    def text(self) -> str:
        return "".join(update.content.text for update in self.of("agent_message_chunk"))


@asynccontextmanager
async def editor(world: World, person: Person, script: Any) -> AsyncIterator[Any]:
    command = [*COMMAND, "--model", world.model(script)]
    async with acp.spawn_agent_process(
        person, *command, env=world.env, cwd=str(world.repo), use_unstable_protocol=True
    ) as (connection, _process):
        await connection.initialize(protocol_version=1)
        yield connection


def play(work: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own: a browser that another test of this process keeps open holds a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, asyncio.wait_for(work, timeout=240)).result()


def test_a_session_streams_asks_shows_diffs_and_is_loaded_again(world: World) -> None:
    script = {
        "chat": [
            reply(
                ("todos", {"action": "add", "id": "1", "content": "shout louder"}),
                ("read_file", {"path": "textkit.py"}),
                text="I look first.",
            ),
            reply(edit('"!"', '"!!"')),
            reply(("shell", {"command": "touch made.txt"}), text=""),
            reply(("shell", {"command": "touch made.txt"}), text=""),
            reply(text="It is louder now."),
            reply(write("x.py", "x = 1\n")),
            reply(text="Not done."),
        ]
    }
    person = Person("allow_once", "allow_always", "reject_once")

    async def first() -> str:
        async with editor(world, person, script) as connection:
            opened = await connection.new_session(cwd=str(world.repo), mcp_servers=[])
            assert {mode.id for mode in opened.modes.available_modes} == {"plan", "build", "swarm", "task"}
            assert opened.modes.current_mode_id == "build"
            assert {option.id for option in opened.config_options} == {"mode", "approval", "model"}
            await connection.set_config_option(config_id="approval", session_id=opened.session_id, value="on-request")
            done = await connection.prompt(session_id=opened.session_id, prompt=[acp.text_block("shout louder")])
            assert done.stop_reason == "end_turn"
            done = await connection.prompt(session_id=opened.session_id, prompt=[acp.text_block("and x")])
            assert done.stop_reason == "end_turn"
            done = await connection.prompt(session_id=opened.session_id, prompt=[acp.text_block("/plan")])
            assert done.stop_reason == "end_turn"
            assert person.of("current_mode_update")[-1].current_mode_id == "plan"
            return str(opened.session_id)

    async def second(session: str, again: Person) -> None:
        async with editor(world, again, script) as connection:
            rows = (await connection.list_sessions(cwd=str(world.repo))).sessions
            assert [row.session_id for row in rows] == [session] and rows[0].title == "shout louder"
            loaded = await connection.load_session(cwd=str(world.repo), session_id=session, mcp_servers=[])
            assert loaded.modes.current_mode_id == "plan"
            await connection.set_session_mode(session_id=session, mode_id="build")
            resumed = await connection.resume_session(cwd=str(world.repo), session_id=session, mcp_servers=[])
            assert resumed.modes.current_mode_id == "build"

    session = ""

    async def both() -> None:
        nonlocal session
        session = await first()

    play(both())
    assert '"!!"' in (world.repo / "textkit.py").read_text()
    assert not (world.repo / "x.py").exists()
    assert "I look first." in person.text and "It is louder now." in person.text
    assert [option.kind for option in person.asked[1][1]] == ["allow_once", "allow_always", "reject_once"]
    assert "shell(touch" in person.asked[1][1][1].name
    assert len(person.asked) == 3  # the second touch passed by the rule
    shown = [item for item in person.asked[0][0].content if item.type == "diff"]
    assert shown and shown[0].old_text and '"!!"' in shown[0].new_text
    calls = {update.tool_call_id: update for update in person.of("tool_call")}
    assert {call.kind for call in calls.values()} == {"think", "read", "edit", "execute"}
    read = next(call for call in calls.values() if call.kind == "read")
    assert read.locations[0].path == str(world.repo / "textkit.py")
    ended = {update.tool_call_id: update for update in person.of("tool_call_update") if update.status != "in_progress"}
    assert set(ended) == set(calls)
    changed = next(
        update for call, update in ended.items() if calls[call].kind == "edit" and update.status == "completed"
    )
    assert changed.content[0].type == "diff" and changed.content[0].path == str(world.repo / "textkit.py")
    assert person.of("plan")[-1].entries[0].content == "shout louder"
    assert person.of("usage_update")[-1].size > person.of("usage_update")[-1].used > 0
    assert {command.name for command in person.of("available_commands_update")[0].available_commands} >= {
        "start",
        "undo",
    }

    again = Person()
    play(second(session, again))
    assert [update.content.text for update in again.of("user_message_chunk")] == ["shout louder", "and x"]
    assert len(again.of("tool_call")) == len(calls)


def test_cancel_ends_a_prompt_and_the_session_goes_on(world: World) -> None:
    script = {"chat": [reply(write("x.py", "x = 1\n")), reply(text="gone on")]}
    person = Person()

    async def work() -> None:
        async with editor(world, person, script) as connection:
            session = (await connection.new_session(cwd=str(world.repo), mcp_servers=[])).session_id
            await connection.set_config_option(config_id="approval", session_id=session, value="on-request")

            async def cancel() -> None:
                await connection.cancel(session_id=session)

            person.on_ask = cancel
            done = await connection.prompt(session_id=session, prompt=[acp.text_block("write x")])
            assert done.stop_reason == "cancelled"
            done = await connection.prompt(session_id=session, prompt=[acp.text_block("go on")])
            assert done.stop_reason == "end_turn"

    play(work())
    assert "gone on" in person.text and not (world.repo / "x.py").exists()


def test_in_task_mode_a_prompt_becomes_a_task_whose_questions_are_asked(world: World) -> None:
    asks = reply(("ask_human", {"question": "Which hyphen?", "options": ["-", "_"]}))
    script = good_script(green=[asks, *good_script()["green"]])
    person = Person("-")

    async def work() -> None:
        async with editor(world, person, script) as connection:
            session = (await connection.new_session(cwd=str(world.repo), mcp_servers=[])).session_id
            await connection.set_session_mode(session_id=session, mode_id="task")
            done = await connection.prompt(session_id=session, prompt=[acp.text_block(REQUEST)])
            assert done.stop_reason == "end_turn"

    play(work())
    ((question, choices),) = person.asked
    assert question.tool_call_id == f"{world.task}.E1" and "Which hyphen?" in question.content[0].content.text
    assert [choice.name for choice in choices] == ["-", "_", "Decide later", "End the task"]
    (resolved,) = world.events("EscalationResolved")
    assert resolved["data"]["text"] == "-"
    plan = person.of("plan")[-1]
    assert [entry.content.split()[0] for entry in plan.entries] == [
        *("intake", "clarify", "analyze", "spec"),
        *("red", "green", "refactor", "deliver"),
    ]
    assert {entry.status for entry in plan.entries} == {"completed"}
    assert "**delivered**" in person.text and f"agentforge verify {world.task}" in person.text
    diffs = [item for update in person.of("tool_call_update") for item in update.content or [] if item.type == "diff"]
    assert any("slugify" in item.new_text for item in diffs)
    assert world.run("verify", world.task).code == 0


class RawEditor:
    """A client of the specification: JSON lines, no library."""

    def __init__(self, world: World, script: Any) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--model", world.model(script)],
            cwd=world.repo,
            env={**world.env, "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.updates: list[dict[str, Any]] = []
        self.number = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.number and "method" not in message:
                return message
            if message.get("method") == "session/update":
                self.updates.append(message["params"]["update"])

    def write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        message = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return dict(message)

    def close(self) -> str:
        out, err = self.process.communicate(timeout=30)
        for line in out.splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0"
        return str(err)


def test_a_client_of_the_specification_finds_what_it_says(world: World) -> None:
    raw = RawEditor(world, {"chat": [reply(("shell", {"command": "echo printed; echo more >&2"})), reply(text="done")]})

    hello = raw.ask("initialize", protocolVersion=1, clientCapabilities={})["result"]
    assert hello["protocolVersion"] == 1 and hello["agentInfo"]["name"] == "agentforge"
    assert hello["agentCapabilities"]["loadSession"] and hello["authMethods"][0]["id"] == "settings"
    assert raw.ask("authenticate", methodId="settings")["result"] == {}
    assert "no way" in raw.ask("authenticate", methodId="magic")["error"]["message"]

    opened = raw.ask("session/new", cwd=str(world.repo), mcpServers=[])["result"]
    session = opened["sessionId"]
    assert opened["modes"]["currentModeId"] == "build"
    for method, params, words in (
        ("session/new", {"cwd": "here", "mcpServers": []}, "not an absolute path"),
        ("session/new", {"cwd": str(world.repo / "nowhere"), "mcpServers": []}, "not a folder"),
        ("session/load", {"cwd": str(world.repo), "sessionId": "nothing", "mcpServers": []}, "nothing"),
        ("session/prompt", {"sessionId": "nothing", "prompt": []}, "no open session"),
        ("session/set_mode", {"sessionId": session, "modeId": "magic"}, "no mode"),
        ("session/set_config_option", {"sessionId": session, "configId": "size", "value": "x"}, "no option"),
        ("session/prompt", {"sessionId": session, "prompt": []}, "empty"),
        ("session/dance", {}, "not found"),
    ):
        error = raw.ask(method, **params)["error"]
        assert words in error["message"], (method, error)

    set_mode = raw.ask("session/set_config_option", sessionId=session, configId="approval", value="yolo")["result"]
    assert {row["id"]: row["currentValue"] for row in set_mode["configOptions"]}["approval"] == "yolo"
    link = {"type": "resource_link", "name": "textkit.py", "uri": (world.repo / "textkit.py").as_uri()}
    note = {"type": "resource", "resource": {"uri": "file:///elsewhere/notes.txt", "text": "remember"}}
    done = raw.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}, link, note])
    assert done["result"] == {"stopReason": "end_turn"}
    kinds = [update["sessionUpdate"] for update in raw.updates]
    assert {"available_commands_update", "tool_call", "tool_call_update", "agent_message_chunk", "usage_update"} <= set(
        kinds
    )
    raw.ask("session/close", sessionId=session)
    assert "Traceback" not in raw.close()
    log = next((world.home / "af").rglob("events.jsonl")).read_text()
    assert "remember" in log and "def shout" in log
