import pytest

from stock import take


def test_too_many():
    with pytest.raises(ValueError):
        take({"nut": 2}, "nut", 3)
    with pytest.raises(ValueError):
        take({"nut": 0}, "nut", 1)


def test_enough():
    assert take({"nut": 2}, "nut", 2) == {"nut": 0}
    assert take({"nut": 2, "b": 1}, "nut", 1) == {"nut": 1, "b": 1}


def test_an_unknown_article_is_a_key_error():
    with pytest.raises(KeyError):
        take({}, "nut", 1)
