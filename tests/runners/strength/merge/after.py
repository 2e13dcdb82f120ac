"""After the change."""


def merged(low, high, *, drop_none=True):
    """Lay one table over another, tables within them too; None in the upper one removes a key."""
    out = dict(low)
    for key, value in high.items():
        if value is None and drop_none:
            out.pop(key, None)
        elif isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merged(out[key], value, drop_none=drop_none)
        else:
            out[key] = value
    return out
