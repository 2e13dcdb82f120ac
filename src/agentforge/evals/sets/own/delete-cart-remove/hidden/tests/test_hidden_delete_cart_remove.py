from shop.cart import Cart


def test_it_is_gone():
    assert not hasattr(Cart, "remove")


def test_the_rest_stays():
    cart = Cart()
    cart.add("pen", 100, 2)
    assert (cart.net(), cart.total()) == (200, 240)
