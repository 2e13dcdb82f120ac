from shop.basket import Basket
from shop.receipt import receipt


def test_empty_basket_is_false():
    assert not Basket()


def test_total():
    basket = Basket()
    basket.add(2)
    basket.add(3)
    assert basket.total() == 5


def test_the_old_name_is_gone():
    assert not hasattr(Basket(), "sum")


def test_receipt():
    basket = Basket()
    basket.add(250)
    assert receipt(basket) == "to pay: 2.50"
