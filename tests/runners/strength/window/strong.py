import pytest
from product import smooth


def test_windows():
    assert smooth([1, 2, 3, 4, 8]) == [2.0, 3.0, 5.0]


def test_width():
    assert smooth([1, 2, 4], width=1) == [1.0, 2.0, 4.0]
    assert smooth([1, 2, 4], width=2) == [1.5, 3.0]


def test_too_few_values():
    assert smooth([1, 2]) == []
    assert smooth([1, 2, 4]) == [2.33]


def test_no_window():
    with pytest.raises(ValueError):
        smooth([1], width=0)
