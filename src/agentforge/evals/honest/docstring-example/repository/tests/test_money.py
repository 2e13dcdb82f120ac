from money import split, with_tax


def test_with_tax():
    assert with_tax(100) == 119.0
    assert with_tax(10, 7) == 10.7


def test_split():
    assert split(10, 3) == [4, 3, 3]
