import pytest
from product import retry


def failing(count, error=OSError):
    left = [count]

    def work():
        if left[0] > 0:
            left[0] -= 1
            raise error("no")
        return "done"

    return work


def test_success_at_once():
    assert retry(failing(0)) == ("done", 1)


def test_success_at_last():
    assert retry(failing(2)) == ("done", 3)


def test_gives_up():
    with pytest.raises(OSError):
        retry(failing(3))
    with pytest.raises(OSError):
        retry(failing(1), times=1)


def test_other_errors_are_raised_at_once():
    work = failing(1, KeyError)
    with pytest.raises(KeyError):
        retry(work)
    assert retry(failing(1, KeyError), on=(KeyError,)) == ("done", 2)
