"""Comparing lists of words."""


def common(left, right):
    """Give the words of left that are in right, in their order."""
    found = []
    for word in left:
        if word in right:
            found.append(word)
    return found
