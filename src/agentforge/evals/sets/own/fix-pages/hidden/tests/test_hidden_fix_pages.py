from stats import pages


def test_pages():
    assert pages(10, 5) == 2
    assert pages(0, 5) == 0
    assert pages(11, 5) == 3
    assert pages(1, 5) == 1
    assert pages(5, 5) == 1
    assert pages(7, 1) == 7
