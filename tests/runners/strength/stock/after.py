"""After the change."""


def take(stock, name, count=1):
    """Take pieces out of the stock; what is used up is removed. Returns what is left."""
    have = stock.get(name, 0)
    if count < 1:
        raise ValueError("take at least one")
    if have < count:
        raise LookupError(f"only {have} {name}")
    left = have - count
    if left:
        stock[name] = left
    else:
        del stock[name]
    return left
