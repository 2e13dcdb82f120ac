"""Before the change."""


def merged(low, high):
    return {**low, **high}
