"""Tags."""


def with_tag(tag: str, tags: list[str] = []) -> list[str]:
    """Give the tags with one more."""
    tags.append(tag)
    return tags
