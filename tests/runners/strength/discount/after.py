"""After the change."""


def price(amount, quantity, *, member=False):
    """Ten pieces or more are ten per cent off, members get five more."""
    total = amount * quantity
    rate = 0
    if quantity >= 10:
        rate += 10
    if member:
        rate += 5
    return total - total * rate // 100
