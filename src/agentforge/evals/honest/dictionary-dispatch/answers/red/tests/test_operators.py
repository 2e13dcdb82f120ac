import pytest

from calculator import calculate


@pytest.mark.parametrize(("sign", "result"), [("+", 9), ("-", 3), ("*", 18), ("/", 2)])
def test_every_operator(sign, result):
    assert calculate(6, sign, 3) == result


def test_an_unknown_operator():
    with pytest.raises(ValueError, match="unknown operator '%'"):
        calculate(1, "%", 1)
