import store
import store.reading
from store import read_all


def test_read_all():
    assert read_all(["a\n", "\n", "b\n"]) == ["a", "b"]


def test_fetch_all_is_gone():
    assert not hasattr(store, "fetch_all")
    assert not hasattr(store.reading, "fetch_all")
