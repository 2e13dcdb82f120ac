"""The MCP server as another agent meets it: over pipes and over HTTP, with the SDK's own client."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import httpx2
import pytest

from tests.support.world import REQUEST, World, good_script

pytest.importorskip("mcp")
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def served(world: World, *arguments: str) -> AsyncIterator[Client]:
    command = [sys.executable, "-m", "agentforge", "mcp", *arguments]
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=world.env, cwd=str(world.repo))
    async with Client(parameters) as client:
        yield client


@contextmanager
def over_http(world: World, *arguments: str) -> Iterator[tuple[str, str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "agentforge", "mcp", "--http", *arguments],
        cwd=world.repo,
        env={**world.env, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[1]
        yield address, process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=20)


def value_of(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    return dict(result.structured_content)


def test_another_agent_hands_work_over_answers_for_it_and_asks_for_proof(world: World) -> None:
    model = world.model(good_script())
    heard: list[tuple[float, str]] = []

    async def listen(progress: float, _total: float | None, message: str | None) -> None:
        heard.append((progress, message or ""))

    async def play() -> None:
        async with served(world) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {
                *("start", "status", "escalations", "resolve"),
                *("inspect", "audit", "verify", "compare"),
            }
            assert tools["verify"].annotations.read_only_hint and not tools["start"].annotations.read_only_hint

            begun = value_of(
                await client.call_tool(
                    "start",
                    {"request": REQUEST, "model": model, "approve": ["spec"], "follow_s": 120},
                    progress_callback=listen,
                )
            )
            task = begun["task_id"]
            assert begun["outcome"] == "escalated"
            assert heard and heard[-1][0] > 0

            (waiting,) = value_of(await client.call_tool("escalations", {}))["escalations"]
            assert waiting["address"] == f"{task}.E1" and waiting["kind"] == "approval"
            done = value_of(
                await client.call_tool(
                    "resolve", {"address": waiting["address"], "decision": "approve", "follow_s": 120}
                )
            )
            assert done["outcome"] == "delivered"

            report = value_of(await client.call_tool("verify", {"target": task}))
            assert report["ok"] and report["exit_code"] == 0
            same = value_of(await client.call_tool("compare", {"first": task, "second": task}))
            assert same
            rows = value_of(await client.call_tool("inspect", {"task_id": task, "show": "artifact"}))["rows"]
            assert rows
            document = (await client.call_tool("audit", {"task_id": task})).content[0].text
            assert task in document

            names = {str(resource.uri) for resource in (await client.list_resources()).resources}
            assert f"agentforge://{task}/artifacts/green" in names
            trail = (await client.read_resource(f"agentforge://{task}/trail")).contents[0].text
            assert json.loads(trail.splitlines()[-1])["type"] == "RunFinished"
            for name in names:
                assert (await client.read_resource(name)).contents[0].text

    anyio.run(play)
    (resolved,) = world.events("EscalationResolved")
    assert resolved["data"]["by"].startswith("ann by ")


def test_what_is_wrong_is_told_as_the_error_of_the_tool(world: World) -> None:
    async def play() -> None:
        async with served(world) as client:
            for name, arguments, words in (
                ("status", {"task_id": "task-none"}, "no task"),
                ("start", {"request": "x", "limits": {"max_money": "1"}}, "max_money"),
                ("start", {"request": "x", "model": "nowhere/x"}, "nowhere"),
                ("resolve", {"address": "E1", "decision": "reject"}, "reason"),
                ("resolve", {"address": "E1", "decision": "approve"}, "no escalation"),
                ("verify", {"target": "nothing-of-the-kind"}, "nothing-of-the-kind"),
            ):
                result = await client.call_tool(name, arguments)
                assert result.is_error and words in result.content[0].text, (name, result.content)
            with pytest.raises(Exception, match="no task"):
                await client.read_resource("agentforge://task-none/state")

    anyio.run(play)


def test_over_http_only_the_token_and_names_of_this_machine_open_it(world: World) -> None:
    with over_http(world, "--read-only") as (address, token):
        call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        bearer = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
        assert httpx2.post(address, json=call).status_code == 401
        assert httpx2.post(address, json=call, headers={"authorization": "Bearer x"}).status_code == 401
        assert httpx2.post(address, json=call, headers={**bearer, "host": "evil.example"}).status_code == 421
        assert httpx2.post(address, json=call, headers={**bearer, "origin": "http://evil.example"}).status_code == 403

        async def play() -> None:
            async with (
                httpx2.AsyncClient(headers=bearer) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                names = {tool.name for tool in (await client.list_tools()).tools}
                assert names == {"status", "escalations", "inspect", "audit", "verify", "compare"}
                assert value_of(await client.call_tool("status", {})) == {"tasks": []}

        anyio.run(play)


def test_it_listens_on_this_machine_only(world: World) -> None:
    done = world.run("mcp", "--http", "--host", "0.0.0.0")
    assert done.code == 2 and "other machines" in done.err
