"""Proves models/prices.py."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentforge.messages import Usage
from agentforge.models.api.prices import cost_usd

USAGE = Usage(prompt_tokens=1000, completion_tokens=10, cached_tokens=500, cache_write_tokens=100)


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        ("anthropic/claude-haiku-4-5", (400 * 1.00 + 500 * 0.10 + 100 * 1.25 + 10 * 5.00) / 1e6),
        ("openai/gpt-4o", (500 * 2.50 + 500 * 1.25 + 10 * 10.00) / 1e6),
        ("custom/gpt-4o", (500 * 2.50 + 500 * 1.25 + 10 * 10.00) / 1e6),
    ],
)
def test_a_known_model_costs_by_inclusive_tokens(model: str, usd: float) -> None:
    assert cost_usd(model, USAGE) == pytest.approx(usd)


def test_a_model_behind_openrouter_is_known() -> None:
    cost = cost_usd("openrouter/anthropic/claude-haiku-4.5", USAGE)
    assert cost is not None and cost > 0


@pytest.mark.parametrize("model", ["openai/nothing-like-it", "custom/qwen-of-my-own-make", "custom/mine"])
def test_an_unknown_model_has_no_price_also_the_second_time(model: str) -> None:
    assert cost_usd(model, USAGE) is None
    assert cost_usd(model, USAGE) is None


@pytest.mark.parametrize("model", ["local/anything", "ollama/llama3", "lmstudio/qwen", "llamacpp/gpt-4o"])
def test_a_model_on_a_server_of_ones_own_costs_nothing(model: str) -> None:
    assert cost_usd(model, USAGE) == 0.0


def test_what_a_server_passes_on_to_its_makers_service_has_no_known_price() -> None:
    assert cost_usd("ollama/gpt-oss:120b-cloud", USAGE) is None


def test_the_price_list_is_not_loaded_for_models_that_cannot_be_on_it() -> None:
    code = (
        "import sys; from agentforge.messages import Usage; from agentforge.models.api.prices import cost_usd\n"
        "models = ('scripted/gpt-4o.yaml', 'recorded/claude', 'ollama/a:cloud', 'manual/x', 'custom/mine', 'nothing')\n"
        "print([cost_usd(model, Usage()) for model in models], 'genai_prices' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == f"{[None] * 6} False\n"
