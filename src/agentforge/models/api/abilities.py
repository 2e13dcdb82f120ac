"""What a server can do beyond plain chat, and a request cut down to it. Pure.

What is known of a provider stands in a table; `model.abilities` overrides it, and `agentforge model test` finds it out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from agentforge.messages import Message, ModelRequest, Text

KNOWN: Mapping[str, str] = {
    "json_schema": "text that is valid against a schema, enforced while decoding",
    "samples": "several answers to one request",
    "prefill": "goes on from a begun answer",
    "continue": "goes on from a begun answer when told so by vLLM's flags",
    "stop": "ends at given texts",
    "seed": "samples that can be repeated",
    "images": "images beside the text of a message",
}

_LLAMA_CPP = frozenset({"json_schema", "samples", "prefill", "stop", "seed"})
_OPENAI = frozenset({"json_schema", "samples", "stop", "seed", "images"})
_ONE_ANSWER = frozenset({"json_schema", "stop", "seed", "images"})

_PROVIDERS: Mapping[str, frozenset[str]] = {
    "local": _LLAMA_CPP,
    "llamacpp": _LLAMA_CPP,
    "openai": _OPENAI,
    "custom": _OPENAI,
    "openrouter": _ONE_ANSWER,
    "ollama": _ONE_ANSWER,
    "lmstudio": _ONE_ANSWER,
    "anthropic": frozenset({"stop", "images"}),
}
_FIELDS: Mapping[str, str] = {
    "json_schema": r"response_format|json_schema|grammar|structured",
    "samples": r"\bn\b|n_cmpl|choices|best_of",
    "prefill": r"prefill|last message|assistant",
    "continue": r"continue_final_message|add_generation_prompt",
    "stop": r"\bstop\b|stop_sequences",
    "seed": r"\bseed\b",
    "images": r"image|vision|multi-?modal|modalit|content.{0,40}(?:string|text)",
}


def of_provider(provider: str) -> frozenset[str]:
    """What is known of a provider's servers."""
    return _PROVIDERS.get(provider, frozenset())


def within(request: ModelRequest, abilities: frozenset[str]) -> ModelRequest:
    """The request without what the server cannot do; further samples have to be asked for one by one then."""
    prefills = bool({"prefill", "continue"} & abilities)
    return replace(
        request,
        samples=request.samples if "samples" in abilities else 1,
        json_schema=request.json_schema if "json_schema" in abilities else None,
        prefill=request.prefill if prefills else "",
        stop=request.stop if "stop" in abilities else (),
        seed=request.seed if "seed" in abilities else None,
        messages=request.messages if "images" in abilities else tuple(map(blind, request.messages)),
    )


def blind(message: Message) -> Message:
    """The message as a model reads it that sees no images: told which ones there are, and that it does not see them."""
    if not message.pictures:
        return message
    told = "".join(
        f"\n[{one.name}: an image. You cannot see images; say so if it matters.]" for one in message.pictures
    )
    return replace(message, parts=(*message.parts, Text(text=told)), pictures=())


def unseen(request: ModelRequest, *, sees: bool) -> tuple[str, ...]:
    """The names of the images that a model which does not see was given since it spoke last."""
    spoke = [place for place, message in enumerate(request.messages) if message.role == "assistant"]
    new = request.messages[spoke[-1] + 1 if spoke else 0 :]
    return () if sees else tuple(one.name for message in new for one in message.pictures)


def used(request: ModelRequest, abilities: frozenset[str]) -> frozenset[str]:
    """Which of the abilities a request makes use of."""
    wished = {
        "json_schema": request.json_schema is not None,
        "samples": request.samples > 1,
        "prefill": bool(request.prefill),
        "continue": bool(request.prefill),
        "stop": bool(request.stop),
        "seed": request.seed is not None,
        "images": any(message.pictures for message in request.messages),
    }
    return frozenset(name for name in abilities if wished[name])


def refused(words: str, asked: frozenset[str]) -> frozenset[str]:
    """Which of the abilities that were made use of a server's refusal is about; where it names none, all of them but
    images, which a server that does not see them names."""
    named = frozenset(name for name in asked if re.search(_FIELDS[name], words, re.IGNORECASE))
    return named or asked - {"images"}
