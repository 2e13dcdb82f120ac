from stock import unique


def test_order():
    assert unique(["nut", "bolt", "nut"]) == ["nut", "bolt"]
    assert unique(["c", "a", "b", "a", "c"]) == ["c", "a", "b"]
    assert unique([]) == []
