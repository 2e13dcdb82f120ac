import pytest


def test_calls_are_counted():
    from decorators import counted

    @counted
    def add(left, right):
        """Add two numbers."""
        return left + right

    assert add.calls == 0
    assert add(2, right=3) == 5
    assert add(1, 1) == 2
    assert add.calls == 2
    assert (add.__name__, add.__doc__) == ("add", "Add two numbers.")


def test_a_call_that_raises_counts():
    from decorators import counted

    @counted
    def fail():
        raise KeyError("x")

    with pytest.raises(KeyError):
        fail()
    assert fail.calls == 1


def test_every_function_has_its_own_count():
    from decorators import counted

    first, second = counted(lambda: 1), counted(lambda: 2)
    first()
    assert (first.calls, second.calls) == (1, 0)
