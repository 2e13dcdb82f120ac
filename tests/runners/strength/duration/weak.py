from product import seconds


def test_seconds():
    assert seconds("1h 30m 5s")
    assert seconds("45")
    try:
        seconds("5x")
    except Exception:
        pass
