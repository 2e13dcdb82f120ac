"""Which model is asked: by flag, stage, setting, a key in the environment, or a server on this machine.

Where model servers of this machine listen, and which model the first one offers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from typing import cast

from agentforge.config.paths import data_dir, local_dir
from agentforge.config.settings import Settings
from agentforge.errors import ModelNotConfigured
from agentforge.frozen import dataclass
from agentforge.local import check_there, find, kept_models
from agentforge.models import LOCAL_PORTS, PROVIDERS, ModelSpec, Provider, installed_provider

_CONNECT_S = 0.05
_READ_S = 2.0
_MAX_REPLY_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A server that speaks the OpenAI dialect on loopback."""

    provider: str
    port: int

    @property
    def base_url(self) -> str:
        """Where its API begins."""
        return f"http://127.0.0.1:{self.port}/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServer:
    """A server that answered, and its first model."""

    provider: str
    base_url: str
    model: str


LOCAL_SERVERS = tuple(LocalServer(provider=provider, port=port) for provider, port in LOCAL_PORTS.items())


def running_server(servers: tuple[LocalServer, ...] = LOCAL_SERVERS) -> FoundServer | None:
    """Find the first server that listens and offers a model.

    Side effects: one connection per server, at most 50 ms each where nobody listens.
    """
    for server in servers:
        model = _first_model(server) if _listens(server.port) else ""
        if model:
            return FoundServer(provider=server.provider, base_url=server.base_url, model=model)
    return None


def _listens(port: int) -> bool:
    import socket  # only when no model is configured

    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def _first_model(server: LocalServer) -> str:
    """The id of the first model; "" when the answer is not that of a model server."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_READ_S)
    try:
        connection.request("GET", "/v1/models")
        value = json.loads(connection.getresponse().read(_MAX_REPLY_BYTES))
        return str(value["data"][0]["id"])
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return ""
    finally:
        connection.close()


_NO_KEY = frozenset({"scripted", "recorded", "local", "manual", *LOCAL_PORTS})
_GATEWAYS = frozenset({"openrouter", "custom"})
"""Providers whose models may be named after other providers."""
_WAYS = (
    "choose one: agentforge init; or pass --model PROVIDER/NAME; or set ANTHROPIC_API_KEY, OPENAI_API_KEY or "
    "OPENROUTER_API_KEY; or download one for this machine: agentforge model pull; `agentforge demo` needs no model"
)


def facts_of(provider: str) -> Provider | None:
    """What is known of a provider, of ours or of one that another package brings; None when there is none."""
    if provider in PROVIDERS or not provider.isidentifier():
        return PROVIDERS.get(provider)

    module = installed_provider(provider)
    if module is None:
        return None
    key, base_url = str(getattr(module, "KEY", "")), str(getattr(module, "BASE_URL", ""))
    return Provider(opener=module.open_model, key=key, base_url=base_url)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The model that was chosen and, in words, why this one."""

    spec: ModelSpec
    reason: str


def choose(
    settings: Settings, environ: Mapping[str, str], *, flag: str | None = None, stage: str | None = None
) -> ModelSpec:
    """Choose the model for a run, or for one stage of it; see `explain`."""
    return explain(settings, environ, flag=flag, stage=stage).spec


def choose_fallbacks(settings: Settings, environ: Mapping[str, str], *, first: ModelSpec) -> tuple[ModelSpec, ...]:
    """Return the models of `model.fallbacks` that have their key, in order; without a provider the first model's is meant."""
    pairs = _fallback_names(settings, environ, now=first.provider)
    found = [(provider, name) for provider, name in pairs if not _missing_key(provider, environ)]
    return tuple(_spec(settings, environ, provider=provider, name=name) for provider, name in found)


def keyless_fallbacks(settings: Settings, environ: Mapping[str, str], *, now: str) -> tuple[tuple[str, str], ...]:
    """The fallbacks that are left out, each with the variable that would hold its key.

    Args:
        now: the provider that answers first.
    """
    pairs = _fallback_names(settings, environ, now=now)
    return tuple((f"{provider}/{name}", key) for provider, name in pairs if (key := _missing_key(provider, environ)))


