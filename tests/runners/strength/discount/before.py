"""Before the change."""


def price(amount, quantity):
    return amount * quantity
