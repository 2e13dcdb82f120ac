"""A reply of the model as it is recorded.

A reply without tool calls that holds an artifact all the same: weak models answer with a JSON block.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from agentforge.agent.spec import AgentSpec
from agentforge.events import kinds
from agentforge.events.state.attempt import Turn
from agentforge.messages import ModelReply, ToolCall
from agentforge.tools.base import Observation, failed


def replied(step: int, reply: ModelReply, spec: AgentSpec) -> kinds.ModelReplied:
    """What was answered, without secrets, and what it cost."""
    reply = _encodable(_with_submission(reply, spec))
    return kinds.ModelReplied(
        step=step,
        text=spec.policy.scrub(reply.text),
        tool_calls=tuple(
            {"call_id": call.call_id, "name": call.name, "arguments": spec.policy.scrub(call.arguments)}
            for call in reply.tool_calls
        ),
        finish=reply.finish,
        usage={
            "prompt_tokens": reply.usage.prompt_tokens,
            "completion_tokens": reply.usage.completion_tokens,
            "cached_tokens": reply.usage.cached_tokens,
            "cache_write_tokens": reply.usage.cache_write_tokens,
            "reported": int(reply.usage_reported),
        },
        model=reply.model,
        cost_usd=spec.price(reply),
        requests=reply.requests,
        duration_ms=reply.duration_ms,
        thinking=spec.policy.scrub(reply.thinking),
        sent=reply.sent,
        others=tuple(spec.policy.scrub(text) for text in reply.others),
        failed=tuple({**one, "message": spec.policy.scrub(one["message"])} for one in reply.failed),
        unseen=tuple(spec.policy.scrub(name) for name in reply.unseen),
        kept=tuple(one for one in reply.kept if not _tells_a_secret(one, spec)),
    )


def cut_short(turn: Turn, index: int) -> Observation | None:
    """What the model is told of a call in which the output limit cut its reply off; None where the call is whole."""
    call = turn.calls[index]
    if turn.finish != "length" or index != len(turn.calls) - 1 or _holds_arguments(call.arguments):
        return None
    return failed(
        f"{call.name} was not run: the reply was cut off at the output limit in the middle of the call",
        error_type="cut-off",
        text="The reply was cut off at the output limit in the middle of this call. Nothing was executed.",
        next_actions=("do less in one reply, and write a long file in several pieces",),
    )


def _holds_arguments(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value)


def _encodable(reply: ModelReply) -> ModelReply:
    """A reply that can be written everywhere: JSON can name halves of a character, which no encoding has."""
    calls = tuple(replace(call, name=_text(call.name), arguments=_text(call.arguments)) for call in reply.tool_calls)
    others = tuple(_text(text) for text in reply.others)
    return replace(reply, text=_text(reply.text), thinking=_text(reply.thinking), tool_calls=calls, others=others)


def _text(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _with_submission(reply: ModelReply, spec: AgentSpec) -> ModelReply:
    """A reply that only holds an artifact as JSON text is taken as the call that it means."""
    found = None if reply.tool_calls or "submit_artifact" not in spec.tools else artifact_in(reply.text)
    if found is None:
        return reply
    arguments = json.dumps({"artifact": found}, ensure_ascii=False)
    return replace(reply, tool_calls=(ToolCall(call_id="text", name="submit_artifact", arguments=arguments),))


def _tells_a_secret(value: object, spec: AgentSpec) -> bool:
    """Whether what can be read in a kept block holds a secret: it is sealed, so it is kept as it is or not at all."""
    if isinstance(value, Mapping):
        sealed = ("signature", "data", "encrypted_content", "id")
        return any(_tells_a_secret(inner, spec) for name, inner in value.items() if name not in sealed)
    if isinstance(value, list | tuple):
        return any(_tells_a_secret(inner, spec) for inner in value)
    return isinstance(value, str) and spec.policy.scrub(value) != value


_FENCE = "```"


def artifact_in(text: str) -> dict[str, object] | None:
    """Read the one JSON object that a reply consists of, bare or in a fence; None when there is none or more than one."""
    blocks = _fenced(text) or [text]
    if len(blocks) != 1:
        return None
    try:
        value = json.loads(blocks[0])
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value:
        return None
    inner = value.get("artifact")
    return inner if isinstance(inner, dict) and len(value) == 1 else value


def last_artifact_in(text: str) -> dict[str, object] | None:
    """Read the last JSON object that stands in a fence of a longer text, or the text itself; None when there is none."""
    for block in reversed(_fenced(text)):
        found = artifact_in(block)
        if found is not None:
            return found
    return artifact_in(text)


def _fenced(text: str) -> list[str]:
    """The contents of the fenced blocks that say they are JSON, or say nothing; an open end closes at the end."""
    blocks: list[str] = []
    inside: list[str] | None = None
    language = ""
    for line in [*text.split("\n"), _FENCE]:
        if inside is None and line.strip().startswith(_FENCE):
            inside, language = [], line.strip().removeprefix(_FENCE).strip().lower()
        elif inside is not None and line.strip() == _FENCE:
            blocks += ["\n".join(inside)] if language in ("", "json") and any(inside) else []
            inside = None
        elif inside is not None:
            inside.append(line)
    return blocks
