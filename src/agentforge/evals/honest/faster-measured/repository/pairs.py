"""Comparing lists of words."""


def common(left, right):
    """Give the words of left that are in right, in their order."""
    return [word for word in left if word in right]
