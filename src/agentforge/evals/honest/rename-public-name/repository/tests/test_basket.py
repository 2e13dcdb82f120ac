from shop.basket import Basket
from shop.receipt import receipt


def test_empty_basket_is_false():
    assert not Basket()


def test_sum():
    basket = Basket()
    basket.add(2)
    basket.add(3)
    assert basket.sum() == 5


def test_receipt():
    basket = Basket()
    basket.add(250)
    assert receipt(basket) == "to pay: 2.50"
