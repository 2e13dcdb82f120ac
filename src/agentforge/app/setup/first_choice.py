"""A first choice of a model: what a provider is known to have, and what is checked before a word of it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from agentforge.app.setup.session_diagnostics import answering
from agentforge.app.setup.setup_run import Setup
from agentforge.config.model_choice import LOCAL_SERVERS, running_server
from agentforge.config.settings import load
from agentforge.errors import ModelAuthError, ModelUnavailable, UsageError
from agentforge.frozen import dataclass
from agentforge.models import PROVIDERS

_TIMEOUT_S = 5.0
_MOST_BYTES = 4_000_000
_PREFIXES = (("sk-or-", "openrouter"), ("sk-ant-", "anthropic"), ("sk-", "openai"))
"""How keys begin, the longest beginning first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a server offers.

    Attributes:
        base_url: where its API begins.
        names: of its models; those that only embed text stand last.
    """

    base_url: str
    names: tuple[str, ...]


def provider_of(key: str) -> str:
    """The provider whose keys begin like this one; "" where that cannot be seen."""
    return next((provider for prefix, provider in _PREFIXES if key.startswith(prefix)), "")


def offer_of(address: str, *, key: str = "") -> Offer:
    """Ask an OpenAI-compatible server for its models; `/v1` is added where the address needs it.

    Raises:
        UsageError: it is no http address, or what answers there is no such server.
        ModelAuthError: it wants a key, or another one.
        ModelUnavailable: nothing answers within five seconds.
    """
    whole = address.strip().rstrip("/")
    whole = whole if "://" in whole else f"http://{whole}"
    if urlsplit(whole).scheme not in ("http", "https") or not urlsplit(whole).hostname:
        raise UsageError(f"{address!r} is not an address of a server", hint="for example http://127.0.0.1:8080/v1")
    tried = (whole,) if urlsplit(whole).path.rstrip("/").endswith("/v1") else (whole, f"{whole}/v1")
    for base_url in tried:
        names = _names(base_url, key)
        if names:
            return Offer(base_url=base_url, names=tuple(sorted(names, key=lambda name: "embed" in name.lower())))
    raise UsageError(
        f"{tried[-1]}/models names no models, so no OpenAI-compatible server answers there",
        hint="is the address right?",
    )


def checked(setup: Setup, folder: Path, environ: Mapping[str, str]) -> str:
    """Ask the model of a set-up for one word, before it is written.

    Returns:
        "" where it answers, else why not and what to do.
    Side effects: one request of some twenty tokens.
    """
    facts = PROVIDERS[setup.provider]
    tried = dict(environ) | ({facts.key or "API_KEY": setup.key} if setup.key else {})
    flags = {"model.provider": setup.provider, "model.name": setup.model or facts.name}
    found = answering(
        load(folder, tried, flags={**flags, **({"model.base_url": setup.base_url} if setup.base_url else {})}), tried
    )
    return "" if found.status == "ok" else f"{found.message} - {found.detail}".removesuffix(" - ")


def _names(base_url: str, key: str) -> tuple[str, ...]:
    """The models that a server names; () where what answers is something else."""
    headers = {"User-Agent": "agentforge", **({"Authorization": f"Bearer {key}"} if key else {})}
    try:
        with urlopen(Request(f"{base_url}/models", headers=headers), timeout=_TIMEOUT_S) as answer:
            value = json.loads(answer.read(_MOST_BYTES))
        return tuple(str(row["id"]) for row in value["data"])
    except HTTPError as exc:
        if exc.code in (401, 403):
            raise ModelAuthError(f"{base_url} wants {'another' if key else 'a'} key ({exc.code})") from exc
        return ()
    except OSError as exc:
        reason = getattr(exc, "reason", exc)
        raise ModelUnavailable(
            f"could not reach {base_url}: {getattr(reason, 'strerror', None) or reason}", hint="is the server running?"
        ) from exc
    except (ValueError, LookupError, TypeError):
        return ()


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
