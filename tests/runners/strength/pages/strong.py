import pytest
from product import page


def test_pages():
    assert page([1, 2, 3, 4], 1) == ([1, 2, 3], 2)
    assert page([1, 2, 3, 4], 2) == ([4], None)


def test_a_full_last_page():
    assert page([1, 2, 3], 1) == ([1, 2, 3], None)


def test_size():
    assert page([1, 2, 3, 4, 5], 2, size=2) == ([3, 4], 3)


def test_pages_count_from_one():
    with pytest.raises(ValueError):
        page([1], 0)
    assert page([], 1) == ([], None)
