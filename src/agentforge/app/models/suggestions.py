"""Models that a provider is known to have: from the offline price list, and what a server on this machine says it has."""

from __future__ import annotations

from agentforge.config.model_choice import LOCAL_SERVERS, running_server
from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSuggestion:
    """A model that could be chosen.

    Attributes:
        context_window: tokens, None = not known.
        usd_in, usd_out: per million tokens, None = not known.
    """

    name: str
    context_window: int | None = None
    usd_in: float | None = None
    usd_out: float | None = None


def suggestions(provider: str) -> tuple[ModelSuggestion, ...]:
    """Name the models of a provider; () when nothing is known of them."""
    if provider in {server.provider for server in LOCAL_SERVERS}:
        found = running_server()
        return (ModelSuggestion(name=found.model),) if found is not None and found.provider == provider else ()
    from genai_prices import data

    known = next((one for one in data.providers if one.id == provider), None)
    if known is None:
        return ()
    alive = [model for model in known.models if model.deprecated is None]
    return tuple(
        ModelSuggestion(
            name=model.id,
            context_window=model.context_window,
            usd_in=_price(model.prices, "input_mtok"),
            usd_out=_price(model.prices, "output_mtok"),
        )
        for model in alive
    )


def _price(prices: object, name: str) -> float | None:
    """A plain price; one that depends on time or size is left out."""
    value = getattr(prices, name, None)
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