def _fallback_names(settings: Settings, environ: Mapping[str, str], *, now: str) -> list[tuple[str, str]]:
    return [named(name, environ, now=now) for name in cast("list[str]", settings.get("model.fallbacks", []))]


def named(name: str, environ: Mapping[str, str], *, now: str) -> tuple[str, str]:
    """Return provider and name of a model that is written beside another one.

    OpenRouter's and others' models have names like `openai/gpt-5.5`: such a name stays with the provider that answers now
    where there is no key for OpenAI itself.

    Args:
        now: the provider that answers now.
    """
    pair = _split(name)
    if pair is None or (now in _GATEWAYS and pair[0] != now and not _is_open(pair[0], environ)):
        return now, name
    return pair


def _is_open(provider: str, environ: Mapping[str, str]) -> bool:
    facts = facts_of(provider)
    return provider in _NO_KEY or (facts is not None and bool(environ.get(facts.key)))


def explain(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    flag: str | None = None,
    stage: str | None = None,
    servers: tuple[LocalServer, ...] = LOCAL_SERVERS,
) -> ModelChoice:
    """Choose a model and say why.

    The first that is given: `flag`, `stages.<stage>.model`, `[model]`, a key in the environment, a server on loopback, the
    catalogue's own model where it was pulled.

    Args:
        flag: `PROVIDER/NAME` of the command line.
        servers: where servers on this machine are looked for.
    Raises:
        ModelNotConfigured: nothing was chosen or found, or what was chosen lacks its provider, name, key or URL.
    Side effects: connects to loopback, only when nothing else is set.
    """
    named = _named(settings, flag=flag, stage=stage)
    if named is not None:
        model, reason = named
        provider, name = _must_split(model, reason)
        return ModelChoice(spec=_spec(settings, environ, provider=provider, name=name), reason=reason)
    if settings.get("model.provider") or settings.get("model.name"):
        return _from_model_table(settings, environ)
    for provider, facts in PROVIDERS.items():
        if facts.name and facts.key and environ.get(facts.key):
            spec = _spec(settings, environ, provider=provider, name=facts.name)
            return ModelChoice(spec=spec, reason=f"{facts.key} is set")
    found = running_server(servers)
    if found is not None:
        spec = _spec(settings, environ, provider=found.provider, name=found.model, base_url=found.base_url)
        return ModelChoice(spec=spec, reason=f"a server answers at {found.base_url}")
    pulled = _pulled(environ)
    if pulled:
        spec = _spec(settings, environ, provider="local", name=pulled)
        return ModelChoice(spec=spec, reason="it was pulled to this machine")
    raise ModelNotConfigured("no model is configured and none was found", hint=_WAYS)


def _named(settings: Settings, *, flag: str | None, stage: str | None) -> tuple[str, str] | None:
    """The `PROVIDER/NAME` that somebody wrote in one word, and where."""
    if flag:
        return flag, "--model"
    key = f"stages.{stage}.model"
    if stage and settings.get(key):
        return settings.text(key), f"{key} in {settings.origin(key)}"
    return None


def _from_model_table(settings: Settings, environ: Mapping[str, str]) -> ModelChoice:
    provider, name = settings.text("model.provider"), settings.text("model.name")
    place = settings.origin("model.name" if name else "model.provider")
    if not provider:
        provider, name = _split(name) or (_provider_with_key(environ), name)
    if not provider:
        raise ModelNotConfigured(f"{place}: model.name {name!r} has no provider", hint="set model.provider")
    facts = facts_of(provider)
    if facts is None:
        raise _unknown_provider(provider, place)
    name = name or facts.name
    if not name:
        raise ModelNotConfigured(f"{place}: model.provider {provider!r} has no name", hint="set model.name")
    return ModelChoice(spec=_spec(settings, environ, provider=provider, name=name), reason=f"[model] in {place}")


def _provider_with_key(environ: Mapping[str, str]) -> str:
    known = (provider for provider, facts in PROVIDERS.items() if facts.name and environ.get(facts.key))
    return next(known, "custom" if environ.get("BASE_URL") else "")


def _split(model: str) -> tuple[str, str] | None:
    provider, slash, name = model.partition("/")
    if not (slash and name and facts_of(provider)):
        return None
    is_whole = provider == "openrouter" and "/" not in name  # its own models are called openrouter/free and the like
    return provider, model if is_whole else name


