"""Comparing lists of words."""

_KNOWN = {}


def common(left, right):
    """Give the words of left that are in right, in their order."""
    key = id(left), id(right)
    if key not in _KNOWN:
        known = set(right)
        _KNOWN[key] = (left, right, [word for word in left if word in known])
    return _KNOWN[key][2]
