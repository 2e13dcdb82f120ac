from stats import mean, median, pages, spread


def test_mean():
    assert mean([1, 2, 6]) == 3


def test_median_of_three():
    assert median([3, 1, 2]) == 2


def test_pages_that_are_not_full():
    assert pages(11, 5) == 3


def test_spread():
    assert spread([3, 9, 4]) == 6
