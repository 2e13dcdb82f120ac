from mapping import applied


def test_applied():
    assert applied(lambda value: value * 2, 3, 1) == 8
