"""Before the change."""


def average(values):
    return sum(values) / len(values)
