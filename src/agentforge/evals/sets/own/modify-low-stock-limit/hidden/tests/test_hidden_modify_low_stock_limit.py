from stock import low_stock


def test_limit():
    assert low_stock({"nut": 2, "bolt": 9}, 10) == ["bolt", "nut"]
    assert low_stock({"nut": 2, "bolt": 9}, 2) == []
    assert low_stock({"nut": 2, "bolt": 9}) == ["nut"]
    assert low_stock({"nut": 0}, 0) == []
    assert low_stock({"nut": 5, "bolt": 4}) == ["bolt"]
