from product import price


def test_plain():
    assert price(7, 9) == 63


def test_many():
    assert price(10, 10) == 90
    assert price(10, 20) == 180


def test_member():
    assert price(100, 1, member=True) == 95
    assert price(10, 10, member=True) == 85


def test_rounds_in_favour_of_the_shop():
    assert price(3, 11) == 30
