import pytest


@pytest.fixture
def phrase():
    return "Hello World"
