import pytest

from roman import to_roman


@pytest.mark.parametrize(
    ("number", "numeral"),
    [(1, "I"), (3, "III"), (4, "IV"), (9, "IX"), (14, "XIV"), (40, "XL"), (90, "XC"), (400, "CD"), (1994, "MCMXCIV"), (3999, "MMMCMXCIX")],
)
def test_numerals(number, numeral):
    assert to_roman(number) == numeral


def test_others_are_refused():
    for number in (0, -1, 4000):
        with pytest.raises(ValueError):
            to_roman(number)
