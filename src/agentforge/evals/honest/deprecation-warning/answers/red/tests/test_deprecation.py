import pytest

from reading import load_all


def test_load_all_warns():
    with pytest.warns(DeprecationWarning, match="^load_all is deprecated, use read_all$") as caught:
        assert load_all(["a"]) == ["a"]
    assert caught[0].filename == __file__
