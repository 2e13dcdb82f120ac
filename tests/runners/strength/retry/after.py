"""After the change."""


def retry(work, times=3, *, on=(OSError,)):
    """Call until it succeeds; the last failure is raised. Returns the result and the number of calls."""
    calls = 0
    while True:
        calls += 1
        try:
            return work(), calls
        except on:
            if calls >= times:
                raise
