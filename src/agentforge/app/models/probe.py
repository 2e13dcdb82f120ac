"""Trying a model: whether it answers, how fast it is, and what its server can do beyond plain chat."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agentforge.config.model_choice import explain
from agentforge.config.settings import Settings
from agentforge.frozen import dataclass
from agentforge.local import Wanted, file_of, living
from agentforge.messages import Message, ModelReply, ModelRequest, Text
from agentforge.models import Model, ModelSpec, of_provider, open_model

_ROLE = "You are a careful programmer. You answer with code only. " + " ".join(
    f"Rule {number}: a function does one thing and has a short name." for number in range(1, 9)
)
_SCHEMA = {
    "type": "object",
    "properties": {"place": {"enum": ["cart.total", "cart.add"]}},
    "required": ["place"],
    "additionalProperties": False,
}
_SAMPLES = 3
_LABELS: Mapping[str, str | int] = {"stage": "PROBE", "stage_step": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What was found out.

    Attributes:
        reason: why this model was tried.
        server: how it is served, for a model on this machine.
        first_s: seconds until the first whole answer, a server's start included.
        prompt_speed, speed: tokens a second, read and written.
        prompt, cached: prompt tokens of a repeated request, and how many of them were not read again.
        checks: what was seen of each ability.
        abilities: what the server can do.
        expected: what was known of it before.
    """

    model: str
    reason: str
    profile: str
    server: str
    first_s: float
    prompt_speed: float
    speed: float
    prompt: int
    cached: int
    checks: Mapping[str, str]
    abilities: frozenset[str]
    expected: frozenset[str]


def probe(flag: str | None, *, settings: Settings, environ: Mapping[str, str]) -> Probed:
    """Ask the model that a run would use, or another one, a few short things.

    Args:
        flag: `PROVIDER/NAME`; None = the one that is chosen here.
    Raises:
        ModelNotConfigured: there is none.
        ModelError: it does not answer.
    Side effects: asks the model some six times, with at most 64 tokens each.
    """
    choice = explain(settings, environ, flag=flag)
    spec = choice.spec
    expected = of_provider(spec.provider) if spec.abilities is None else spec.abilities
    model = open_model(replace(spec, abilities=expected | of_provider("local")))
    try:
        first_s, prompt_speed, speed, repeated = _speeds(model)
        checks = _checks(model)
    finally:
        model.close()
    return Probed(
        model=spec.full_name,
        reason=choice.reason,
        profile=spec.profile,
        server=_server(spec),
        first_s=first_s,
        prompt_speed=prompt_speed,
        speed=speed,
        prompt=repeated.usage.prompt_tokens,
        cached=repeated.usage.cached_tokens,
        checks={name: words for name, (_, words) in checks.items()},
        abilities=frozenset(name for name, (can, _) in checks.items() if can) | (expected & {"images"}),
        expected=expected,
    )


def _request(text: str, tokens: int) -> ModelRequest:
    messages = (
        Message(role="system", parts=(Text(text=_ROLE, stable=True),)),
        Message(role="user", parts=(Text(text=text),)),
    )
    return ModelRequest(messages=messages, max_output_tokens=tokens, temperature=0.2, labels=_LABELS)


def _speeds(model: Model) -> tuple[float, float, float, ModelReply]:
    """Seconds until the first answer; tokens read and written a second; the reply to a repeated request."""
    _, first_s = _timed(model, _request("Say ready.", 1))
    fresh, read_s = _timed(model, _request(f"It is {time.time()}. {_ROLE} Say ready.", 1))
    asked = _request("Write a Python function that adds two numbers, with a docstring.", 32)
    model.complete(asked)
    repeated, wrote_s = _timed(model, asked)
    read = max(1, fresh.usage.prompt_tokens - fresh.usage.cached_tokens)
    return first_s, read / read_s, repeated.usage.completion_tokens / wrote_s, repeated


def _timed(model: Model, request: ModelRequest) -> tuple[ModelReply, float]:
    began = time.monotonic()
    reply = model.complete(request)
    return reply, max(1e-6, time.monotonic() - began)


def _checks(model: Model) -> dict[str, tuple[bool, str]]:
    """What was seen of each ability: whether the server has it, and in words."""
    base = _request("Where is the sum of a cart computed?", 48)
    shaped = model.complete(replace(base, json_schema=_SCHEMA, max_output_tokens=200))
    several = model.complete(replace(base, samples=_SAMPLES, max_output_tokens=4))
    model.complete(replace(base, prefill="It is in", max_output_tokens=4))
    ended = model.complete(replace(base, stop=(" ", "\n", "e"), max_output_tokens=16))
    model.complete(replace(base, seed=7, max_output_tokens=4))
    kept: frozenset[str] = getattr(model, "abilities", frozenset())
    valid, whole = _is_valid(shaped.text), "samples" in kept and len(several.samples) == _SAMPLES
    stops = not any(mark in ended.text.strip() for mark in (" ", "\n", "e"))
    return {
        "json_schema": (
            valid,
            "the answer is valid against the schema" if valid else f"not valid: {shaped.text[:60]!r}",
        ),
        "samples": (whole, f"{_SAMPLES} answers to one request" if whole else "one answer a request"),
        "prefill": _accepted("prefill", kept),
        "stop": ("stop" in kept and stops, "the answer ended there" if stops else "the answer went on"),
        "seed": _accepted("seed", kept),
    }


def _accepted(name: str, kept: frozenset[str]) -> tuple[bool, str]:
    return (True, "accepted") if name in kept else (False, "refused")


def _is_valid(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and value in ({"place": "cart.total"}, {"place": "cart.add"})


def _server(spec: ModelSpec) -> str:
    if spec.provider != "local":
        return ""

    folder = Path(spec.folder)
    served = living(Wanted(folder=folder / "serving", file=file_of(spec.name, folder), wishes=spec.serving))
    if served is None:
        return ""
    lean = ", lean" if served.lean else ""
    return (
        f"process {served.pid}, context {served.context:,}, {served.threads} thread(s), "
        f"{served.parallel} answers at once{lean}, about {served.memory / 1e9:.1f} GB"
    )
