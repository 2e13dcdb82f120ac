"""Before the change."""


def retry(work):
    return work()
