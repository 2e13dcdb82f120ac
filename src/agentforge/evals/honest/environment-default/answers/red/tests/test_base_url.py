import pytest

from client import base_url


@pytest.mark.parametrize("value", ["https://wares.example", "https://wares.example/"])
def test_the_environment_names_the_server(monkeypatch, value):
    monkeypatch.setenv("WARES_URL", value)
    assert base_url() == "https://wares.example"


def test_without_it_the_default_is_given(monkeypatch):
    monkeypatch.delenv("WARES_URL", raising=False)
    assert base_url() == "http://localhost:8000"
    monkeypatch.setenv("WARES_URL", "")
    assert base_url() == "http://localhost:8000"
