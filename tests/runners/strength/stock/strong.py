import pytest
from product import take


def test_some_are_left():
    stock = {"nut": 5}
    assert take(stock, "nut", 2) == 3
    assert stock == {"nut": 3}


def test_one_by_default():
    stock = {"nut": 5}
    assert take(stock, "nut") == 4


def test_used_up():
    stock = {"nut": 2, "bolt": 1}
    assert take(stock, "nut", 2) == 0
    assert stock == {"bolt": 1}


def test_too_many():
    with pytest.raises(LookupError):
        take({"nut": 2}, "nut", 3)
    with pytest.raises(LookupError):
        take({}, "nut")


def test_too_few():
    with pytest.raises(ValueError):
        take({"nut": 2}, "nut", 0)
