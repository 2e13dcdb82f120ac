class FakeClock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_value_expires():
    from caching import ExpiringCache

    clock = FakeClock()
    cache = ExpiringCache(10, clock=clock)
    cache.set("a", 1)
    clock.now = 9.9
    assert cache.get("a") == 1
    clock.now = 10.0
    assert cache.get("a") is None


def test_setting_again_starts_anew():
    from caching import ExpiringCache

    clock = FakeClock()
    cache = ExpiringCache(10, clock=clock)
    cache.set("a", 1)
    clock.now = 8.0
    cache.set("a", 2)
    clock.now = 15.0
    assert cache.get("a") == 2


def test_an_unknown_key_gives_none():
    from caching import ExpiringCache

    assert ExpiringCache(10).get("unknown") is None


def test_the_ordinary_clock_is_used_by_default():
    from caching import ExpiringCache

    cache = ExpiringCache(3600)
    cache.set("a", 1)
    assert cache.get("a") == 1
