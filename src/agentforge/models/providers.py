"""The table of model providers: how a model of each is opened, and which variables of the environment speak of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from agentforge.errors import ModelNotConfigured
from agentforge.frozen import dataclass
from agentforge.local import Wanted, file_of
from agentforge.models.api.adapted import AdaptedModel
from agentforge.models.api.hosted import HostedModel
from agentforge.models.api.model import Model, ModelSpec
from agentforge.models.dialects.anthropic_messages import ANTHROPIC_MESSAGES
from agentforge.models.dialects.constrained import ConstrainedModel
from agentforge.models.dialects.openai_chat import OPENAI_CHAT
from agentforge.models.dialects.openai_responses import dialect_of
from agentforge.models.stand_ins.manual import ManualModel
from agentforge.models.stand_ins.recorded import RecordedModel
from agentforge.models.stand_ins.scripted import ScriptedModel
from agentforge.models.transport.connection import NOWHERE, LocalConnection

_LOCAL_READ_S = 1800.0
"""Silence that is borne from a local model: a busy machine reads a long prompt for many minutes before the first word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """How models of a provider are reached.

    Attributes:
        opener: opens a model from its settings; sends nothing.
        key: variable that holds the key; "" = none is needed.
        url: variable that holds another base URL; "" = none is read.
        base_url: where it is when no variable says so; "" = the provider's own address, or none needed.
        name: the model that is asked when only a key is set.
    """

    opener: Callable[[ModelSpec], Model]
    key: str = ""
    url: str = ""
    base_url: str = ""
    name: str = ""


def _hosted(spec: ModelSpec, *, key: str, address: str) -> Model:
    _check_key(spec, key, there=spec.api_key or spec.base_url)
    return HostedModel(spec, dialect_of(spec), base_url=address)


def _anthropic(spec: ModelSpec) -> Model:
    _check_key(spec, "ANTHROPIC_API_KEY", there=spec.api_key or spec.base_url)
    return HostedModel(spec, ANTHROPIC_MESSAGES, base_url="https://api.anthropic.com")


def _custom(spec: ModelSpec) -> Model:
    if not spec.base_url:
        raise ModelNotConfigured(f"{spec.full_name} needs an address", hint="set BASE_URL or model.base_url")
    return HostedModel(spec, dialect_of(spec))


def _server(spec: ModelSpec, *, address: str) -> Model:
    """A model of a server on this machine."""
    model = HostedModel(spec, OPENAI_CHAT, base_url=address)
    return ConstrainedModel(model) if spec.profile == "small" else model


def _local(spec: ModelSpec) -> Model:
    """A model of the catalogue, or in a GGUF file; its server, which all projects share, starts when it is first asked."""
    folder = Path(spec.folder)
    wanted = Wanted(folder=folder / "serving", file=file_of(spec.name, folder), wishes=spec.serving)
    connection = LocalConnection(
        wanted, read_timeout_s=max(spec.read_timeout_s, _LOCAL_READ_S), reply_timeout_s=spec.reply_timeout_s
    )
    return ConstrainedModel(HostedModel(spec, OPENAI_CHAT, base_url=NOWHERE, connection=connection))


def _adapted(spec: ModelSpec, *, build: Callable[[ModelSpec], Any], key: str = "") -> Model:
    """A model with a wire format of its own, through pydantic-ai (extra `providers`)."""
    if key:
        _check_key(spec, key, there=spec.api_key)
    return AdaptedModel(spec, build)


def _check_key(spec: ModelSpec, key: str, *, there: str) -> None:
    if not there:
        raise ModelNotConfigured(f"{spec.full_name} needs an API key", hint=f"set {key}")


def _bedrock(spec: ModelSpec) -> Any:
    """Amazon Bedrock, with AWS's own ways to find credentials and region."""
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    url, wait = spec.base_url or None, spec.read_timeout_s
    if spec.api_key:
        provider = BedrockProvider(base_url=url, aws_read_timeout=wait, api_key=spec.api_key)
    else:
        provider = BedrockProvider(base_url=url, aws_read_timeout=wait)
    return BedrockConverseModel(spec.name, provider=provider)


def _google(spec: ModelSpec) -> Any:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel(spec.name, provider=GoogleProvider(api_key=spec.api_key, base_url=spec.base_url or None))


def _groq(spec: ModelSpec) -> Any:
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    provider = GroqProvider(api_key=spec.api_key, base_url=spec.base_url or None)
    provider.client.max_retries = 0  # the tries are ours
    return GroqModel(spec.name, provider=provider)


def _mistral(spec: ModelSpec) -> Any:
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.mistral import MistralProvider

    return MistralModel(spec.name, provider=MistralProvider(api_key=spec.api_key, base_url=spec.base_url or None))


def _scripted(spec: ModelSpec) -> Model:
    """Replies from a YAML file, which the model's name is the path of."""
    return ScriptedModel(spec.name)


def _recorded(spec: ModelSpec) -> Model:
    """Replies of an earlier run; the model's name is the recording's path."""
    return RecordedModel(spec.name)


def _manual(spec: ModelSpec) -> Model:
    """A person answers, by files of the folder that the model's name is, or in the terminal (`manual/terminal`)."""
    folder = Path(spec.folder or spec.name).expanduser().absolute()
    return ManualModel(spec.name, folder, wait_s=spec.read_timeout_s)


def _on_this_machine(port: int) -> Provider:
    address = f"http://127.0.0.1:{port}/v1"
    return Provider(opener=partial(_server, address=address), base_url=address)


LOCAL_PORTS: Mapping[str, int] = {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080}
"""Where the servers on this machine listen, by provider."""

PROVIDERS: Mapping[str, Provider] = {
    "openrouter": Provider(
        opener=partial(_hosted, key="OPENROUTER_API_KEY", address="https://openrouter.ai/api/v1"),
        key="OPENROUTER_API_KEY",
        url="OPENROUTER_BASE_URL",
        name="openrouter/free",
    ),
    "openai": Provider(
        opener=partial(_hosted, key="OPENAI_API_KEY", address="https://api.openai.com/v1"),
        key="OPENAI_API_KEY",
        url="OPENAI_BASE_URL",
        name="gpt-5.5",
    ),
    "anthropic": Provider(
        opener=_anthropic, key="ANTHROPIC_API_KEY", url="ANTHROPIC_BASE_URL", name="claude-sonnet-5-5"
    ),
    "google": Provider(opener=partial(_adapted, build=_google, key="GOOGLE_API_KEY"), key="GOOGLE_API_KEY"),
    "mistral": Provider(opener=partial(_adapted, build=_mistral, key="MISTRAL_API_KEY"), key="MISTRAL_API_KEY"),
    "groq": Provider(opener=partial(_adapted, build=_groq, key="GROQ_API_KEY"), key="GROQ_API_KEY"),
    "bedrock": Provider(opener=partial(_adapted, build=_bedrock), key="AWS_BEARER_TOKEN_BEDROCK"),
    "custom": Provider(opener=_custom, key="API_KEY", url="BASE_URL"),
    "scripted": Provider(opener=_scripted),
    "recorded": Provider(opener=_recorded),
    "local": Provider(opener=_local),
    "manual": Provider(opener=_manual, name="answers"),
    **{provider: _on_this_machine(port) for provider, port in LOCAL_PORTS.items()},
}
"""All providers, in the order in which keys of the environment are looked for."""
