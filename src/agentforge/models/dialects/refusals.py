"""The error table: which error an HTTP status and the provider's words stand for, and how long to wait. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from agentforge.errors import (
    ContextTooLong,
    ModelAuthError,
    ModelError,
    ModelNotFound,
    ModelRateLimited,
    ModelReplyBroken,
    ModelRequestRejected,
    ModelUnavailable,
)

MAX_WAIT_S = 60.0
_SHOWN_CHARACTERS = 300

_TOO_LONG = (
    "context_length_exceeded",  # OpenAI, and most that imitate it
    "exceed_context_size",  # llama.cpp
    "maximum context length",  # OpenAI, vLLM, OpenRouter, Mistral
    "prompt is too long",  # Anthropic
    "exceed context limit",  # Anthropic: input and max_tokens together
    "context window",  # xAI, Groq, Cohere
    "context size has been exceeded",  # LM Studio
    "exceeds the available context size",  # llama.cpp
    "input token count",  # Google
    "reduce the length of the messages",  # Groq
    "request_too_large",  # Anthropic, 413
)


_NO_TOOLS = (
    "does not support tools",  # Ollama
    "support tool use",  # OpenRouter: no endpoint that does
    "tools is not supported",  # Groq, DeepSeek, Hugging Face
    "tools are not supported",
    "tool use is not supported",
    "tool calling is not supported",
    "function calling is not",  # Google, Azure
    "enable-auto-tool-choice",  # vLLM, started without it
    "requires --jinja",  # llama.cpp, started without it
)
_NO_STREAM = (
    "stream is not supported",
    "streaming is not supported",
    "does not support stream",
    "stream must be false",
)
_ABOUT_TOOLS = (
    "this model calls no tools, and the agent works by them: choose another model, or start its server so that tools are"
    " allowed (vLLM: --enable-auto-tool-choice, llama.cpp: --jinja)"
)
ABOUT_STREAM = "this model or its server sends no stream, and it refuses whole replies, too: choose another"


def error_for_status(status: int, body: str, *, model: str, secret: str = "") -> ModelError:
    """Choose the narrowest error for a refused request.

    Args:
        body: what the provider sent; its own message is shown, cut to 300 characters.
        secret: the API key; never shown, even where the provider repeats it.
    """
    if status == 200:  # a sign-in page of the network, a web site: no provider of models
        return ModelReplyBroken(
            f"{model}: a web page came back, no reply",
            hint="check the base URL, and whether the network wants a sign-in",
        )
    said = _provider_words(body, secret=secret)
    shown = f": {said}" if said else ""
    if status in (401, 403):
        return ModelAuthError(
            f"{model} refused the key ({status}){shown}",
            hint="check the provider's API key; `agentforge init` takes another",
        )
    if status == 413 or (status in (400, 422, 500) and any(phrase in body.lower() for phrase in _TOO_LONG)):
        return ContextTooLong(f"the prompt is too long for {model} ({status}){shown}", hint=_longer(model))
    lacking = _lacking(body.lower()) if 400 <= status <= 501 else ""
    if lacking:
        return ModelRequestRejected(f"{model} rejected the request ({status}){shown}", hint=lacking)
    if status == 404:
        return ModelNotFound(f"{model} is not known there (404){shown}", hint="check the model's name and the base URL")
    if status == 429:
        return ModelRateLimited(
            f"{model} has reached its rate limit (429){shown}", hint="wait, or add a fallback model"
        )
    if status >= 500:
        return ModelUnavailable(f"{model} is unavailable ({status}){shown}", hint="wait, or add a fallback model")
    hint = "redirects are not followed: set the base URL to where it leads" if 300 <= status < 400 else ""
    return ModelRequestRejected(f"{model} rejected the request ({status}){shown}", hint=hint)


def _lacking(body: str) -> str:
    """What the model or its server cannot do that the agent needs, and what to do about it; "" for every other refusal."""
    if any(phrase in body for phrase in _NO_TOOLS):
        return _ABOUT_TOOLS
    return ABOUT_STREAM if any(phrase in body for phrase in _NO_STREAM) else ""


def _longer(model: str) -> str:
    """What to do about a context that is too small: on this machine it can be larger."""
    return "serve it with more: agentforge config set local.context 16384" if model.startswith("local/") else ""


def retry_after_s(headers: Mapping[str, str], *, now: float) -> float | None:
    """Read `Retry-After`, in seconds or as an HTTP date.

    Args:
        headers: names in lower case.
        now: seconds since the epoch.
    Returns:
        Seconds between 0 and 60; None when the header is missing or unreadable.
    Source: RFC 9110 section 10.2.3.
    """
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except ValueError:
            return None
    return None if math.isnan(seconds) else min(MAX_WAIT_S, max(0.0, seconds))


def back_off_s(number: int, *, jitter: float) -> float:
    """How long to wait after a failed request: 1, 2, 4 ... seconds, less up to a half.

    Args:
        number: of the failed request, from 1.
        jitter: 0 (wait in full) to 1 (wait half).
    """
    return float(min(MAX_WAIT_S, 2.0 ** (number - 1))) * (1.0 - jitter / 2.0)


def _provider_words(body: str, *, secret: str) -> str:
    words = " ".join(_message_of(body).split())
    if secret:
        words = words.replace(secret, "***")
    return words if len(words) <= _SHOWN_CHARACTERS else f"{words[:_SHOWN_CHARACTERS]}..."


def _message_of(body: str) -> str:
    """The message inside the JSON that providers wrap it in; the body itself when it is something else."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    for key in ("error", "message", "detail"):
        if isinstance(value, dict) and value.get(key):
            value = value[key]
    return value if isinstance(value, str) else json.dumps(value)
