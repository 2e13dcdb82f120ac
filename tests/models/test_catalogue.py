"""Proves models/api/catalogue.py and the table of models/providers.py."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge import errors
from agentforge.messages import ModelRequest
from agentforge.models.api.catalogue import ModelSpec, open_model
from agentforge.models.providers import PROVIDERS
from tests.support.loopback.provider import LoopbackProvider, Say

HOSTED = ["anthropic", "custom", "llamacpp", "lmstudio", "ollama", "openai", "openrouter"]


ADAPTED = ["bedrock", "google", "groq", "mistral"]


def test_every_provider_of_the_table_is_tried_here_or_by_its_own_file() -> None:
    assert sorted(PROVIDERS) == sorted([*HOSTED, *ADAPTED, "local", "manual", "recorded", "scripted"])


@pytest.mark.parametrize("provider", HOSTED)
def test_every_hosted_provider_answers_at_the_address_it_is_given(
    provider: str, loopback: LoopbackProvider, request_for: Callable[..., ModelRequest]
) -> None:
    loopback.default = Say(text="hello")
    model = open_model(ModelSpec(provider=provider, name="vendor/m", base_url=f"{loopback.url}/run/NAME/v1"))
    reply = model.complete(request_for())
    model.close()
    assert (reply.text, reply.model) == ("hello", f"{provider}/vendor/m")
    end = "messages" if provider == "anthropic" else "chat/completions"
    assert loopback.asked[0].path == f"/run/NAME/v1/{end}"
    assert loopback.asked[0].body["model"] == "vendor/m"


@pytest.mark.parametrize(
    ("provider", "hint"),
    [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY"), ("openrouter", "OPENROUTER_API_KEY")],
)
def test_a_missing_key_is_told_before_anything_is_sent(provider: str, hint: str) -> None:
    with pytest.raises(errors.ModelNotConfigured, match=hint):
        open_model(ModelSpec(provider=provider, name="m"))


def test_custom_needs_an_address() -> None:
    with pytest.raises(errors.ModelNotConfigured, match="BASE_URL"):
        open_model(ModelSpec(provider="custom", name="m", api_key="k"))


def test_an_unknown_provider_is_answered_with_those_that_exist() -> None:
    with pytest.raises(
        errors.ModelNotConfigured, match="no model provider 'opneai' - providers are anthropic, bedrock"
    ):
        open_model(ModelSpec(provider="opneai", name="m"))
    with pytest.raises(errors.ModelNotConfigured, match="no model of openai was named"):
        open_model(ModelSpec(provider="openai", name=""))


def test_a_scripted_and_a_recorded_model_are_named_by_their_file(
    tmp_path: Path, request_for: Callable[..., ModelRequest]
) -> None:
    (tmp_path / "s.yaml").write_text("- text: hi\n")
    (tmp_path / "r.jsonl").write_text("")
    scripted = open_model(ModelSpec(provider="scripted", name=str(tmp_path / "s.yaml")))
    assert scripted.complete(request_for()).text == "hi"
    assert open_model(ModelSpec(provider="recorded", name=str(tmp_path / "r.jsonl"))).name.endswith("r.jsonl")


def test_the_key_is_not_in_the_repr_of_a_spec() -> None:
    assert "sk-secret" not in repr(ModelSpec(provider="openai", name="m", api_key="sk-secret"))


def test_opening_a_hosted_model_loads_nothing_heavy() -> None:
    code = (
        "import sys; from agentforge.models.api.catalogue import ModelSpec, open_model\n"
        "open_model(ModelSpec(provider='custom', name='m', base_url='http://127.0.0.1:1'))\n"
        "heavy = {'httpx2', 'yaml', 'genai_prices', 'asyncio', 'logging', 'tempfile', 'importlib.metadata', 'urllib.request'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
