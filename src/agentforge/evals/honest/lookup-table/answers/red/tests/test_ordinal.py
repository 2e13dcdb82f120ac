import pytest


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (12, "12th"), (11, "11th"), (13, "13th"), (22, "22nd"), (111, "111th")],
)
def test_ordinal(number, expected):
    from numbers_text import ordinal

    assert ordinal(number) == expected
