from product import price


def test_price():
    assert price(10, 20, member=True) > 0
    assert price(10, 1) is not None
