import stock


def test_it_is_gone():
    assert not hasattr(stock, "old_report")


def test_the_rest_stays():
    assert stock.report({"nut": 2, "bolt": 9}) == "bolt: 9\nnut: 2"
    assert stock.low_stock({"nut": 2}) == ["nut"]
    assert stock.take({"nut": 2}, "nut", 1) == {"nut": 1}
