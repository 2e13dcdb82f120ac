"""Models behind pydantic-ai: providers with wire formats of their own (extra `providers`). Their retries are ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from agentforge.cancellation import pause
from agentforge.errors import (
    ModelAuthError,
    ModelError,
    ModelNotConfigured,
    ModelReplyBroken,
    ModelReplyEndless,
    ModelUnavailable,
)
from agentforge.installation import command_for
from agentforge.messages import FinishReason, Message, ModelReply, ModelRequest, ToolCall, Usage
from agentforge.models.api.abilities import blind, unseen
from agentforge.models.api.model import ModelSpec
from agentforge.models.api.prices import estimate_usage
from agentforge.models.dialects.dialect import arguments_object
from agentforge.models.dialects.refusals import back_off_s, error_for_status
from agentforge.models.transport.wire import MAX_REQUESTS, RETRIED

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, UserPromptPart
    from pydantic_ai.models import Model as ForeignModel, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings


_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    "tool_call": "tool_calls",
}


_SEEING = ("google", "bedrock")
"""Providers behind foreign libraries whose models take images."""


class AdaptedModel:
    """A model that pydantic-ai reaches.

    Args:
        build: makes pydantic-ai's model; called with the first request.
        sleep: waits between tries.
    """

    def __init__(
        self, spec: ModelSpec, build: Callable[[ModelSpec], ForeignModel], *, sleep: Callable[[float], None] = pause
    ) -> None:
        self.name = spec.full_name
        self._spec = spec
        self._build = build
        self._sleep = sleep
        self._model: ForeignModel | None = None

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Ask for one reply, at most four times."""
        number = 0
        while True:
            number += 1
            try:
                return self._ask(request, on_delta, number)
            except ModelError as exc:
                exc.requests = number
                if number == MAX_REQUESTS or not isinstance(exc, RETRIED):
                    raise
            self._sleep(back_off_s(number, jitter=0.5))

    def close(self) -> None:
        """Forget the connection; asking again opens another."""
        self._model = None

    def _ask(self, request: ModelRequest, on_delta: Callable[[str], None] | None, number: int) -> ModelReply:
        started = time.monotonic()
        response = self._response(request, on_delta)
        calls = tuple(
            ToolCall(call_id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_json_str())
            for part in response.tool_calls
        )
        text, thinking = response.text or "", response.thinking or ""
        usage = response.usage
        counted = Usage(
            prompt_tokens=usage.input_tokens,
            completion_tokens=usage.output_tokens,
            cached_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
        )
        reported = bool(usage.input_tokens or usage.output_tokens)
        finish = _FINISH.get(response.finish_reason or "stop", "stop")
        return ModelReply(
            text=text,
            tool_calls=calls,
            finish="tool_calls" if calls and finish == "stop" else finish,
            usage=counted if reported else estimate_usage(request, text, thinking, calls),
            model=self.name,
            thinking=thinking,
            requests=number,
            duration_ms=round((time.monotonic() - started) * 1000),
            usage_reported=reported,
            unseen=unseen(request, sees=self.name.partition("/")[0] in _SEEING),
            kept=({"by": self.name, "block": _dumped(response)},) if calls else (),
        )

    def _response(self, request: ModelRequest, on_delta: Callable[[str], None] | None) -> ModelResponse:
        from pydantic_ai import exceptions
        from pydantic_ai.direct import model_request_stream_sync

        try:
            with model_request_stream_sync(
                self._opened(),
                _messages(request.messages, self.name),
                model_settings=_settings(request, self._spec),
                model_request_parameters=_parameters(request),
            ) as stream:
                for piece in _pieces(stream, within_s=self._spec.reply_timeout_s, name=self.name):
                    if on_delta is not None:
                        on_delta(piece)
                response = stream.response
        except exceptions.ModelHTTPError as exc:
            secret = self._spec.api_key
            raise error_for_status(exc.status_code, str(exc.body), model=self.name, secret=secret) from exc
        except exceptions.UnexpectedModelBehavior as exc:
            raise ModelReplyBroken(f"the reply of {self.name} cannot be read: {self._words(exc)}") from exc
        except exceptions.UserError as exc:
            raise ModelNotConfigured(f"{self.name}: {self._words(exc)}") from exc
        except (exceptions.ModelAPIError, OSError) as exc:
            raise ModelUnavailable(f"{self.name} does not answer: {self._words(exc)}") from exc
        except ModelError:
            raise
        except Exception as exc:  # each vendor's library raises its own
            raise _foreign(exc, self.name, self._words(exc)) from exc
        if response.finish_reason is None and not response.parts:
            raise ModelReplyBroken(f"the reply of {self.name} ended without a finish reason")
        return response

    def _opened(self) -> ForeignModel:
        if self._model is None:
            try:
                self._model = self._build(self._spec)
            except ImportError as exc:
                raise ModelNotConfigured(
                    f"{self.name} needs the extra `providers`", hint=command_for("providers")
                ) from exc
        return self._model

    def _words(self, exc: Exception) -> str:
        words = " ".join(str(exc).split())[:300]
        return words.replace(self._spec.api_key, "***") if self._spec.api_key else words


