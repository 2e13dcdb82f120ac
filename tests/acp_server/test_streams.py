"""Proves that what an editor sends is passed on line by line, and that what is no message is answered and goes no further."""

from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("acp")
from agentforge.acp_server.server import Intake

GOOD = b'{"jsonrpc":"2.0","method":"session/cancel","params":{}}'


def taken(*chunks: bytes) -> tuple[list[bytes], list[int]]:
    """What comes out, and the codes of what was refused."""
    refused: list[bytes] = []

    async def run() -> bytes:
        source = asyncio.StreamReader()
        for chunk in chunks:
            source.feed_data(chunk)
        source.feed_eof()
        intake = Intake(source, refuse=refused.append, stop=lambda: None, gone=lambda: False)
        await intake.pass_on()
        return await intake.stream.read()

    out = asyncio.run(run())
    answers = [json.loads(line) for line in refused]
    assert all(one["id"] is None and one["jsonrpc"] == "2.0" for one in answers)
    return out.splitlines(), [one["error"]["code"] for one in answers]


def test_lines_are_passed_on_however_they_are_cut_also_the_last_one_without_an_end() -> None:
    assert taken(GOOD[:9], GOOD[9:] + b"\n" + GOOD[:3], GOOD[3:]) == ([GOOD, GOOD], [])
    assert taken(b"\n\r\n", GOOD + b"\n") == ([GOOD], [])


@pytest.mark.parametrize("line", [b"no json", b"\xff\xfe\x00", b'{"jsonrpc": "2.0"', b"[" * 100_000])
def test_a_line_that_is_no_json_is_answered(line: bytes) -> None:
    assert taken(line + b"\n" + GOOD + b"\n") == ([GOOD], [-32700])


@pytest.mark.parametrize(
    "line", [b"[]", b"null", b"5", b'"text"', b'{"id": [1], "result": {}}', b'{"id": {}, "method": "x"}']
)
def test_json_that_is_no_message_is_answered(line: bytes) -> None:
    assert taken(line + b"\n" + GOOD + b"\n") == ([GOOD], [-32600])
