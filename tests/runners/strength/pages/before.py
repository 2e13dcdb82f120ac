"""Before the change."""


def page(items, number):
    return items
