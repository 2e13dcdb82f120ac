import pytest

from weather import Temperature


def test_it_can_be_read():
    assert Temperature(100).fahrenheit == 212
    assert Temperature(0).fahrenheit == 32


def test_it_can_be_set():
    temperature = Temperature(7)
    temperature.fahrenheit = 32
    assert temperature.celsius == 0
    temperature.fahrenheit = 212
    assert temperature.celsius == 100


def test_there_is_nothing_below_absolute_zero():
    temperature = Temperature(7)
    with pytest.raises(ValueError, match="absolute zero"):
        temperature.fahrenheit = -500
    assert temperature.celsius == 7
