import itertools

import pytest


def test_items_come_in_lists():
    from grouping import batches

    assert list(batches([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]
    assert list(batches([1, 2], 2)) == [[1, 2]]
    assert list(batches([], 3)) == []


def test_no_more_is_taken_than_needed():
    from grouping import batches

    source = itertools.count()
    assert next(batches(source, 2)) == [0, 1]
    assert next(source) == 2


def test_a_size_below_one_is_refused():
    from grouping import batches

    with pytest.raises(ValueError, match="size must be at least 1"):
        next(batches([1], 0))
