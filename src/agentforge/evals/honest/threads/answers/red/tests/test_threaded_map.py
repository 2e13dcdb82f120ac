import threading

import pytest


def test_the_order_stays():
    from mapping import threaded_map

    assert threaded_map(str, [3, 1, 2]) == ["3", "1", "2"]
    assert threaded_map(str, []) == []


def test_the_items_are_mapped_at_the_same_time():
    from mapping import threaded_map

    meeting = threading.Barrier(2)

    def meet(item):
        meeting.wait(timeout=20)
        return item

    assert threaded_map(meet, ["a", "b"], workers=2) == ["a", "b"]


def test_an_exception_is_raised():
    from mapping import threaded_map

    with pytest.raises(ValueError, match="invalid literal"):
        threaded_map(int, ["1", "x"])
