"""Before the change."""


def slug(text):
    return text
