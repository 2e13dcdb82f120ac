from calculator import calculate


def test_addition():
    assert calculate(2, "+", 3) == 5
