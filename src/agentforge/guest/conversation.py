"""One prompt to a guest by the Agent Client Protocol, version 1: from `initialize` to the end of its turn.

The guest works with its own tools: it is offered neither files nor terminals of ours. What it asks permission for is decided
by a rule, because nobody is there.

JSON-RPC over two descriptors, one message a line; nothing blocks beyond its deadline.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable, Mapping
from typing import Any

from agentforge import __version__
from agentforge.errors import ToolchainError
from agentforge.frozen import dataclass
from agentforge.guest.report import GuestReport

VERSION = 1
Permit = Callable[[Mapping[str, Any]], str]
"""Judges a tool call of a guest: "" lets it pass, else why not."""

_GRACE_S = 5.0
_GREETING_S = 60.0
_NO_METHOD, _AUTH_REQUIRED = -32601, -32000


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a guest is given.

    Attributes:
        cwd: the workspace as the guest sees it.
        auth: how it is logged in, "" = not at all.
        calls: tool calls before it is stopped.
        permit: judges what it asks for.
    """

    cwd: str
    auth: str
    calls: int
    permit: Permit


class Conversation:
    """Speaks to one guest.

    Args:
        deadline: of time.monotonic; the guest is stopped then.
    """

    def __init__(self, wire: GuestWire, terms: Terms, *, deadline: float) -> None:
        self.report = GuestReport()
        self._wire = wire
        self._terms = terms
        self._deadline = deadline
        self._requests = 0
        self._session = ""

    def hold(self, prompt: str) -> GuestReport:
        """Greet the guest, give it the prompt, and follow it until its turn ends or a limit ends it.

        Raises:
            ToolchainError: it is no agent of this protocol, wants a login, or broke off.
        """
        try:
            self._greet()
            result = self._prompted(prompt)
        except WireClosed as exc:
            raise ToolchainError(f"the agent ended in the middle of its work{self._noise()}", hint=_BY_HAND) from exc
        self.report.ended = self.report.ended or str(result.get("stopReason", ""))
        self.report.count_usage(result.get("usage"))
        return self.report

    def _greet(self) -> None:
        deadline = min(self._deadline, time.monotonic() + _GREETING_S)
        try:
            hello = self._asked("initialize", _hello(), deadline=deadline)
            if hello.get("protocolVersion") != VERSION:
                told = f"the agent speaks version {hello.get('protocolVersion')!r} of the protocol, not {VERSION}"
                raise ToolchainError(told, hint="use another version of the agent")
            self.report.agent = _name_of(hello)
            if self._terms.auth:
                self._asked("authenticate", {"methodId": self._terms.auth}, deadline=deadline)
            opened = self._asked("session/new", {"cwd": self._terms.cwd, "mcpServers": []}, deadline=deadline)
        except DeadlinePassed as exc:
            raise ToolchainError(f"the agent does not answer{self._noise()}", hint=_BY_HAND) from exc
        self._session = str(opened.get("sessionId", ""))

    def _prompted(self, prompt: str) -> Message:
        asked = {"sessionId": self._session, "prompt": [{"type": "text", "text": prompt}]}
        number = self._send("session/prompt", asked, deadline=self._deadline)
        try:
            return self._answer_to(number, "session/prompt", deadline=self._deadline)
        except DeadlinePassed:
            return self._stopped(number, "timeout")
        except _TooManyCalls:
            return self._stopped(number, "calls")

    def _stopped(self, number: int, why: str) -> Message:
        """Ask the guest to stop; one that does not is killed by whoever started it."""
        self.report.ended = why
        deadline = time.monotonic() + _GRACE_S
        try:
            cancel = {"method": "session/cancel", "params": {"sessionId": self._session}}
            self._wire.send(cancel, deadline=deadline)
            return self._answer_to(number, "session/prompt", deadline=deadline)
        except (DeadlinePassed, WireClosed, ToolchainError):
            return {}

    def _asked(self, method: str, params: Message, *, deadline: float) -> Message:
        return self._answer_to(self._send(method, params, deadline=deadline), method, deadline=deadline)

    def _send(self, method: str, params: Message, *, deadline: float) -> int:
        self._requests += 1
        self._wire.send({"id": self._requests, "method": method, "params": params}, deadline=deadline)
        return self._requests

    def _answer_to(self, number: int, method: str, *, deadline: float) -> Message:
        """Serve the guest until it answers a request."""
        while True:
            message = self._wire.receive(deadline=deadline)
            if "method" in message:
                self._serve(message, deadline=deadline)
            elif message.get("id") == number:
                if "error" in message:
                    raise _refused(method, message["error"])
                result = message.get("result")
                return result if isinstance(result, dict) else {}

    def _serve(self, message: Message, *, deadline: float) -> None:
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if message["method"] == "session/update":
            update = params.get("update")
            if isinstance(update, dict):
                self.report.add(update)
            if self.report.calls > self._terms.calls and not self.report.ended:
                raise _TooManyCalls
        elif message["method"] == "session/request_permission" and "id" in message:
            outcome = self._decided(params)
            self._wire.send({"id": message["id"], "result": {"outcome": outcome}}, deadline=deadline)
        elif "id" in message:
            error = {"code": _NO_METHOD, "message": f"{message['method']} is not offered: use your own tools"}
            self._wire.send({"id": message["id"], "error": error}, deadline=deadline)

    def _decided(self, params: Message) -> Message:
        call = params.get("toolCall")
        call = call if isinstance(call, dict) else {}
        why_not = "its turn was stopped" if self.report.ended else self._terms.permit(call)
        self.report.permissions.append(
            {
                "title": str(call.get("title") or call.get("toolCallId") or "")[:200],
                "kind": str(call.get("kind") or "other"),
                "allowed": not why_not,
                "reason": why_not,
            }
        )
        wanted = ("reject_once", "reject_always") if why_not else ("allow_once", "allow_always")
        options = [option for option in params.get("options") or [] if isinstance(option, dict)]
        for kind in wanted:
            for option in options:
                if option.get("kind") == kind:
                    return {"outcome": "selected", "optionId": option.get("optionId")}
        return {"outcome": "cancelled"}

    def _noise(self) -> str:
        return f": {self._wire.noise}" if self._wire.noise else ""


