"""Tags."""


def with_tag(tag: str, tags: list[str] | None = None) -> list[str]:
    """Give the tags with one more."""
    return [*(tags or ()), tag]
