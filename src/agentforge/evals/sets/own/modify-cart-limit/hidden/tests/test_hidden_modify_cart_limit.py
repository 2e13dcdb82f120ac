import pytest

from shop.cart import Cart


def test_counts_below_one_are_refused():
    cart = Cart()
    for count in (0, -3):
        with pytest.raises(ValueError):
            cart.add("pen", 100, count)
    assert cart.lines == {}


def test_others_are_added():
    cart = Cart()
    cart.add("pen", 100)
    cart.add("pen", 100, 2)
    assert cart.lines == {"pen": (100, 3)}
