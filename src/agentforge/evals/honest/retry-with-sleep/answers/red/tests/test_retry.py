import pytest


class Flaky:
    def __init__(self, failures, error=ConnectionError):
        self.failures = failures
        self.error = error
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error(f"call {self.calls}")
        return 5


@pytest.fixture
def slept(monkeypatch):
    found = []
    monkeypatch.setattr("time.sleep", found.append)
    return found


def test_it_asks_again(slept):
    from retrying import retry

    assert retry(Flaky(2)) == 5
    assert slept == [0.1, 0.1]


def test_the_last_failure_is_raised(slept):
    from retrying import retry

    function = Flaky(9)
    with pytest.raises(ConnectionError, match="call 3"):
        retry(function)
    assert function.calls == 3
    assert slept == [0.1, 0.1]


def test_attempts_and_delay_can_be_given(slept):
    from retrying import retry

    assert retry(Flaky(1), attempts=2, delay=7) == 5
    assert slept == [7]


def test_other_exceptions_are_not_caught(slept):
    from retrying import retry

    function = Flaky(1, ValueError)
    with pytest.raises(ValueError, match="call 1"):
        retry(function)
    assert function.calls == 1