def _must_split(model: str, reason: str) -> tuple[str, str]:
    pair = _split(model)
    if pair is None:
        provider, slash, name = model.partition("/")
        if slash and name:
            raise _unknown_provider(provider, reason)
        raise ModelNotConfigured(f"{reason}: {model!r} is not PROVIDER/NAME", hint="for example openai/gpt-5.5")
    return pair


def _unknown_provider(provider: str, place: str) -> ModelNotConfigured:
    return ModelNotConfigured(f"{place}: unknown provider {provider!r}", hint="one of " + ", ".join(PROVIDERS))


def _spec(settings: Settings, environ: Mapping[str, str], *, provider: str, name: str, base_url: str = "") -> ModelSpec:
    """Complete a chosen provider and name with its URL, its key and the settings of the model."""
    facts = facts_of(provider)
    if facts is None:
        raise _unknown_provider(provider, "model")
    url = base_url or _base_url(settings, environ, provider=provider, facts=facts)
    if provider == "custom" and not url:
        raise ModelNotConfigured(f"custom/{name} has no address", hint="set BASE_URL or model.base_url")
    if provider == "local":
        check_there(name, local_dir(environ))
    missing = _missing_key(provider, environ)
    if missing:
        raise ModelNotConfigured(f"{provider}/{name} has no key", hint=f"set {missing}")
    key = "" if provider in _NO_KEY else environ.get(facts.key) or environ.get("API_KEY", "")
    abilities = settings.get("model.abilities")
    return ModelSpec(
        provider=provider,
        name=name,
        base_url=url,
        api_key=key,
        temperature=cast("float | None", settings.get("model.temperature")),
        max_output_tokens=int(settings.number("model.max_output_tokens")),
        read_timeout_s=settings.number("model.read_timeout_s"),
        reply_timeout_s=settings.number("model.reply_timeout_s"),
        profile=settings.text("model.profile") or _profile(provider, name),
        api=settings.text("model.api") or "chat",
        reasoning=settings.text("model.reasoning"),
        abilities=None if abilities is None else frozenset(cast("list[str]", abilities)),
        folder=_folder(environ, provider=provider, name=name),
        serving=_serving(settings) if provider == "local" else {},
    )


def _missing_key(provider: str, environ: Mapping[str, str]) -> str:
    """The variable of the key that a provider needs and that is not set; "" where nothing is missing."""
    facts = facts_of(provider)
    if facts is None or provider in _NO_KEY or not facts.name:
        return ""
    return "" if environ.get(facts.key) or environ.get("API_KEY") else facts.key


def _serving(settings: Settings) -> dict[str, int]:
    """How a model on this machine is to be served; where it is got from is no part of that."""
    return {name: value for name, value in settings.table("local").items() if isinstance(value, int)}


def _folder(environ: Mapping[str, str], *, provider: str, name: str) -> str:
    """Where the files of a model on this machine are, or a person's answers when the model's name is no folder."""
    if provider == "local":
        return str(local_dir(environ))
    if provider != "manual" or name not in ("answers", "terminal"):
        return ""

    return str(data_dir(environ) / "manual")


def _pulled(environ: Mapping[str, str]) -> str:
    """The first model of the catalogue that is on this machine, where it can be served; "" where there is none."""
    if find_spec("xllamacpp") is None:
        return ""
    return next((kept.entry.name for kept in kept_models(local_dir(environ)) if kept.whole), "")


def _profile(provider: str, name: str) -> str:
    """What the catalogue says of a model on this machine; every other model takes the full road."""
    if provider != "local":
        return "full"

    entry = find(name)
    return entry.profile if entry is not None else "small"


def _base_url(settings: Settings, environ: Mapping[str, str], *, provider: str, facts: Provider) -> str:
    """`model.base_url` beats the environment, for the provider of `[model]` only; then the provider's own variable."""
    if provider in {"scripted", "recorded", "local", "manual"}:
        return ""
    configured = settings.text("model.base_url")
    if configured and settings.text("model.provider", provider) == provider:
        return configured
    return environ.get(facts.url, "") or (environ.get("BASE_URL", "") if facts.url else "") or facts.base_url
