"""After the change."""


def smooth(values, width=3):
    """The mean of every window of that width, rounded to two places; fewer values give nothing."""
    if width < 1:
        raise ValueError("a window has at least one value")
    out = []
    for end in range(width, len(values) + 1):
        part = values[end - width : end]
        out.append(round(sum(part) / width, 2))
    return out