def _foreign(exc: Exception, name: str, words: str) -> ModelError:
    """What an error of a vendor's own library stands for, by what such errors usually carry."""
    response = getattr(exc, "response", None)
    meta = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
    status = getattr(exc, "status_code", None) or meta.get("HTTPStatusCode")
    if isinstance(status, int):
        return error_for_status(status, words, model=name)
    if "credential" in words.lower():
        return ModelAuthError(f"{name}: {words}", hint="check the provider's credentials")
    return ModelUnavailable(f"{name} does not answer: {type(exc).__name__}: {words}")


def _pieces(stream: Any, *, within_s: float, name: str) -> Iterator[str]:
    """The text of a stream, piece by piece.

    Raises:
        ModelReplyEndless: it goes on for longer.
    """
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    began = time.monotonic()
    for event in stream:
        if time.monotonic() - began > within_s:
            raise ModelReplyEndless(
                f"{name} still sends after {within_s:.0f} s, and the reply has no end",
                hint="ask another model, or raise model.reply_timeout_s",
            )
        if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart) and event.part.content:
            yield event.part.content
        elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
            yield event.delta.content_delta


def _settings(request: ModelRequest, spec: ModelSpec) -> ModelSettings:
    limit = spec.max_output_tokens
    temperature = spec.temperature if request.temperature is None else request.temperature
    wishes = {
        "max_tokens": min(limit or request.max_output_tokens, request.max_output_tokens),
        "temperature": temperature,
        "request_timeout": spec.read_timeout_s,
        "stop_sequences": list(request.stop) or None,
        "seed": request.seed,
        "thinking": request.reasoning or spec.reasoning or None,
    }
    return cast("ModelSettings", {name: value for name, value in wishes.items() if value is not None})


def _parameters(request: ModelRequest) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters))
        for tool in request.tools
    ]
    return ModelRequestParameters(function_tools=tools, allow_text_output=True)


def _messages(messages: Sequence[Message], name: str) -> list[ModelMessage]:
    """Our messages as theirs; what this model wrote itself goes back as it wrote it."""
    from pydantic_ai.messages import ModelRequest as Asked, SystemPromptPart, ToolReturnPart

    names = {call.call_id: call.name for message in messages for call in message.tool_calls}
    made: list[ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            made.append(_said(message, name))
            continue
        part: Any
        if message.role == "tool":
            called = str(message.tool_call_id)
            part = ToolReturnPart(tool_name=names.get(called, ""), content=message.text, tool_call_id=called)
        else:
            part = SystemPromptPart(content=message.text) if message.role == "system" else _prompt(message, name)
        last = made[-1] if made else None
        if isinstance(last, Asked):
            last.parts = [*last.parts, part]
        else:
            made.append(Asked(parts=[part]))
    return made


def _prompt(message: Message, name: str) -> UserPromptPart:
    """What the user says; with its images where the provider's models see."""
    from pydantic_ai.messages import BinaryContent, UserPromptPart

    if not message.pictures or name.partition("/")[0] not in _SEEING:
        return UserPromptPart(content=blind(message).text)
    pictures = [BinaryContent(data=one.data, media_type=one.media_type) for one in message.pictures]
    return UserPromptPart(content=[message.text, *pictures])


def _said(message: Message, name: str) -> ModelMessage:
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart

    own = [one["block"] for one in message.kept if one.get("by") == name]
    if own:
        (kept,) = ModelMessagesTypeAdapter.validate_python(own)
        asked = {call.call_id for call in message.tool_calls}
        if isinstance(kept, ModelResponse) and {call.tool_call_id for call in kept.tool_calls} == asked:
            return kept
    parts: list[Any] = [TextPart(content=message.text)] if message.text.strip() else []
    parts += [
        ToolCallPart(tool_name=call.name, args=arguments_object(call.arguments), tool_call_id=call.call_id)
        for call in message.tool_calls
    ]
    return ModelResponse(parts=parts)


def _dumped(response: ModelResponse) -> Mapping[str, Any]:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    (value,) = ModelMessagesTypeAdapter.dump_python([response], mode="json")
    return cast("Mapping[str, Any]", value)
