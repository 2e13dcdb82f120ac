from product import take


def test_take():
    stock = {"nut": 5, "bolt": 1}
    take(stock, "nut", 2)
    take(stock, "bolt")
    assert stock
