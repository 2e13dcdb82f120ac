import pytest
from starlette.testclient import TestClient

from bookings.api import create_app
from bookings.settings import Settings


@pytest.fixture
def client():
    return TestClient(create_app(Settings()))


@pytest.fixture
def elm(client):
    """The API with one room, Elm."""
    assert client.post("/rooms", json={"name": "Elm", "seats": 6}).status_code == 201
    return client
