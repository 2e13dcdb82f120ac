from basket import MAX_ITEMS, may_add


def test_the_limit():
    assert MAX_ITEMS == 10
    assert may_add(MAX_ITEMS - 1)
    assert not may_add(MAX_ITEMS)
