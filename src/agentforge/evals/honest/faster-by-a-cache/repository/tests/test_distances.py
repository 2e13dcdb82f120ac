from distances import distance


def test_distance():
    assert distance("abc", "axc") == 1
