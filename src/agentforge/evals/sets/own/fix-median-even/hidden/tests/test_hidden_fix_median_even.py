from stats import median


def test_median():
    assert median([1, 2, 3, 4]) == 2.5
    assert median([4, 1]) == 2.5
    assert median([3, 1, 2]) == 2
    assert median([7]) == 7
    assert median([10, 0, 0, 10]) == 5
