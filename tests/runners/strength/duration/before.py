"""Before the change."""


def seconds(text):
    return int(text)
