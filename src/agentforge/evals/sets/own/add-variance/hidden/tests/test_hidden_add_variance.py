import pytest

from stats import variance


def test_values():
    assert variance([1, 3]) == 1
    assert variance([2, 2, 2]) == 0
    assert variance([1, 2, 3, 4]) == pytest.approx(1.25)
    assert variance([5]) == 0
    assert variance([-1, 1, -1, 1]) == pytest.approx(1)
