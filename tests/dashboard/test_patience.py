"""Connections that do not say what they want are closed, however many they are; the others are answered all the while."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agentforge.dashboard.server import patient_protocol

_SLOW = 300


async def _application(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def _with_server(use: Callable[[int], Awaitable[Any]], **limits: float) -> Any:
    import uvicorn

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            _application, lifespan="off", log_config=None, http=patient_protocol(**limits), ws="none"
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            return await use(listener.getsockname()[1])
        finally:
            server.should_exit = True
            await serving


async def _opened(port: int, beginning: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            break
        except ConnectionRefusedError:  # it is about to listen
            await asyncio.sleep(0)
    writer.write(beginning)
    return reader, writer


@pytest.mark.parametrize(
    ("beginning", "limits"),
    [
        (b"", {"header_s": 0.3}),
        (b"GET / HTTP/1.1\r\nhost: a\r\nx-slow: ", {"header_s": 0.3}),
        (b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhal", {"body_s": 0.3}),
        (b"GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nx-", {"header_s": 0.3}),
    ],
    ids=["nothing", "headers", "body", "second request"],
)
def test_three_hundred_slow_connections_are_closed(beginning: bytes, limits: dict[str, float]) -> None:
    async def use(port: int) -> None:
        opened = [await _opened(port, beginning) for _ in range(_SLOW)]
        reader, writer = await _opened(port, b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"ok")
        writer.close()
        answers = await asyncio.wait_for(asyncio.gather(*(one.read() for one, _ in opened)), 60)
        assert {answer.count(b"ok") for answer in answers} == {
            1 if beginning.startswith(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n") else 0
        }
        for _, other in opened:
            other.close()

    asyncio.run(_with_server(use, **limits))


def test_an_answer_may_take_longer_than_a_question() -> None:
    async def use(port: int) -> bytes:
        reader, writer = await _opened(port, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        first = await reader.readexactly(len(b"HTTP/1.1 200 OK\r\n"))
        writer.close()
        return first

    assert asyncio.run(_with_server(use, header_s=30, body_s=30)).startswith(b"HTTP/1.1 200")
