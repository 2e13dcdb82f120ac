"""Which model is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agentforge.config.model_choice import LocalServer, choose, choose_fallbacks, explain, keyless_fallbacks
from agentforge.config.settings import Settings, load
from agentforge.errors import ModelNotConfigured
from agentforge.models.providers import PROVIDERS

Write = Callable[[Path, str], Path]
KEYS = {"OPENROUTER_API_KEY": "r", "OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}


@pytest.fixture
def configured(project: Path, environ: dict[str, str], write: Write) -> Callable[[str], Settings]:
    def _configured(text: str) -> Settings:
        write(Path(environ["HOME"]) / ".config/agentforge/config.toml", text)
        return load(project, environ)

    return _configured


def test_the_flag_beats_the_stage_beats_the_setting_beats_the_environment(
    configured: Callable[[str], Settings],
) -> None:
    settings = configured("[model]\nprovider='openai'\nname='m'\n[stages.red]\nmodel='anthropic/s'\n")
    assert choose(settings, KEYS, flag="openrouter/a/b", stage="red").full_name == "openrouter/a/b"
    assert choose(settings, KEYS, stage="red").full_name == "anthropic/s"
    assert choose(settings, KEYS, stage="green").full_name == "openai/m"
    assert choose(configured(""), KEYS).provider == "openrouter"


@pytest.mark.parametrize(
    ("present", "provider"),
    [
        (("OPENROUTER_API_KEY", "OPENAI_API_KEY"), "openrouter"),
        (("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "openai"),
        (("ANTHROPIC_API_KEY",), "anthropic"),
    ],
)
def test_keys_are_taken_in_their_order(
    configured: Callable[[str], Settings], present: tuple[str, ...], provider: str
) -> None:
    spec = choose(configured(""), {name: KEYS[name] for name in present})
    assert spec.provider == provider
    assert spec.api_key == KEYS[PROVIDERS[provider].key]
    assert spec.name == PROVIDERS[provider].name


def test_a_custom_model_needs_an_address_and_no_key(configured: Callable[[str], Settings]) -> None:
    settings = configured("")
    with pytest.raises(ModelNotConfigured, match="custom/x has no address - set BASE_URL"):
        choose(settings, {}, flag="custom/x")
    spec = choose(settings, {"BASE_URL": "http://h/v1"}, flag="custom/x/y")
    assert (spec.name, spec.base_url, spec.api_key) == ("x/y", "http://h/v1", "")
    assert choose(settings, {"BASE_URL": "http://h", "API_KEY": "k"}, flag="custom/x").api_key == "k"


def test_urls_come_from_the_setting_then_the_own_variable_then_base_url(configured: Callable[[str], Settings]) -> None:
    variables = {**KEYS, "ANTHROPIC_BASE_URL": "http://a", "BASE_URL": "http://b"}
    plain = configured("")
    assert choose(plain, variables, flag="anthropic/m").base_url == "http://a"
    assert choose(plain, variables, flag="openai/m").base_url == "http://b"
    assert choose(plain, KEYS, flag="openai/m").base_url == ""
    own = configured("[model]\nprovider='anthropic'\nname='m'\nbase_url='http://s'\n")
    assert choose(own, variables).base_url == "http://s"
    assert choose(own, variables, flag="openai/m").base_url == "http://b", "the URL of another provider is not used"


def test_scripts_and_recordings_need_nothing_and_see_no_key(configured: Callable[[str], Settings]) -> None:
    spec = choose(configured(""), {**KEYS, "API_KEY": "k", "BASE_URL": "http://b"}, flag="scripted/a/b c.yaml")
    assert (spec.provider, spec.name, spec.api_key, spec.base_url) == ("scripted", "a/b c.yaml", "", "")


def test_the_settings_of_the_model_are_handed_on(configured: Callable[[str], Settings]) -> None:
    settings = configured("[model]\nname='openai/m'\ntemperature=0.5\nmax_output_tokens=9\nread_timeout_s=3\n")
    spec = choose(settings, KEYS)
    assert (spec.full_name, spec.temperature, spec.max_output_tokens, spec.read_timeout_s) == ("openai/m", 0.5, 9, 3)


def test_a_name_alone_belongs_to_the_provider_with_a_key(configured: Callable[[str], Settings]) -> None:
    settings = configured("[model]\nname='m'\n")
    assert choose(settings, {"ANTHROPIC_API_KEY": "a"}).full_name == "anthropic/m"
    assert choose(settings, {"BASE_URL": "http://h"}).full_name == "custom/m"
    with pytest.raises(ModelNotConfigured, match=r"config.toml:2: model.name 'm' has no provider"):
        choose(settings, {})


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("nobody/x", r"--model: unknown provider 'nobody' - one of openrouter, openai"),
        ("gpt", "is not PROVIDER/NAME"),
        ("openai/", "is not PROVIDER/NAME"),
        ("openai/x", "openai/x has no key - set OPENAI_API_KEY"),
    ],
)
def test_a_wrong_choice_says_what_is_missing(configured: Callable[[str], Settings], flag: str, message: str) -> None:
    with pytest.raises(ModelNotConfigured, match=message):
        choose(configured(""), {}, flag=flag)


def test_a_fallback_without_a_key_is_left_out_and_named(configured: Callable[[str], Settings]) -> None:
    settings = configured("[model]\nname='openai/m'\nfallbacks=['n', 'anthropic/s', 'ollama/q']\n")
    keys = {"OPENAI_API_KEY": "sk-o"}
    found = choose_fallbacks(settings, keys, first=choose(settings, keys))
    assert [spec.full_name for spec in found] == ["openai/n", "ollama/q"]
    assert keyless_fallbacks(settings, keys, now="openai") == (("anthropic/s", "ANTHROPIC_API_KEY"),)


def test_fallbacks_may_name_another_provider(configured: Callable[[str], Settings]) -> None:
    settings = configured("[model]\nname='openai/m'\nfallbacks=['n', 'anthropic/s']\n")
    first = choose(settings, KEYS)
    assert [spec.full_name for spec in choose_fallbacks(settings, KEYS, first=first)] == ["openai/n", "anthropic/s"]


def test_names_of_openrouter_stay_with_it_where_the_named_provider_has_no_key(
    configured: Callable[[str], Settings],
) -> None:
    settings = configured(
        "[model]\nprovider='openrouter'\nname='deepseek/d:free'\nfallbacks=['openai/m', 'openrouter/free']\n"
    )
    for keys, expected in (({"OPENROUTER_API_KEY": "r"}, "openrouter/openai/m"), (KEYS, "openai/m")):
        found = choose_fallbacks(settings, keys, first=choose(settings, keys))
        assert [spec.full_name for spec in found] == [expected, "openrouter/openrouter/free"]


def test_nothing_configured_lists_the_ways(configured: Callable[[str], Settings]) -> None:
    with pytest.raises(ModelNotConfigured, match="none was found - choose one: agentforge init") as raised:
        explain(configured(""), {}, servers=())
    assert all(word in raised.value.hint for word in ("OPENAI_API_KEY", "--model", "model pull", "demo"))
    assert raised.value.exit_code == 2


class _Models(BaseHTTPRequestHandler):
    body = json.dumps({"data": [{"id": "llama-x"}]}).encode()

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_details: object) -> None:
        """Stay quiet."""


class _Website(_Models):
    body = b"<html>"


@pytest.fixture
def ports() -> Iterator[dict[str, int]]:
    servers = {kind.__name__: ThreadingHTTPServer(("127.0.0.1", 0), kind) for kind in (_Models, _Website)}
    threads = [threading.Thread(target=server.serve_forever, args=(0.01,)) for server in servers.values()]
    for thread in threads:
        thread.start()
    yield {name: server.server_address[1] for name, server in servers.items()}
    for server in servers.values():
        server.shutdown()
        server.server_close()
    for thread in threads:
        thread.join()


def test_a_model_server_on_loopback_is_found_and_a_web_site_is_not(
    configured: Callable[[str], Settings], ports: dict[str, int]
) -> None:
    servers = (
        LocalServer(provider="ollama", port=1),
        LocalServer(provider="lmstudio", port=ports["_Website"]),
        LocalServer(provider="llamacpp", port=ports["_Models"]),
    )
    choice = explain(configured(""), {}, servers=servers)
    assert choice.spec.full_name == "llamacpp/llama-x"
    assert choice.spec.base_url == f"http://127.0.0.1:{ports['_Models']}/v1"
    assert "a server answers at" in choice.reason
