import pytest


def test_mean_of_two():
    from textkit import mean

    assert mean([1, 2]) == pytest.approx(1.5)


def test_mean_of_three():
    from textkit import mean

    assert mean([4, 4, 7]) == pytest.approx(5.0)
