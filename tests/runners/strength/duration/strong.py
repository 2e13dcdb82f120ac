import pytest
from product import seconds


def test_units():
    assert seconds("1h 30m 5s") == 5405
    assert seconds("2m") == 120


def test_bare_number():
    assert seconds("45") == 45


def test_nothing_is_nothing():
    assert seconds("") == 0


@pytest.mark.parametrize("text", ["5x", "xh", "h"])
def test_what_is_no_duration(text):
    with pytest.raises(ValueError):
        seconds(text)
