from guards import is_number


def test_is_number():
    assert is_number(1.5) and not is_number(True) and not is_number("1")
