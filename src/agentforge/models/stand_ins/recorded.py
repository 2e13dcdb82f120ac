"""Recordings of a model's replies: the form of a line, and the model that gives the replies again without a server.

A recording is JSONL, one line per reply: {"key": {"stage", "stage_step"}, "request": digest, "reply": {...}}.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentforge.canonical import canonical_bytes, digest_value
from agentforge.errors import ConfigError, ModelRequestRejected
from agentforge.messages import ModelReply, ModelRequest, ToolCall, Usage, reply_value, request_value
from agentforge.models.stand_ins.scripted import place_of


class RecordedModel:
    """Replays a recording. A reply is found by stage and stage_step; of two at one place the later one counts.

    Args:
        strict: refuse where the request is not the one that was recorded; otherwise it is counted.
    Attributes:
        differences: requests so far that were not the recorded ones.
    Raises:
        ConfigError: the file is missing or a line of it cannot be read.
    """

    def __init__(self, path: str | Path, *, strict: bool = False) -> None:
        self.name = f"recorded/{path}"
        self.differences = 0
        self._path = Path(path)
        self._strict = strict
        self._replies = _load(self._path)

    @property
    def stages(self) -> frozenset[str]:
        """The stages of which it has a reply."""
        return frozenset(stage for stage, _ in self._replies)

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Give the reply that was recorded at the request's place.

        Raises:
            ModelRequestRejected: nothing was recorded there; or, when strict, something else was asked then.
        """
        place = place_of(request)
        if place not in self._replies:
            raise ModelRequestRejected(f"recording {self._path} has no reply {place[1]} for stage {place[0]}")
        digest, reply = self._replies[place]
        if digest != digest_value(request_value(request)):
            self.differences += 1
            if self._strict:
                raise ModelRequestRejected(
                    f"request {place[1]} of stage {place[0]} is not the one that was recorded in {self._path}"
                )
        if on_delta is not None and reply.text:
            on_delta(reply.text)
        return reply

    def close(self) -> None:
        """Nothing is open."""


def recorded_line(stage: str, number: int, *, request: Mapping[str, object], reply: ModelReply) -> bytes:
    """One line of a recording, without its end.

    Args:
        number: of the request within its stage, from 1.
        request: as a plain value.
    """
    key = {"stage": stage, "stage_step": number}
    return canonical_bytes({"key": key, "request": digest_value(request), "reply": reply_value(reply)})


def _load(path: Path) -> dict[tuple[str, int], tuple[str, ModelReply]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as exc:
        raise ConfigError(f"recording {path} cannot be read: {exc}") from exc
    replies: dict[tuple[str, int], tuple[str, ModelReply]] = {}
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last line end is torn, or nothing
        try:
            entry = json.loads(line)
            place = str(entry["key"]["stage"]), int(entry["key"]["stage_step"])
            replies[place] = str(entry["request"]), _reply_of(entry["reply"])
        except (ValueError, TypeError, KeyError) as exc:
            raise ConfigError(f"{path}: line {number} is not a recorded reply: {exc!r}") from exc
    return replies


def _reply_of(value: dict[str, Any]) -> ModelReply:
    return ModelReply(
        text=value["text"],
        tool_calls=tuple(ToolCall(**call) for call in value["tool_calls"]),
        finish=value["finish"],
        usage=Usage(**value["usage"]),
        model=value["model"],
        thinking=value.get("thinking", ""),
        others=tuple(value.get("others", ())),
        kept=tuple(value.get("kept", ())),
    )
