"""How far a job is."""


def percent(done: int, total: int) -> int:
    """Give the share that is done, in whole per cent."""
    return 100 * done // total
