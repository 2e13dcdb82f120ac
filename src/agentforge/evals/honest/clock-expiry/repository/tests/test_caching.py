from caching import Cache


def test_a_value_is_kept():
    cache = Cache()
    cache.set("a", 1)
    assert cache.get("a") == 1
    assert cache.get("b") is None