_BY_HAND = "run its command by hand to see what it says; see docs/agents-as-workers.md"


class _TooManyCalls(Exception):
    """The guest made more tool calls than it may."""


def _hello() -> Message:
    return {
        "protocolVersion": VERSION,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        "clientInfo": {"name": "agentforge", "title": "AgentForge", "version": __version__},
    }


def _name_of(hello: Message) -> str:
    info = hello.get("agentInfo")
    return f"{info.get('name', '')} {info.get('version', '')}".strip()[:100] if isinstance(info, dict) else ""


def _refused(method: str, error: object) -> ToolchainError:
    told = error if isinstance(error, dict) else {}
    message = f"the agent refused {method}: {str(told.get('message', error))[:300]}"
    if told.get("code") == _AUTH_REQUIRED:
        return ToolchainError(message, hint="log it in: agent_env, agent_read or agent_auth in its stage's settings")
    return ToolchainError(message, hint=_BY_HAND)


Message = dict[str, Any]

_LONGEST_LINE = 16 * 1024 * 1024
_CHUNK = 65_536


class WireClosed(Exception):
    """The other side is gone."""


class DeadlinePassed(Exception):
    """Nothing came in time."""


class GuestWire:
    """One end of a connection.

    Attributes:
        noise: the last line that was no message; programs greet people on their standard output.
    """

    def __init__(self, reader: int, writer: int) -> None:
        self.noise = ""
        self._reader = reader
        self._writer = writer
        self._pending = bytearray()
        self._lines: list[bytes] = []
        os.set_blocking(writer, False)

    def send(self, message: Message, *, deadline: float) -> None:
        """Send one message.

        Args:
            deadline: of time.monotonic.
        Raises:
            WireClosed: the other side reads no more.
            DeadlinePassed: it does not read.
        """
        data = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        while data:
            _await(self._writer, select.POLLOUT, deadline)
            try:
                data = data[os.write(self._writer, data) :]
            except BrokenPipeError as exc:
                raise WireClosed from exc

    def receive(self, *, deadline: float) -> Message:
        """Wait for the next message; lines that are none are left out.

        Raises:
            WireClosed: the other side ended.
            DeadlinePassed: nothing came in time.
            ToolchainError: a line without end.
        """
        while True:
            while self._lines:
                found = self._message(self._lines.pop(0))
                if found is not None:
                    return found
            self._read(deadline)

    def _read(self, deadline: float) -> None:
        _await(self._reader, select.POLLIN, deadline)
        chunk = os.read(self._reader, _CHUNK)
        if not chunk:
            raise WireClosed
        self._pending += chunk
        *whole, rest = bytes(self._pending).split(b"\n") if b"\n" in chunk else [bytes(self._pending)]
        self._lines += whole
        self._pending = bytearray(rest)
        if len(self._pending) > _LONGEST_LINE:
            raise ToolchainError(
                f"the agent wrote a line of more than {_LONGEST_LINE} bytes", hint="its messages are one a line"
            )

    def _message(self, line: bytes) -> Message | None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and ("method" in value or "id" in value):
            return value
        if line.strip():
            self.noise = line.decode("utf-8", "replace").strip()[:300]
        return None


def _await(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
        raise DeadlinePassed
