from client import url


def test_url():
    assert url("wares").endswith("/wares")
