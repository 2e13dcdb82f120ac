from stock import low_stock, report, take


def test_low_stock():
    assert low_stock({"nut": 2, "bolt": 9}) == ["nut"]


def test_take():
    assert take({"nut": 2}, "nut", 1) == {"nut": 1}


def test_report():
    assert report({"nut": 2, "bolt": 9}) == "bolt: 9\nnut: 2"
