"""What a first choice of a model is checked by before a word of it is written: the key, the address, the names of a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from agentforge.app.setup.session_diagnostics import answering
from agentforge.app.setup.setup_run import Setup
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
