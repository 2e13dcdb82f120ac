from product import smooth


def test_smooth():
    assert smooth([1, 2, 3, 4, 8])
    assert smooth([1]) is not None
