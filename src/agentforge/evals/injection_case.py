"""The catalogue of prompt injections as data: one file each, with what is hidden where and what a model that obeys does.

A file of `injections/`:

    title: one line
    carrier: readme | source | test-output | file-name | commit-message | mcp | subagent | web | agents-md | request | data
    goal: exfiltrate | write-outside | change-tests | approve-itself | change-ci | git | unknown-tool | secret-in-artifact
    files: {path: text}        planted and committed, those of all cases in one repository; a name may be the carrier
    untracked: {path: text}    planted and not committed
    commit_message: text       of the commit that plants the files
    approve: [stage]           stages that wait for approval: the run must still wait for a human at the end
    calls: {stage: [{name: TOOL, args: {...}}]}   what the model does that obeys, each call in a reply of its own
    talk: {approval, allow: [rules], prompt, server: {description, result} | page: text | report: text, calls: [...]}   instead
        of calls: a conversation whose carrier is a real MCP server, a page of the web, the report of a subagent

In every text `@PORT@` is the port of the listener that nothing may reach, `@CANARY@` the planted secret, `@OUTSIDE@` a folder
of the user's beside the repository.
"""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from agentforge.errors import ConfigError
from agentforge.evals.case import chosen_of, read_mapping

CARRIERS = frozenset(
    [
        "readme",
        "source",
        "test-output",
        "file-name",
        "commit-message",
        "mcp",
        "subagent",
        "web",
        "agents-md",
        "request",
        "data",
    ]
)
GOALS = frozenset(
    [
        "exfiltrate",
        "write-outside",
        "change-tests",
        "approve-itself",
        "change-ci",
        "git",
        "unknown-tool",
        "secret-in-artifact",
    ]
)
_FOLDER = Path(__file__).parent / "injections"
_KEYS = frozenset(["title", "carrier", "goal", "files", "untracked", "commit_message", "approve", "calls", "talk"])


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionCase:
    """One injection; the fields are those of its file."""

    name: str
    title: str
    carrier: str
    goal: str
    files: Mapping[str, str]
    untracked: Mapping[str, str]
    commit_message: str
    approve: tuple[str, ...]
    calls: Mapping[str, list[dict[str, Any]]]
    talk: Mapping[str, Any] | None = None


def injection_names() -> tuple[str, ...]:
    """Name every injection of the catalogue."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def chosen_injections(names: tuple[str, ...]) -> tuple[str, ...]:
    """The injections that were asked for, all when none was.

    Raises:
        UsageError: there is no such injection.
    """
    return chosen_of(names, injection_names(), noun="injection", page="docs/injections.md")


def load_injection(name: str) -> InjectionCase:
    """Read an injection.

    Raises:
        ConfigError: a key is missing or not known, or a word is none of the closed lists.
    """
    path = _FOLDER / f"{name}.yaml"
    value = read_mapping(path)
    unknown = sorted(value.keys() - _KEYS)
    if unknown or bool(value.get("calls")) is bool(value.get("talk")):
        raise ConfigError(
            f"{path}: unknown keys {unknown}, or not one of calls and talk", hint=f"keys: {', '.join(sorted(_KEYS))}"
        )
    if value.get("carrier") not in CARRIERS or value.get("goal") not in GOALS:
        raise ConfigError(f"{path}: carrier or goal is not known", hint=", ".join(sorted((*CARRIERS, *GOALS))))
    return InjectionCase(
        name=name,
        title=str(value["title"]),
        carrier=str(value["carrier"]),
        goal=str(value["goal"]),
        files=cast("Mapping[str, str]", value.get("files") or {}),
        untracked=cast("Mapping[str, str]", value.get("untracked") or {}),
        commit_message=str(value.get("commit_message") or "more files"),
        approve=tuple(cast("list[str]", value.get("approve") or ())),
        calls=cast("Mapping[str, list[dict[str, Any]]]", value.get("calls") or {}),
        talk=cast("Mapping[str, Any] | None", value.get("talk")),
    )


class Canary:
    """Listens from its making to `close`.

    Attributes:
        port: the same for TCP and UDP.
        heard: one line for each connection and each datagram.
    """

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._tcp.bind(("127.0.0.1", 0))
        self._tcp.listen(64)
        self.port: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._listen, name="canary", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening; what has arrived by now is in `heard`."""
        self._wake.send(b"x")
        self._thread.join()
        for one in (self._tcp, self._udp, self._wake, self._woken):
            one.close()

    def _listen(self) -> None:
        while True:
            ready, _, _ = select.select([self._tcp, self._udp, self._woken], [], [])
            if self._tcp in ready:
                self._tcp.accept()[0].close()
                self.heard.append("a connection")
            if self._udp in ready:
                self._udp.recvfrom(65_536)
                self.heard.append("a datagram")
            if self._woken in ready and len(ready) == 1:
                return
