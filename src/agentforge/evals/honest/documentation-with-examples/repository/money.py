"""Prices and taxes."""


def with_tax(net, percent=19):
    """Add a tax to a price."""
    return round(net * (100 + percent) / 100, 2)


def split(total, people):
    """Divide a bill."""
    share = total // people
    return [share + 1] * (total % people) + [share] * (people - total % people)
