"""Settings."""


def read_setting(values: dict[str, str], name: str) -> str:
    """Give a setting; raises KeyError when it is missing."""
    return values[name]
