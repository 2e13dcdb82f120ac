from shop.cart import Cart
from shop.prices import discounted, with_tax


def test_total_has_tax():
    cart = Cart()
    cart.add("pen", 100, 2)
    assert cart.net() == 200
    assert cart.total() == 240


def test_an_article_added_twice_is_one_line():
    cart = Cart()
    cart.add("pen", 100)
    cart.add("pen", 100)
    assert cart.lines == {"pen": (100, 2)}


def test_prices():
    assert with_tax(10) == 12
    assert discounted(200, 10) == 180
