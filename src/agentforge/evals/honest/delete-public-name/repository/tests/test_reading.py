import pytest

from store import fetch_all, read_all


def test_read_all():
    assert read_all(["a\n", "\n", "b\n"]) == ["a", "b"]


def test_fetch_all():
    with pytest.warns(DeprecationWarning):
        assert fetch_all(["a\n"]) == ["a"]
