from paging import pages


def test_a_last_page_that_is_not_full_counts():
    assert pages(5, 2) == 3
    assert pages(1, 2) == 1
    assert pages(4, 2) == 2
    assert pages(0, 2) == 0
