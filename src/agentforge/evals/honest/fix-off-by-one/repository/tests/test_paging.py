from paging import offset, pages


def test_pages():
    assert pages(4, 2) == 2


def test_offset():
    assert offset(3, 10) == 20
