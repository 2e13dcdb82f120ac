"""After the change."""


def seconds(text):
    """Read "1h 30m 5s"; a bare number is seconds."""
    units = {"h": 3600, "m": 60, "s": 1}
    if text.isdigit():
        return int(text)
    total = 0
    for part in text.split():
        number, unit = part[:-1], part[-1]
        if unit not in units or not number.isdigit():
            raise ValueError(f"not a duration: {part}")
        total += int(number) * units[unit]
    return total
