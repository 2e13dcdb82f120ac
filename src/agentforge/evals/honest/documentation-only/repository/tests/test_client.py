from client import settings


def test_settings():
    assert settings() == {"timeout": 30, "retries": 3}
