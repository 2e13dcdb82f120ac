from shop.cart import Cart


def test_count():
    cart = Cart()
    assert cart.count() == 0
    cart.add("pen", 100, 2)
    cart.add("ink", 300)
    assert cart.count() == 3
    cart.add("pen", 100, 5)
    assert cart.count() == 8
    cart.remove("pen")
    assert cart.count() == 1
