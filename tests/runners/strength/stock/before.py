"""Before the change."""


def take(stock, name):
    stock[name] -= 1
