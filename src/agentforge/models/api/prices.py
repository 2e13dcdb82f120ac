"""What a reply cost, from the price list of genai-prices, offline. A model that is not on the list has no price, one on this
machine costs nothing.

Usage of a reply whose provider reported none: our own count over everything sent and received. Pure.
"""

from __future__ import annotations

import json
import re

from agentforge.messages import ModelRequest, ToolCall, Usage
from agentforge.tokens import count_tokens

_LISTED_PROVIDERS = {
    **{name: name for name in ("openai", "anthropic", "openrouter", "google", "groq", "mistral")},
    "bedrock": "aws",
}
"""Our names of providers, and the price list's."""
_KNOWN_FAMILY = re.compile(
    r"gpt|claude|gemini|gemma|llama|mi[sx]tral|codestral|devstral|magistral|qwen|deepseek|grok|kimi|glm|command|nova"
    r"|sonar|minimax|phi|(?:^|/)o\d",
    re.IGNORECASE,
)
_OWN = frozenset({"local", "ollama", "lmstudio", "llamacpp"})
"""Servers of the user's own."""
_HOSTED = ("-cloud", ":cloud")
"""How Ollama names the models that it only passes on to its own service."""
_unpriced: set[str] = set()


def cost_usd(model: str, usage: Usage) -> float | None:
    """Price one reply.

    A `custom` server is priced by the model's name alone, and only where that belongs to a known family: the price list
    costs 0.4 s of CPU to load, so it is never loaded for models that cannot be on it.

    Args:
        model: `provider/name`.
    Returns:
        US dollars; None where the price is unknown.
    Side effects: loads the price list at the first call for a model that may be on it.
    """
    provider, _, name = model.partition("/")
    if provider in _OWN and not name.endswith(_HOSTED):
        return 0.0
    listed = _LISTED_PROVIDERS.get(provider)
    if model in _unpriced or not (listed or (provider == "custom" and _KNOWN_FAMILY.search(name))):
        return None
    from genai_prices import Usage as PricedUsage, calc_price

    priced = PricedUsage(
        input_tokens=usage.prompt_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.completion_tokens,
    )
    try:
        return float(calc_price(priced, name, provider_id=listed).total_price)
    except (LookupError, ValueError):
        _unpriced.add(model)
        return None


def estimate_usage(request: ModelRequest, text: str, thinking: str, tool_calls: tuple[ToolCall, ...]) -> Usage:
    """Count the tokens of a request and of its reply by rule."""
    prompt = sum(count_tokens(message.text) + _calls_tokens(message.tool_calls) for message in request.messages)
    prompt += sum(
        count_tokens(tool.name) + count_tokens(tool.description) + count_tokens(json.dumps(tool.parameters))
        for tool in request.tools
    )
    completion = count_tokens(text) + count_tokens(thinking) + _calls_tokens(tool_calls)
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _calls_tokens(calls: tuple[ToolCall, ...]) -> int:
    return sum(count_tokens(call.name) + count_tokens(call.arguments) for call in calls)
